#!/usr/bin/env bash
# Make this clone ready: a virtual environment in .venv with the package and its tools, and the programs that the
# sandbox and the examples use. Quick when nothing is missing. PYTHON=/path/to/python chooses the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

# ── may we install system packages? ──────────────────────────────────────────────────────────────────────

root_prefix() {
    if [ "$(id -u)" = 0 ]; then
        printf ''
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        printf 'sudo -n'
    else
        return 1
    fi
}

apt_lists_are_fresh=no

# apt_install PACKAGE...: true if the packages are installed afterwards; says why where they are not.
apt_install() {
    local prefix
    if ! command -v apt-get >/dev/null; then
        say "cannot install $*: this system has no apt-get; please install what corresponds to it"
        return 1
    fi
    if ! prefix=$(root_prefix); then
        say "cannot install $*: that needs root; please run: sudo apt-get install $*"
        return 1
    fi
    say "installing $*"
    if [ "$apt_lists_are_fresh" = no ]; then
        # shellcheck disable=SC2086 -- an empty prefix must vanish
        $prefix env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=2 update >&2 || say "apt-get update failed; trying with the lists at hand"
        apt_lists_are_fresh=yes
    fi
    # shellcheck disable=SC2086
    if ! $prefix env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null; then
        say "apt-get could not install $*"
        return 1
    fi
}

# ── the virtual environment ──────────────────────────────────────────────────────────────────────────────

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    local name
    for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14 python; do
        if command -v "$name" >/dev/null && is_new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    return 1
}

make_venv() {
    local python version
    if ! python=$(find_python); then
        say "Python 3.11 or newer is needed and none was found; install one, or name it: make PYTHON=/path/to/python3 ..."
        exit 1
    fi
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "creating .venv with $python ($version)"
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        # Debian keeps ensurepip in a package of its own, one for each version of Python.
        apt_install "python$version-venv" || apt_install python3-venv || {
            say "the venv module of $python is missing, and without it no environment can be made"
            exit 1
        }
    fi
    rm -rf .venv
    "$python" -m venv .venv
}

# ── programs of the system ───────────────────────────────────────────────────────────────────────────────

install_programs() {
    local missing=()
    command -v bwrap >/dev/null || missing+=(bubblewrap)
    command -v node >/dev/null || missing+=(nodejs)
    command -v git >/dev/null || missing+=(git)
    command -v dafny >/dev/null || missing+=(dafny) # brings its prover and mono, for make proof
    if [ "${#missing[@]}" -gt 0 ]; then
        apt_install "${missing[@]}" || say "going on without ${missing[*]}: tests that need it are skipped with that reason"
    fi
    # One at a time: a system whose node is not Debian's may have no npm to install.
    command -v chromium >/dev/null || apt_install chromium || say "going on without chromium: tests that need it are skipped with that reason"
    command -v npm >/dev/null || apt_install npm || true
    install_postgresql || say "going on without postgresql: tests that need it are skipped with that reason"
    install_from_npm || say "going on without packages of npm: tests that need them are skipped with that reason"
}

# axe-core and the issuer of logins, in the versions of the lock, whose hashes npm checks. No script of them is run.
install_from_npm() {
    local place=.cache/npm
    cmp -s tools/npm/package-lock.json "$place/installed.json" && return
    command -v npm >/dev/null || return
    say "installing packages of npm into $place"
    mkdir -p "$place"
    cp tools/npm/package.json tools/npm/package-lock.json "$place/"
    npm ci --prefix "$place" --ignore-scripts --no-audit --no-fund --silent >&2 && cp tools/npm/package-lock.json "$place/installed.json"
}

# The tests start servers of their own, so no cluster of the system is made. Without root the packages are unpacked.
install_postgresql() {
    local place=.cache/postgresql quiet=/etc/postgresql-common/createcluster.d/prowess-setup.conf prefix made
    if compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || compgen -G "$place/usr/lib/postgresql/*/bin/postgres" >/dev/null; then
        return
    fi
    if prefix=$(root_prefix) && command -v apt-get >/dev/null; then
        $prefix mkdir -p "${quiet%/*}"
        echo 'create_main_cluster = false' | $prefix tee "$quiet" >/dev/null
        apt_install postgresql
        made=$?
        $prefix rm -f "$quiet"
        return "$made"
    fi
    say "unpacking postgresql into $place"
    rm -rf "$place.new" && mkdir -p "$place.new"
    (
        cd "$place.new"
        # Exactly the packages that are missing here, with their versions.
        mapfile -t wanted < <(apt-get -qq --print-uris --no-install-recommends install postgresql | sed -E "s/^'[^']*' ([^_]+)_([^_]+)_.*/\1=\2/; s/%3a/:/")
        apt-get -qq download "${wanted[@]}" && for file in *.deb; do dpkg -x "$file" . && rm "$file" || exit; done
    ) && rm -rf "$place" && mv "$place.new" "$place"
}

# ── what is missing ──────────────────────────────────────────────────────────────────────────────────────

# The copies of both pyproject.toml that were installed are the stamp: while they are equal, there is nothing to install.
# The path is in it, because an environment that was moved points to the old place.
stamp=.venv/prowess-installed
stamp_text() { pwd -P; cat pyproject.toml packages/pytest-prowess/pyproject.toml; }

if ! { [ -x .venv/bin/python ] && is_new_enough .venv/bin/python && .venv/bin/python -c 'import pip' 2>/dev/null; }; then
    make_venv
fi
# pip and apt-get use one core each, so they run at the same time.
if [ "$(uname -s)" = Linux ]; then
    install_programs &
    trap wait EXIT
else
    say "scripts of skills run in bubblewrap, which is for Linux; everything else works here"
fi
if ! stamp_text | cmp -s - "$stamp"; then
    say "installing the package and its tools into .venv: about three minutes the first time"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev,mcp]'
    # By itself, because it requires prowess, which pip would look for in the index.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps ./packages/pytest-prowess
    # pip compiles on one core only; what cannot be compiled (templates, texts for other versions) is left to its package.
    .venv/bin/python -m compileall -qq -j 0 .venv/lib >/dev/null || true
    stamp_text >"$stamp"
fi
