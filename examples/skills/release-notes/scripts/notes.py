#!/usr/bin/env python3
"""Draft release notes from one section of a changelog, and check the changelog on the way.

The changelog has `## VERSION - DATE` headings (brackets, a leading v and an en dash are fine) with `### Kind` groups of
list entries below. Standard library only; the draft goes to standard output, faults to standard error.

Exit codes: 0 in order, 1 drafted but the changelog has faults, 2 wrong command line or unreadable file, 3 the version
has no section.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

HEADING = re.compile(r"##\s+\[?v?(?P<version>[^\]\s]+)\]?(?:\s*[-\u2013]\s*(?P<date>\S+))?\s*(?P<rest>.*)")
KINDS = ("Breaking", "Added", "Changed", "Fixed", "Security", "Deprecated", "Removed", "Other")
HIGHLIGHTS, UPGRADE = ("Added", "Changed"), ("Breaking", "Removed", "Deprecated", "Security")
MAX_HIGHLIGHTS = 3
TEMPLATE = Path(__file__).resolve().parent.parent / "assets" / "template.md"


@dataclass
class Section:
    """One version of the changelog."""

    version: str
    date: str | None
    line: int
    groups: dict[str, list[str]] = field(default_factory=dict)


def main() -> int:
    """Run the command line; return the exit code."""
    options = _arguments().parse_args()
    try:
        changelog = Path(options.changelog).read_text(encoding="utf-8-sig")
        template = (
            Path(options.template).read_text(encoding="utf-8-sig") if options.template else TEMPLATE.read_text("utf-8")
        )
    except (OSError, UnicodeDecodeError) as fault:
        sys.stderr.write(f"notes.py: cannot read: {fault}\n")
        return 2
    sections, faults = _sections(changelog)
    section = _wanted(sections, options.version)
    if section is None:
        known = ", ".join(one.version for one in sections) or "none at all"
        sys.stderr.write(f"notes.py: no section for {options.version or 'a released version'}; there are: {known}\n")
        return 3
    print(_draft(section, template), end="")
    faults += _order_faults(sections)
    for fault in faults:
        sys.stderr.write(f"{options.changelog}:{fault}\n")
    return 1 if faults else 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Draft release notes from a changelog.", epilog="Example: notes.py CHANGELOG.md --version 1.3.0"
    )
    parser.add_argument("changelog", help="the changelog, in Markdown")
    parser.add_argument("--version", metavar="VERSION", help="which section (default: the newest released one)")
    parser.add_argument(
        "--template", metavar="FILE", help="template with {version} {date} {summary} {highlights} {upgrade} {rest}"
    )
    return parser


def _sections(text: str) -> tuple[list[Section], list[str]]:
    sections: list[Section] = []
    faults: list[str] = []
    group: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            found = HEADING.fullmatch(line.strip())
            group = None
            if found is None or found["rest"]:
                faults.append(f"{number}: heading not understood: {line.strip()}")
            if found is not None:
                sections.append(Section(found["version"], found["date"], number))
        elif line.startswith("### ") and sections:
            kind = line[4:].strip()
            if kind not in KINDS:
                faults.append(f"{number}: unknown kind of change {kind!r}; known are {', '.join(KINDS)}")
            group = sections[-1].groups.setdefault(kind, [])
        elif re.match(r"[-*+] ", line) and sections:
            if group is None:
                group = sections[-1].groups.setdefault("Other", [])
            group.append(line[2:].strip())
        elif line.startswith("  ") and line.strip() and group:
            group[-1] += " " + line.strip()
    return sections, faults


def _wanted(sections: list[Section], version: str | None) -> Section | None:
    if version is None:
        return next((one for one in sections if one.version.lower() != "unreleased"), None)
    return next((one for one in sections if one.version == version.removeprefix("v")), None)


def _order_faults(sections: list[Section]) -> list[str]:
    faults = []
    released = [one for one in sections if one.version.lower() != "unreleased"]
    for section in released:
        if section.date is None or not _is_date(section.date):
            faults.append(f"{section.line}: {section.version} has no date of the form YYYY-MM-DD")
        if not any(section.groups.values()):
            faults.append(f"{section.line}: {section.version} has no entries")
    for newer, older in itertools.pairwise(released):
        if newer.version == older.version:
            faults.append(f"{older.line}: {older.version} has two sections")
        elif _key(newer.version) < _key(older.version):
            faults.append(f"{older.line}: {older.version} stands below the older {newer.version}")
        if _is_date(newer.date) and _is_date(older.date) and newer.date < older.date:
            faults.append(f"{newer.line}: {newer.version} is dated before {older.version}")
    return faults


def _is_date(text: str | None) -> bool:
    try:
        return bool(text) and len(text) == len("YYYY-MM-DD") and bool(dt.date.fromisoformat(text))
    except ValueError:
        return False


def _key(version: str) -> tuple[list[int], bool, str]:
    """Compare 1.10.0 above 1.9.0, and a pre-release below its release."""
    number, _, suffix = version.partition("-")
    return [int(part) for part in re.findall(r"\d+", number)], not suffix, suffix


def _draft(section: Section, template: str) -> str:
    highlights = [(kind, text) for kind in HIGHLIGHTS for text in section.groups.get(kind, [])]
    upgrade = [f"- **{kind}:** {_plain(text)}" for kind in UPGRADE for text in section.groups.get(kind, [])]
    rest = [f"- {_plain(text)}" for _, text in highlights[MAX_HIGHLIGHTS:]]
    for kind, entries in section.groups.items():
        if kind not in HIGHLIGHTS + UPGRADE:
            rest += [f"- {_plain(text)}" for text in entries]
    values = {
        "version": section.version,
        "date": section.date or "(date missing)",
        "summary": ", ".join(f"{len(entries)} {kind.lower()}" for kind, entries in section.groups.items() if entries)
        + ".",
        "highlights": "\n\n".join(_plain(text) for _, text in highlights[:MAX_HIGHLIGHTS]) or "(no highlights)",
        "upgrade": "\n".join(upgrade) or "Nothing has to be done.",
        "rest": "\n".join(rest) or "Nothing else changed.",
    }
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)


def _plain(text: str) -> str:
    """Drop the hash or reference at the end of an entry."""
    return re.sub(r"\s*\((?:[0-9a-f]{7,40}|#\d+)(?:,\s*(?:[0-9a-f]{7,40}|#\d+))*\)\s*\Z", "", text)


if __name__ == "__main__":
    sys.exit(main())
