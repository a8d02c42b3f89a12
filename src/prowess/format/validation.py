"""Judge a skill by a profile: every fault at once, each with rule, place and, where one is obvious, a fix.

Rules find, profiles judge. `raw_findings` gives what the rules find at their default severities; `judge` applies the
profile's column of the table.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.diagnostics import Severity
from prowess.errors import InvalidSkillError
from prowess.format.document import SkillDocument
from prowess.format.limits import EXTENDED_FIELDS, MANIFEST_FILE
from prowess.format.profiles import profile_named
from prowess.format.rules.body_rules import body_findings, reference_findings
from prowess.format.rules.field_rules import field_findings
from prowess.format.skill import Skill

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.profiles import Profile

    Target = str | os.PathLike[str] | SkillDocument | Skill


def validate_skill(target: Target, *, profile: str = "spec", references: bool = True) -> list[Diagnostic]:
    """Return every fault of the specification in `target`, sorted by place; empty for a skill without any.

    `target` is a skill's directory, its SKILL.md, a document or a skill. Warnings and infos are in the list too: only
    an error makes a skill invalid. With `references=False` the links of the body are not looked at. In the profile
    `skills-ref` the faults stand in the reference tool's order.

        for fault in validate_skill("examples/skills/csv-report"):
            print(fault.location, fault.rule, fault.message)

    Raises:
        InvalidArgumentsError: no profile has this name.
    """
    chosen = profile_named(profile)
    findings = raw_findings(document_of(target), chosen, references=references)
    return [found for raw in findings if (found := judge(raw, chosen)) is not None]


def require_valid(target: Target, *, profile: str = "spec") -> None:
    """Raise where `validate_skill` finds an error.

    Raises:
        InvalidSkillError: it carries every error.
        InvalidArgumentsError: no profile has this name.
    """
    faults = tuple(found for found in validate_skill(target, profile=profile) if found.severity is Severity.ERROR)
    if faults:
        raise InvalidSkillError(faults)


def document_of(target: Target) -> SkillDocument:
    """Return the document of a path, document or skill."""
    # Imported here, not at the top: reading imports this module.
    from prowess.format.reading import read_document

    if isinstance(target, SkillDocument):
        return target
    return target.document if isinstance(target, Skill) else read_document(target)


def raw_findings(document: SkillDocument, profile: Profile, *, references: bool = True) -> list[Diagnostic]:
    """Return all that the rules of the family `spec` find, at default severities, switched off or not."""
    findings = [*document.diagnostics, *field_findings(document, profile)]
    if document.complete and any(field.key in EXTENDED_FIELDS for field in document.fields):
        # Imported here, not at the top: most skills keep to the specification.
        from prowess.format.rules.body_rules import extended_findings

        findings += extended_findings(document, repairs=profile.repairs)
    findings += body_findings(document)
    if not profile.reference_wording:
        findings += sidecar_faults(document)
    if references and document.body:
        findings += reference_findings(document)
    if profile.reference_wording:
        # Imported here, not at the top: one profile needs it.
        from prowess.format.rules.reference_messages import reference_faults

        silent = [found for found in findings if profile.severities.get(found.rule) is None]
        return [*reference_faults(document, document.directory_name), *silent]
    skill = document.directory_name
    return sorted((_of_skill(found, skill) for found in findings), key=place_in_report)


def judge(found: Diagnostic, profile: Profile) -> Diagnostic | None:
    """Return the finding at the profile's severity; None where the profile does not report it."""
    severity = profile.severities.get(found.rule, found.severity)
    if severity is None:
        return None
    if profile.repairs and found.rule == "frontmatter.syntax" and found.fix is not None:
        severity = Severity.WARNING  # mended, so the skill loads
    return found.with_severity(severity)


def sidecar_faults(document: SkillDocument) -> tuple[Diagnostic, ...]:
    """Return what is wrong with the manifest beside the document; it is read only where there is one."""
    if document.directory is None or not os.path.lexists(os.path.join(document.directory, MANIFEST_FILE)):
        return ()
    # Imported here, not at the top: few skills have the file.
    from prowess.format.manifest.manifest_reader import read_sidecar

    return read_sidecar(document.directory, shown_as=os.path.dirname(document.path or "") or None).faults


def _of_skill(found: Diagnostic, skill: str | None) -> Diagnostic:
    if found.skill is not None or skill is None:
        return found
    return replace(found, skill=skill)


def place_in_report(found: Diagnostic) -> tuple[bool, int, int]:
    """Return what findings on one skill are sorted by."""
    beside = (found.location.path or "").endswith(MANIFEST_FILE)  # a file of its own, told of last
    return beside, found.location.line, found.location.column
