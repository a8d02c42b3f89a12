"""The page that writes a SKILL.md: a form, its findings while typing, and the file as a download. It stores nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.responses import HTMLResponse, Response

from prowess.diagnostics import Severity
from prowess.errors import InvalidArgumentsError
from prowess.format.limits import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH
from prowess.format.name import name_faults
from prowess.format.parsing import parse_document
from prowess.format.reading import validate_skill
from prowess.format.writing import document_text
from prowess.http_server.pages.rendering.page_request import Fields
from prowess.http_server.pages.rendering.templating import templates
from prowess.lint.linting import lint_skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Diagnostic
    from prowess.http_server.pages.rendering.page_request import PageRequest

_FIELDS = ("name", "description", "license", "compatibility", "allowed-tools")
_BODY = """\
Use this skill when …

## Steps

1. …

## Result

- …
"""


class WrittenSkill(Struct, frozen=True, kw_only=True):
    """A SKILL.md from the fields of the form, None if no file can have them, and the findings of the checks in it."""

    text: str | None
    findings: tuple[Diagnostic, ...]
    problems: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether every check passes: nothing is found that is more than information."""
        return self.text is not None and all(one.severity is Severity.INFO for one in self.findings)


def written_skill(form: Mapping[str, str]) -> WrittenSkill:
    """Write a SKILL.md from the fields of the form, and check it."""
    fields = {name: value for name in _FIELDS if (value := form.get(name, "").strip()) or name in _FIELDS[:2]}
    try:
        text = document_text(fields, form.get("body", ""))
    except InvalidArgumentsError as fault:
        return WrittenSkill(text=None, findings=(), problems=fault.problems)
    document = parse_document(text)
    found = sorted(
        (*validate_skill(document), *lint_skill(document)), key=lambda one: (one.location.line, one.location.column)
    )
    return WrittenSkill(text=text, findings=tuple(found))


def skill_form_page(page: PageRequest) -> Response:
    """Show the form; after a POST, with the findings of the checks."""
    page.call.require("create")
    form = Fields(body=_BODY) if page.request.method == "GET" else page.form
    written = written_skill(form) if page.request.method == "POST" else None
    return _form(page, form, written)


def skill_findings_part(page: PageRequest) -> Response:
    """Return the findings alone, which replace those on the page."""
    page.call.require("create")
    return HTMLResponse(templates().get_template("skill_findings.html").render(written=written_skill(page.form)))


def skill_download(page: PageRequest) -> Response:
    """Return the SKILL.md as a download if it passes all checks, else the form."""
    page.call.require("create")
    written = written_skill(page.form)
    if written.text is None or not written.passes:
        return _form(page, page.form, written, "The SKILL.md does not pass all checks yet; see the findings.", 400)
    return Response(
        written.text.encode(),
        media_type="text/markdown; charset=utf-8",
        headers={"content-disposition": 'attachment; filename="SKILL.md"'},
    )


def _form(
    page: PageRequest,
    form: Mapping[str, str],
    written: WrittenSkill | None,
    problem: str | None = None,
    status: int = 200,
) -> Response:
    return page.render(
        "skill_form.html",
        status=status,
        problem=problem,
        form=form,
        written=written,
        directory=form.get("name", "") if not name_faults(form.get("name", "")) else "the name of the skill",
        longest_name=MAX_NAME_LENGTH,
        longest_description=MAX_DESCRIPTION_LENGTH,
    )
