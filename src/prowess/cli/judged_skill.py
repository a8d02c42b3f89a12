"""One skill as `prowess check` judges and reports it."""

from __future__ import annotations

import os

from prowess.report.checked import CheckedSkill

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement


def judged_findings(document: SkillDocument, judgement: Judgement) -> list[Diagnostic]:
    """Return what all rules find and the judgement reports, in no order yet."""
    # Imported here, not at the top: a plain skill is judged without them.
    from prowess.format.validation import raw_findings
    from prowess.lint import lint_findings

    return judgement.judge([*raw_findings(document, judgement.profile), *lint_findings(document, judgement)])


def in_order(findings: Iterable[Diagnostic], judgement: Judgement) -> tuple[Diagnostic, ...]:
    """Return findings as a report lists them: by place, but where the reference tool's order is the profile's own."""
    if judgement.profile.reference_wording:
        return tuple(findings)
    # Imported here, not at the top: as above.
    from prowess.format.validation import place_in_report

    return tuple(sorted(findings, key=place_in_report))


def checked_skill(document: SkillDocument, findings: tuple[Diagnostic, ...]) -> CheckedSkill:
    """Return a skill for a report, called by its name; as its directory where it has none or cannot be read."""
    path = os.path.dirname(document.path or "") or "."
    return CheckedSkill(path=path, name=_name(document), document=document, diagnostics=findings)


def _name(document: SkillDocument) -> str | None:
    name = document.text_of("name") if document.complete else None
    if name is None or name == document.directory_name:
        return document.directory_name
    # Imported here, not at the top: most skills are called as their directory is.
    from prowess.format.name import normalise

    return normalise(name) or normalise(document.directory_name or "")
