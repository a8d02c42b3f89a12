"""The rules of the specification on links to files: they are relative, and they stay inside the skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import MAX_FAULTS
from prowess.format.parsing import finding
from prowess.format.references import references

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

_RULES = {
    "outside": ("reference.escape", "leads out of the skill; a skill carries the files it links to"),
    "absolute": ("reference.absolute", "is absolute; link to files relative to the skill's directory"),
}


def reference_findings(document: SkillDocument) -> list[Diagnostic]:
    """Return the links that leave the skill; what they lead to is not looked at."""
    findings = []
    for reference in references(document):
        if reference.leads == "inside":
            continue
        rule, reason = _RULES[reference.leads]
        location = document.origin.location(reference.start, reference.end)
        target = reference.target if len(reference.target) <= 80 else f"{reference.target[:77]}..."  # noqa: PLR2004 -- a report line's worth
        findings.append(finding(rule, f"{target} {reason}", location))
        if len(findings) == MAX_FAULTS:
            break
    return findings
