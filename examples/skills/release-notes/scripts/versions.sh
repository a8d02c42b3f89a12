#!/bin/sh
# List every place in a project that states its version, and whether it is the one that is wanted.
# Exit codes: 0 all agree, 1 at least one differs, 2 wrong command line, 3 no place states a version.
set -eu

usage() {
    echo 'usage: versions.sh VERSION [DIRECTORY]'
    echo 'Looks at pyproject.toml, package.json, Cargo.toml, setup.cfg, VERSION, version.txt, and CHANGELOG.md.'
    echo 'Example: versions.sh 1.3.0'
}

case "${1-}" in
-h | --help)
    usage
    exit 0
    ;;
esac
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    usage >&2
    exit 2
fi
wanted=${1#v}
cd "${2-.}" 2>/dev/null || {
    echo "versions.sh: there is no directory $2" >&2
    exit 2
}

found=0
different=0

place() { # file, version
    [ -n "$2" ] || return 0
    found=$((found + 1))
    if [ "$2" = "$wanted" ]; then
        echo "ok      $1: $2"
    else
        different=$((different + 1))
        echo "differs $1: $2, wanted $wanted"
    fi
}

first() { # file, sed expression that prints the version
    if [ -f "$1" ]; then
        place "$1" "$(sed -n "$2" "$1" | head -n 1)"
    fi
}

for file in pyproject.toml Cargo.toml setup.cfg; do
    first "$file" 's/^version[[:space:]]*=[[:space:]]*"\{0,1\}\([^"[:space:]]*\).*/\1/p'
done
first package.json 's/^[[:space:]{]*"version"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p'
first CHANGELOG.md 's/^## *\[\{0,1\}v\{0,1\}\([0-9][^][:space:]]*\).*/\1/p'
for file in VERSION version.txt; do
    first "$file" 's/^v\{0,1\}\([^[:space:]]\{1,\}\)[[:space:]]*$/\1/p'
done

if [ "$found" -eq 0 ]; then
    echo "versions.sh: no file in $(pwd) states a version" >&2
    exit 3
fi
[ "$different" -eq 0 ]
