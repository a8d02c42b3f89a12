"""Forms of a report by name; `prowess.config.settings.FORMATS` lists the names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from prowess._internal.text.terminal_text import json_text, wrapped
from prowess.format.rules.table import RULES
from prowess.report.text_report import TextLayout, check_lines, summary_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prowess.format.rules.meta import RuleMeta
    from prowess.report.checked import CheckedSkill

# Module and function of each form; imported when used, because one run needs a single form.
_DOCUMENTS = {"json": ("json_report", "check_document"), "sarif": ("ci", "sarif_document")}
_LINES = {"github": ("ci", "github_lines"), "junit": ("ci", "junit_lines")}


def render(
    form: str,
    skills: Sequence[CheckedSkill],
    *,
    layout: TextLayout | None = None,
    summary: bool = True,
    rules: Mapping[str, RuleMeta] = RULES,
) -> str:
    """Return the whole report as text that is safe to print.

    `layout` and `summary` apply only to the form `text`. `rules` are the declarations of rules, by id, used by the
    forms `text` and `sarif`.

    Raises:
        KeyError: there is no such form.
    """
    if form == "text":
        laid_out = layout or TextLayout()
        lines = list(check_lines(skills, laid_out, rules))
        return _joined([*lines, *wrapped(summary_line(skills), laid_out.width)] if summary else lines)
    if form in _DOCUMENTS:
        more = (rules,) if form == "sarif" else ()
        return f"{json_text(_made(*_DOCUMENTS[form], skills, *more), indent=2)}\n"
    return _joined(cast("Iterable[str]", _made(*_LINES[form], skills)))


def _made(module: str, function: str, *arguments: object) -> object:
    return getattr(import_module(f"prowess.report.{module}"), function)(*arguments)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
