#!/usr/bin/env bash
# The command lines of four agents, in the versions of package-lock.json, against a scripted provider. They run in a
# network namespace with loopback alone, so none of them can reach a real provider.
#
#   tools/hosts/run.sh            every case of every host
#   tools/hosts/run.sh ID ...     these cases or hosts
set -euo pipefail
cd "$(dirname "$0")/../.."
PLACE=.cache/hosts

skip() { echo "hosts: skipped, $1"; exit 0; }

install_hosts() {
    cmp -s tools/hosts/package-lock.json "$PLACE/installed.json" && return
    command -v npm >/dev/null || skip "there is no npm here"
    mkdir -p "$PLACE"
    cp tools/hosts/package.json tools/hosts/package-lock.json "$PLACE/"
    # No script of a package is run: the programs lie in packages of their own for each platform.
    npm ci --prefix "$PLACE" --ignore-scripts --no-audit --no-fund --silent >&2 || skip "npm could not install them"
    cp tools/hosts/package-lock.json "$PLACE/installed.json"
}

# isolated COMMAND...: run it with loopback alone, as root or in a user namespace
isolated() {
    local flags=(--net)
    [ "$(id -u)" = 0 ] || flags=(--user --map-root-user --net)
    unshare "${flags[@]}" true 2>/dev/null || skip "this system allows no network namespace"
    unshare "${flags[@]}" sh -c 'ip link set lo up && exec "$@"' sh "$@"
}

command -v ip >/dev/null || skip "there is no command ip (package iproute2)"
command -v node >/dev/null || skip "there is no node here"
install_hosts
isolated .venv/bin/python -m tools.hosts.capture build/hosts "$@"
.venv/bin/python -m tools.hosts.judge build/hosts
# EVALS names folders with files evals.json, separated by spaces; without it random suites are written.
[ "$#" -gt 0 ] || isolated .venv/bin/python -m tools.peers.eval_suites plugin-eval \
    "$PWD/$PLACE/node_modules/@anthropic-ai/claude-code-linux-x64/claude" ${EVALS:-}
[ "$#" -gt 0 ] || PROWESS_HOSTS=1 isolated .venv/bin/pytest -q -n 0 tests/evals/hosts
