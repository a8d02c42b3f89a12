#!/usr/bin/env bash
# Run the tests. Arguments are passed on to pytest.
#
# With ROOM=catalog, only the tests in tests/catalog run, without coverage and types. ROOM can also be a file below
# tests: ROOM=cli/commands/test_audit.py. With --check-room, only the value of ROOM is checked.
# Otherwise every test runs, and mypy runs beside them at a low priority. Coverage and the findings of mypy are printed
# last. The exit status is that of pytest, or else that of coverage, or else that of mypy.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -n "${ROOM:-}" ]; then
    if ! [ -e "tests/$ROOM" ]; then
        printf 'there are no tests in tests/%s; rooms: %s\n' "$ROOM" "$(cd tests && printf '%s ' */ | tr -d / | sed 's/__pycache__ //')" >&2
        exit 2
    fi
    [ "${1:-}" != --check-room ] || exit 0
    exec .venv/bin/python -m pytest -q -n 2 "tests/$ROOM" "$@"
fi

found=$(mktemp) covered=$(mktemp) proofs=$(mktemp)
# On CI the cache of mypy is lost, and writing it takes a fifth of its time.
nice -n 10 .venv/bin/mypy ${CI:+--cache-dir=/dev/null} >"$found" 2>&1 &
checker=$!
trap 'kill "$checker" "${reporter:-}" 2>/dev/null; rm -f "$found" "$covered" "$proofs"' EXIT

# Coverage makes tests slower, so two runs: first the tests with the mark `unmeasured`, then the others with coverage.
# The first run records which requirements its tests prove; the second judges both.
.venv/bin/python -m pytest -q -n 2 -p tests.spec.passed_proofs "--record-proofs=$proofs" -m unmeasured "$@"
unmeasured=$?
if [ $# -gt 0 ] && [ "$unmeasured" = 5 ]; then unmeasured=0; fi # the arguments may select no such test
.venv/bin/python -m pytest -q -n 2 -p tests.spec.passed_proofs "--recorded-proofs=$proofs" -m "not unmeasured" \
    --cov --cov-report= --cov-fail-under=0 "$@"
tested=$?
tested=$((tested ? tested : unmeasured))
.venv/bin/coverage report >"$covered" 2>&1 & # on one core for a quarter of a minute
reporter=$!
if [ $# = 0 ]; then
    # The catalog's tests once more, with an index that an earlier catalog has built.
    PROWESS_WARM_INDEX=1 .venv/bin/python -m pytest -q -n 2 tests/catalog/test_*.py tests/catalog/sources
    warm=$?
    tested=$((tested ? tested : warm))
fi
wait "$reporter"
reported=$?
cat "$covered"
wait "$checker"
checked=$?
printf 'mypy: '
cat "$found"
exit "$((tested ? tested : reported ? reported : checked))"
