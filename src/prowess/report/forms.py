"""Forms of a report by name; `prowess.config.settings.FORMATS` lists the names.

The text is for a person: one line for each finding, and for an error or a fix the source line with a mark under the
place.

    a/SKILL.md:3:14 error frontmatter.syntax  a value with ": " must be quoted
      3 | description: Checks invoices. Triggers: VAT
        |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ put it in double quotes

Everything that comes from a file is escaped here, so that the text can be printed as it is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from prowess._internal.text.terminal_text import columns, counted, json_text, printable_line
from prowess.diagnostics import Severity
from prowess.format.rules.table import RULES
from prowess.report.checked import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.rules.meta import RuleMeta
    from prowess.report.checked import CheckedSkill

    Style = Callable[[str, str], str]

_LABELS = {
    Severity.ERROR: ("error", "red"),
    Severity.WARNING: ("warn", "yellow"),
    Severity.INFO: ("info", "blue"),
}
_WIDEST_LINE = 100
_BEFORE_MARK = 40  # columns kept before the mark where a line has to be cut
_SECRET = "security.secret"  # noqa: S105 -- a rule; no excerpt shows the line in which it found one


def check_lines(skills: Sequence[CheckedSkill], style: Style = lambda text, _colour: text) -> Iterator[str]:
    """Yield the report line by line, the summary last; `style` colours a text that is safe already."""
    width = max((len(found.rule) for skill in skills for found in skill.diagnostics), default=0)
    for skill in skills:
        hidden = {found.location.line for found in skill.diagnostics if found.rule == _SECRET}
        for found in skill.diagnostics:
            label, colour = _LABELS[found.severity]
            place = printable_line(str(found.location))
            message = printable_line(found.message)
            yield f"{place} {style(f'{label:<5}', colour)} {found.rule:<{width}}  {message}"
            if (found.fix is not None or found.severity is Severity.ERROR) and found.location.line not in hidden:
                yield from _excerpt(found, skill.document)


def summary_line(skills: Sequence[CheckedSkill]) -> str:
    """Return the last line: what was found, in how many skills."""
    tally = Tally.of(skills)
    parts = [counted(tally.errors, "error"), counted(tally.warnings, "warning"), counted(tally.infos, "info")]
    found = ", ".join(part for part in parts if not part.startswith("0 ")) or "no faults"
    return f"{found} in {counted(tally.skills, 'skill')}"


def _excerpt(found: Diagnostic, document: SkillDocument) -> Iterator[str]:
    location = found.location
    if location.end_line is None or location.end_column is None or location.path != document.path:
        return
    lines = document.text.split("\n", location.line)
    if len(lines) < location.line:
        return
    line = lines[location.line - 1]
    shift = 1 + (document.origin.bom and location.line == 1)
    start = max(location.column - shift, 0)
    end = location.end_column - shift if location.end_line == location.line else len(line)
    shown, start, end = _window(line, start, min(max(end, start + 1), max(len(line), start + 1)))
    margin = len(str(location.line))
    before, marked = printable_line(shown[:start]), printable_line(shown[start:end])
    mark = " " * columns(before) + "^" * max(columns(marked), 1)
    title = "" if found.fix is None else f" {printable_line(found.fix.title)}"
    yield f"  {location.line} | {printable_line(shown)}"
    yield f"  {' ' * margin} | {mark}{title}"


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Cut a long line around the place; return it and the place in it."""
    if len(line) <= _WIDEST_LINE:
        return line, start, end
    first = max(min(start - _BEFORE_MARK, len(line) - _WIDEST_LINE), 0)
    last = min(first + _WIDEST_LINE, len(line))
    lead, tail = "..." if first else "", "..." if last < len(line) else ""
    return f"{lead}{line[first:last]}{tail}", start - first + len(lead), min(end, last) - first + len(lead)


# Module and function; one form is needed in a run, so the others are not imported.
_DOCUMENTS = {"json": ("json_report", "check_document"), "sarif": ("ci", "sarif_document")}
_LINES = {"github": ("ci", "github_lines"), "junit": ("ci", "junit_lines")}


def render(
    form: str,
    skills: Sequence[CheckedSkill],
    *,
    style: Style | None = None,
    summary: bool = True,
    rules: Mapping[str, RuleMeta] = RULES,
) -> str:
    """Return the whole report, safe to be printed.

    `style` and `summary` are about the text for people; `rules` declare, by id, the rules that SARIF describes.

    Raises:
        KeyError: there is no such form.
    """
    if form == "text":
        lines = list(check_lines(skills) if style is None else check_lines(skills, style))
        return _joined([*lines, summary_line(skills)] if summary else lines)
    if form in _DOCUMENTS:
        more = (rules,) if form == "sarif" else ()
        return f"{json_text(_made(*_DOCUMENTS[form], skills, *more), indent=2)}\n"
    return _joined(cast("Iterable[str]", _made(*_LINES[form], skills)))


def _made(module: str, function: str, *arguments: object) -> object:
    return getattr(import_module(f"prowess.report.{module}"), function)(*arguments)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
