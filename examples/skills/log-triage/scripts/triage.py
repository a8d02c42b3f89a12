#!/usr/bin/env python3
"""Group the lines of log files into patterns, count them by level and find bursts.

Reads text logs, JSON lines and web access logs; prints Markdown, or JSON with --json. Standard library only; files
are read line by line, so their size does not matter.

Exit codes: 0 report complete, 1 a file cannot be read, 2 wrong command line, 3 no line matches the filters.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = ("fatal", "error", "warn", "info", "debug", "none")
NAMES = {
    "trace": "debug", "debug": "debug", "info": "info", "notice": "info", "warn": "warn", "warning": "warn",
    "error": "error", "err": "error", "critical": "fatal", "fatal": "fatal", "panic": "fatal", "severe": "error",
}  # fmt: skip
ISO = re.compile(r"[\[(]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\])]?")
SYSLOG = re.compile(r"([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)\b")
ACCESS = re.compile(r"\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) [+-]\d{4}\] \"(\S+) (\S+)[^\"]*\" (\d{3})\b")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LEVEL = re.compile(rf"[\[<(]?\b({'|'.join(NAMES)})\b[\]>)]?:?", re.IGNORECASE)
PLACEHOLDERS = (
    (re.compile(r"\"[^\"]*\"|(?<![\w])'[^']*'"), "<text>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"), "<time>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<ip>"),
    (re.compile(r"\b(?:0x[0-9a-fA-F]+|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,})\b"), "<hex>"),
    (re.compile(r"\b(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z\d]+(?:[-_][A-Za-z\d]+)+\b"), "<id>"),
    (re.compile(r"(?<![A-Za-z_<])[+-]?\d+(?:[.,]\d+)*"), "<n>"),
)
SOON = 20  # words near the start of a line in which a level is looked for: this many characters
FEW_MINUTES = 3


class TriageError(Exception):
    """A reason to stop; `code` is the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Entry:
    """One event: a line and what belongs to it."""

    time: str
    level: str
    message: str
    line: str


@dataclass
class Pattern:
    """All entries that say the same."""

    text: str
    level: str
    count: int
    first: str
    last: str
    example: str


def main() -> int:
    """Run the command line; return the exit code."""
    options = _arguments().parse_args()
    try:
        report = _triage(options)
    except TriageError as fault:
        sys.stderr.write(f"triage.py: {fault}\n")
        return fault.code
    print(json.dumps(report, indent=2) if options.json else _markdown(report))
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Group log lines into patterns.", epilog="Example: triage.py app.log --level error --top 5"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="log files, read in the order given")
    parser.add_argument("--level", choices=LEVELS[:-1], help="this level and worse")
    parser.add_argument("--match", metavar="REGEX", help="only lines that match")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many patterns to show (default: 10)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    return parser


def _triage(options: argparse.Namespace) -> dict[str, object]:
    try:
        wanted = re.compile(options.match) if options.match else None
    except re.error as fault:
        message = f"--match is not a regular expression: {fault}"
        raise TriageError(message, 2) from fault
    levels: Counter[str] = Counter()
    minutes: Counter[str] = Counter()
    patterns: dict[tuple[str, str], Pattern] = {}
    total = 0
    for name in options.files:
        for entry in _entries(name):
            total += 1
            levels[entry.level] += 1
            if options.level and LEVELS.index(entry.level) > LEVELS.index(options.level):
                continue
            if wanted and not wanted.search(entry.line):
                continue
            if entry.time and entry.level in ("fatal", "error"):
                minutes[entry.time[:-3]] += 1
            _count(patterns, entry)
    if not patterns:
        message = f"no entry matches; {total} entries were read: " + ", ".join(
            f"{n} {level}" for level, n in levels.items()
        )
        raise TriageError(message, 3)
    ranked = sorted(patterns.values(), key=lambda one: (-one.count, one.first, one.text))
    return {
        "files": options.files,
        "entries": total,
        "levels": {level: levels[level] for level in LEVELS if levels[level]},
        "patterns": [vars(one) for one in ranked[: max(options.top, 1)]],
        "patterns_not_shown": max(len(ranked) - max(options.top, 1), 0),
        "bursts": _bursts(minutes),
        "without_time": sum(1 for one in ranked if not one.first),
    }


def _entries(name: str) -> Iterator[Entry]:
    current: Entry | None = None
    ends_with = ""
    try:
        with open(name, encoding="utf-8", errors="replace") as lines:
            for raw in lines:
                line = raw.rstrip("\r\n")
                if not line.strip():
                    continue
                entry = _entry(line)
                if current is not None and entry is None:
                    if not line[0].isspace():
                        ends_with = line  # the last line at the margin of a traceback says what happened
                    continue
                if current is not None:
                    yield _ended(current, ends_with)
                current, ends_with = entry or Entry("", "none", line, line), ""
    except OSError as fault:
        message = f"cannot read {name}: {fault.strerror}"
        raise TriageError(message, 1) from fault
    if current is not None:
        yield _ended(current, ends_with)


def _ended(entry: Entry, ends_with: str) -> Entry:
    entry.message += f": {ends_with}" if ends_with else ""
    return entry


def _entry(line: str) -> Entry | None:
    """Return the entry that this line starts, or None where it continues the one before."""
    if line.startswith("{"):
        return _from_json(line)
    if found := ACCESS.search(line):
        day, month, year, clock, verb, path, status = found.groups()
        time = f"{year}-{MONTHS.index(month) + 1:02}-{day} {clock}" if month in MONTHS else ""
        level = "error" if status >= "500" else "warn" if status >= "400" else "info"
        return Entry(time, level, f"{verb} {path.partition('?')[0]} {status}", line)
    found = ISO.match(line) or SYSLOG.match(line)
    rest = line[found.end() :].strip() if found else line
    level = LEVEL.search(rest, 0, SOON + len(rest.partition(" ")[0]))
    if found is None and (level is None or level.start() > 1):
        return None
    text = (rest[: level.start()] + rest[level.end() :]).strip(" -:|") if level else rest
    return Entry(
        found.group(1).replace("T", " ") if found else "", NAMES[level[1].lower()] if level else "none", text, line
    )


def _from_json(line: str) -> Entry | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    time = str(_first(record, "time", "timestamp", "ts", "@timestamp"))
    found = ISO.match(time)
    level = NAMES.get(str(_first(record, "level", "severity", "lvl")).lower(), "none")
    return Entry(
        found.group(1).replace("T", " ") if found else "", level, str(_first(record, "message", "msg", "event")), line
    )


def _first(record: dict[str, object], *keys: str) -> object:
    return next((record[key] for key in keys if record.get(key) is not None), "")


def _count(patterns: dict[tuple[str, str], Pattern], entry: Entry) -> None:
    text = entry.message
    for expression, placeholder in PLACEHOLDERS:
        text = expression.sub(placeholder, text)
    found = patterns.get((entry.level, text))
    if found is None:
        patterns[entry.level, text] = Pattern(text, entry.level, 1, entry.time, entry.time, entry.line)
        return
    found.count += 1
    if entry.time:
        found.first, found.last = min(found.first or entry.time, entry.time), max(found.last, entry.time)


def _bursts(minutes: Counter[str]) -> list[dict[str, object]]:
    """Return the minutes that hold at least five errors and three times as many as the usual minute with errors."""
    usual = statistics.median(minutes.values()) if len(minutes) >= FEW_MINUTES else 0
    loud = [(minute, n) for minute, n in minutes.items() if n >= max(5, 3 * usual)]
    return [{"minute": minute, "errors": n, "usual": usual} for minute, n in sorted(loud)]


def _markdown(report: dict) -> str:
    counts = ", ".join(f"{n} {level}" for level, n in report["levels"].items())
    lines = [f"# {', '.join(report['files'])}: {report['entries']} entries ({counts})", ""]
    if report["levels"].get("none") == report["entries"]:
        lines += ["No level was recognised; references/FORMATS.md says what is.", ""]
    lines += ["| count | level | first | last | pattern |", "|------:|-------|-------|------|---------|"]
    for one in report["patterns"]:
        text = one["text"].replace("|", "\\|")
        lines.append(f"| {one['count']} | {one['level']} | {one['first']} | {one['last']} | {text[:160]} |")
    if report["patterns_not_shown"]:
        lines += ["", f"{report['patterns_not_shown']} more patterns; --top N shows them."]
    bursts = [f"{one['minute']} ({one['errors']} errors, usual is {one['usual']:g})" for one in report["bursts"]]
    lines += ["", "Bursts: " + ("; ".join(bursts) or "none"), "", "Examples:", ""]
    lines += [f"- {one['example'][:240]}" for one in report["patterns"][:5]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
