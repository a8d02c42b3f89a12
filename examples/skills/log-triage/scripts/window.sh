#!/bin/sh
# Print the lines of a log between two times, with what belongs to them.
# Times are compared as text: give as many digits as decide (2026-03-02T10:14 or "2026-03-02 10:14").
# Exit codes: 0 lines found, 1 file cannot be read, 2 wrong command line, 3 no line lies in the window.
set -eu

usage() {
    echo 'usage: window.sh FILE FROM TO [MAX_LINES]'
    echo 'Example: window.sh app.log "2026-03-02 10:14" "2026-03-02 10:16" 200'
}

case "${1-}" in
-h | --help)
    usage
    exit 0
    ;;
esac
if [ $# -lt 3 ] || [ $# -gt 4 ]; then
    usage >&2
    exit 2
fi
case "${4-200}" in
'' | *[!0-9]*)
    echo "window.sh: MAX_LINES must be a number, got: $4" >&2
    exit 2
    ;;
esac
for time in "$2" "$3"; do
    case $time in
    [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*) ;;
    *)
        echo "window.sh: a time starts with a date, such as 2026-03-02 10:14; got: $time" >&2
        exit 2
        ;;
    esac
done
if [ ! -f "$1" ] || [ ! -r "$1" ]; then
    echo "window.sh: cannot read $1; files are looked for in $(pwd)" >&2
    exit 1
fi

# The values travel in the environment: awk would interpret backslashes in -v assignments.
WINDOW_FROM=$2 WINDOW_TO=$3 WINDOW_MAX=${4-200} exec awk '
    BEGIN { from = key(ENVIRON["WINDOW_FROM"]); to = key(ENVIRON["WINDOW_TO"]); max = ENVIRON["WINDOW_MAX"] + 0 }
    function key(text) { gsub(/T/, " ", text); return text }
    {
        if (match($0, /[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9](:[0-9][0-9])?/)) {
            time = key(substr($0, RSTART, RLENGTH))
            inside = time >= from && substr(time, 1, length(to)) <= to
        }
        if (inside) {
            found++
            if (found <= max) print FNR ": " $0
        }
    }
    END {
        if (found > max) print "window.sh: " found - max " more lines; narrow the window or raise MAX_LINES" > "/dev/stderr"
        if (!found) print "window.sh: no line between " from " and " to > "/dev/stderr"
        exit found ? 0 : 3
    }
' "$1"
