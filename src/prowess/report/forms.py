"""Each form of a report by its name; `prowess.config.settings.FORMATS` lists the names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prowess._internal.text.printable_json import json_text
from prowess.format.rules.table import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.format.rules.meta import RuleMeta
    from prowess.report.checked import CheckedSkill

    Style = Callable[[str, str], str]

# Module and function; one form is needed in a run, so the others are not imported.
_DOCUMENTS = {"json": ("json_report", "check_document"), "sarif": ("sarif", "sarif_document")}
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
        # Imported here, not at the top: as above.
        from prowess.report.text import check_lines, summary_line

        lines = list(check_lines(skills) if style is None else check_lines(skills, style))
        return _joined([*lines, summary_line(skills)] if summary else lines)
    if form in _DOCUMENTS:
        # Imported here, not at the top: as above.
        more = (rules,) if form == "sarif" else ()
        return f"{json_text(_made(*_DOCUMENTS[form], skills, *more), indent=2)}\n"
    lines_of: Iterable[str] = _made(*_LINES[form], skills)  # type: ignore[assignment]  # what the table says
    return _joined(lines_of)


def _made(module: str, function: str, *arguments: object) -> object:
    return getattr(import_module(f"prowess.report.{module}"), function)(*arguments)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
