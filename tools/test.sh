#!/usr/bin/env bash
# Every test, and beside them the type checker: it takes most of a minute of one core and nothing of what the tests do,
# so it runs at a low priority on what they leave free while they wait. What it found is shown at the end. Fails where
# either fails; the arguments go to pytest.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

found=$(mktemp)
# A machine of continuous integration forgets the cache, and writing it takes a fifth of the checker's time.
nice -n 10 .venv/bin/mypy ${CI:+--cache-dir=/dev/null} >"$found" 2>&1 &
checker=$!
trap 'kill "$checker" 2>/dev/null; rm -f "$found"' EXIT

.venv/bin/python -m pytest -q -n 2 -p tests.spec.passed_proofs --cov --cov-report=term:skip-covered "$@"
tested=$?
wait "$checker"
checked=$?
printf 'mypy: '
cat "$found"
exit "$((tested ? tested : checked))"
