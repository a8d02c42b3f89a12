"""The rules of the specification on links to files: they are relative, and they stay inside the skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import MAX_FAULTS
from prowess.format.parsing import finding
from prowess.format.references import references

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.references import Reference

_RULES = {"outside": "reference.escape", "absolute": "reference.absolute"}
# First components that are directories of a machine; what else begins with a slash may mean a page of a website.
_ROOTS = frozenset(
    {"Applications", "Library", "System", "Users", "Volumes", "bin", "dev", "etc", "home", "lib", "media", "mnt"}
    | {"opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"}
)
# What is wrong with a link, in the words of every rule that says so.
LEADS_OUT = "leads out of the skill; a skill carries the files it links to"
IS_ABSOLUTE = "is absolute; link to files relative to the skill's directory"
_SENTENCE = 500  # characters before and after a link that are looked at


def reference_findings(document: SkillDocument) -> list[Diagnostic]:
    """Return the links that leave the skill; what they lead to is not looked at."""
    findings = []
    for reference in references(document):
        if reference.leads == "inside" or (_may_be_a_page(reference) and _is_quoted(document.text, reference)):
            continue
        location = document.origin.location(reference.start, reference.end)
        target = reference.target if len(reference.target) <= 80 else f"{reference.target[:77]}..."  # noqa: PLR2004 -- a report line's worth
        findings.append(finding(_RULES[reference.leads], f"{target} {_reason(reference)}", location))
        if len(findings) == MAX_FAULTS:
            break
    return findings


def _may_be_a_page(reference: Reference) -> bool:
    """Whether a path is one of a website rather than of a machine: `/docs/start`."""
    first, *others = reference.path.split("/")
    return first == "" and others[0] not in _ROOTS and "." not in others[-1]


def _is_quoted(text: str, reference: Reference) -> bool:
    """Whether a link stands between double quotes in its line: a sentence shown as an example."""
    before = text[max(reference.start - _SENTENCE, 0) : reference.start].rpartition("\n")[2]
    after = text[reference.end : reference.end + _SENTENCE].partition("\n")[0]
    return before.count('"') % 2 == 1 and '"' in after


def _reason(reference: Reference) -> str:
    components = reference.path.replace("\\", "/").split("/")
    if reference.leads == "outside":
        if components[-1].lower() == "skill.md":
            return "leads out of the skill to another, which may lie elsewhere; name that skill in place of a link"
        return LEADS_OUT
    if _may_be_a_page(reference):
        return f"{IS_ABSOLUTE}, and to pages by their whole address"
    return IS_ABSOLUTE
