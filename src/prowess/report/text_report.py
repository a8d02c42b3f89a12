"""Findings as text for a person, each with its place. Errors and fixable findings also show the marked source line.

    a/SKILL.md:3:14 error frontmatter.syntax  a value with ": " must be quoted
      3 | description: Checks invoices. Triggers: VAT
        |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ put it in double quotes

Three or more infos of one rule become one line with their number. A file that several skills share, by links or copies,
is reported once with all its places. All text from files is escaped here, so the report is safe to print.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import columns, counted, printable_line, wrapped
from prowess.diagnostics import Severity
from prowess.format.rules.table import RULES
from prowess.report.checked import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.rules.meta import RuleMeta
    from prowess.report.checked import CheckedSkill

_LABELS = {
    Severity.ERROR: ("error", "red"),
    Severity.WARNING: ("warn", "yellow"),
    Severity.INFO: ("info", "blue"),
}
_EXCERPT_COLUMNS = 80  # used if the width is unknown
_FEWEST_GROUPED = 3
_CUT = "..."
_SECRET = "security.secret"  # noqa: S105 -- a rule id, not a secret; lines with such a finding are never shown as excerpts
_INDENT = "    "


class TextLayout(Struct, frozen=True, kw_only=True):
    """Layout of the text. `style` colours a text that is already escaped; `width` is None if lines are not wrapped."""

    style: Callable[[str, str], str] = lambda text, _colour: text
    width: int | None = None
    verbose: bool = False


class _Finding(Struct, frozen=True, kw_only=True):
    """A finding, and the places of equal findings in other copies of the file."""

    found: Diagnostic
    skill: CheckedSkill
    others: list[str]


def check_lines(
    skills: Sequence[CheckedSkill], layout: TextLayout | None = None, rules: Mapping[str, RuleMeta] = RULES
) -> Iterator[str]:
    """Yield the report line by line, without the summary.

    `rules` are the declarations of rules, by id. A group of infos is described by the summary of its rule.
    """
    layout = layout or TextLayout()
    infos: dict[str, list[Diagnostic]] = {}
    for skill in skills:
        for found in skill.diagnostics:
            if found.severity is Severity.INFO:
                infos.setdefault(found.rule, []).append(found)
    grouped = {} if layout.verbose else {rule: each for rule, each in infos.items() if len(each) >= _FEWEST_GROUPED}
    shown = [one for one in _merged(skills) if one.found.severity is not Severity.INFO or one.found.rule not in grouped]
    # Rules are aligned as a column only if lines are not wrapped.
    longest = max((len(one.found.rule) for one in shown), default=0) if layout.width is None else 0
    for one in shown:
        yield from _finding_lines(one, longest, layout)
    for rule, each in grouped.items():
        what = printable_line((rules[rule].summary if rule in rules else each[0].message).rstrip("."))
        first = printable_line(str(each[0].location))
        text = f"info  {len(each)} \N{MULTIPLICATION SIGN} {rule}  {what}; first {first}"
        yield from _coloured(wrapped(text, layout.width, _INDENT), Severity.INFO, layout)
    if grouped:
        yield from wrapped("--verbose shows each info that is only counted here", layout.width)


def summary_line(skills: Sequence[CheckedSkill]) -> str:
    """Return the last line of the report: the number of findings by severity, and of skills."""
    tally = Tally.of(skills)
    parts = [counted(tally.errors, "error"), counted(tally.warnings, "warning"), counted(tally.infos, "info")]
    found = ", ".join(part for part in parts if not part.startswith("0 ")) or "no faults"
    return f"{found} in {counted(tally.skills, 'skill')}"


def _merged(skills: Sequence[CheckedSkill]) -> Iterable[_Finding]:
    """Yield the findings in order; equal findings in copies of one file are merged into one."""
    alike: dict[tuple[object, ...], list[_Finding]] = {}
    for skill in skills:
        for found in skill.diagnostics:
            place = found.location
            name = os.path.basename(place.path or "")
            key = (found.rule, found.severity, found.message, name, place.line, place.column)
            same = alike.setdefault(key, [])
            one = _Finding(found=found, skill=skill, others=[])
            for other in same:
                if other.skill is not skill and _is_same_file(place.path, other.found.location.path):
                    other.others.append(str(place))
                    break
            else:
                same.append(one)
                yield one


def _is_same_file(one: str | None, other: str | None) -> bool:
    if one is None or other is None or one == other:
        return False
    first = _identity(one)
    return first is not None and first == _identity(other)


def _identity(path: str) -> bytes | None:
    """Return the digest of a file's bytes, or None if it cannot be read, such as a document from standard input."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return None


def _finding_lines(one: _Finding, longest: int, layout: TextLayout) -> Iterator[str]:
    found, location = one.found, one.found.location
    label, _ = _LABELS[found.severity]
    text = f"{printable_line(str(location))} {label:<5} {found.rule:<{longest}}  {printable_line(found.message)}"
    yield from _coloured(wrapped(text, layout.width, _INDENT), found.severity, layout)
    hidden = {other.location.line for other in one.skill.diagnostics if other.rule == _SECRET}
    if (found.fix is not None or found.severity is Severity.ERROR) and location.line not in hidden:
        yield from _excerpt(found, one.skill.document, layout.width or _EXCERPT_COLUMNS)
    if one.others:
        places = ", ".join(map(printable_line, one.others))
        yield from wrapped(f"{_INDENT}the same file: {places}", layout.width, _INDENT)


def _coloured(lines: Iterable[str], severity: Severity, layout: TextLayout) -> Iterator[str]:
    """Colour the first severity label in the lines."""
    label, colour = _LABELS[severity]
    wanted = f"{label:<5}"
    for line in lines:
        before, at, after = f"{line} ".partition(f" {wanted} " if not line.startswith(wanted) else f"{wanted} ")
        if wanted and at:
            yield f"{before}{at.replace(wanted, layout.style(wanted, colour))}{after}"[:-1]
            wanted = ""
        else:
            yield line


def _excerpt(found: Diagnostic, document: SkillDocument, width: int) -> Iterator[str]:
    location = found.location
    if location.end_line is None or location.end_column is None or location.path != document.path:
        return
    lines = document.text.split("\n", location.line)
    if len(lines) < location.line:
        return
    line = lines[location.line - 1]
    shift = 1 + (document.origin.bom and location.line == 1)
    start = min(max(location.column - shift, 0), len(line))
    end = location.end_column - shift if location.end_line == location.line else len(line)
    head = f"  {location.line} | "
    margin = f"  {' ' * len(str(location.line))} | "
    # One column is kept free, because a mark may be after the last character of the line.
    before, marked, after = _window(line, start, max(end, start), max(width - len(head) - 1, 2 * len(_CUT) + 2))
    mark = " " * columns(before) + "^" * max(columns(marked), 1)
    yield f"{head}{before}{marked}{after}"
    title = "" if found.fix is None else printable_line(found.fix.title)
    if title and len(margin) + columns(f"{mark} {title}") > width:
        yield f"{margin}{mark}"
        yield from wrapped(f"{margin}{title}", width, margin)
    else:
        yield f"{margin}{mark} {title}".rstrip()


def _window(line: str, start: int, end: int, room: int) -> tuple[str, str, str]:
    """Return the text before, in and after the marked range, escaped and cut to `room` columns in total."""
    if len(line) <= room and columns(printable_line(line)) <= room:
        return printable_line(line[:start]), printable_line(line[start:end]), printable_line(line[end:])

    def taken(cells: Iterable[str], most: int) -> int:
        count = used = 0
        for cell in cells:
            used += columns(printable_line(cell))
            if used > most:
                break
            count += 1
        return count

    near = room // 2
    first = start - taken(reversed(line[max(start - room, 0) : start]), near - len(_CUT))
    first = first if start - first < start else 0
    left = room - columns(printable_line(line[first:start])) - (len(_CUT) if first else 0)
    last = start + taken(line[start : start + left], left)
    if last < len(line):
        last = start + taken(line[start : start + left], left - len(_CUT))
    elif first:  # the end of the line fits, so show more text before the mark
        spare = left - columns(printable_line(line[start:last]))
        first -= taken(reversed(line[max(first - spare, 0) : first]), spare)
    end = min(end, last)
    return (
        f"{_CUT if first else ''}{printable_line(line[first:start])}",
        printable_line(line[start:end]),
        f"{printable_line(line[end:last])}{_CUT if last < len(line) else ''}",
    )
