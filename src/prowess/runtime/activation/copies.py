"""Every copy of every skill that a user of this machine has, as an inventory lists it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.errors import SkillError
from prowess.execution.interpreters import has_interpreter
from prowess.governance.machine.reports import ReportedCopy
from prowess.policy.approvals.matching import missing_approval
from prowess.policy.facts.capabilities import file_facts
from prowess.runtime.activation.skill_identities import of_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.policy import Policy

_MOST = 1000  # characters of a text


def reported_copies(catalog: Catalog, policy: Policy) -> Iterator[ReportedCopy]:
    """Yield the copies in a catalog, also those behind others. Of what cannot be read, less is known."""
    for entry in catalog.all_entries():
        known = _identity(entry, catalog, policy)
        yield ReportedCopy(
            name=entry.name[:_MOST],
            layer=entry.layer.value,
            place=entry.root_dir[:_MOST],
            digest=known.trees[0] if known.trees else None,
            source=entry.source[:_MOST],
            capabilities=None if known.capabilities is None else tuple(known.capabilities),
            approval=_approval(known, policy),
        )


def _identity(entry: SkillEntry, catalog: Catalog, policy: Policy) -> SkillIdentity:
    known = of_entry(entry, catalog, policy)
    if known.capabilities is not None:
        return known
    try:
        skill = catalog.at_rest(entry) or catalog.skill(entry.name, entry.location)
        return replace(known, **file_facts(skill, policy.script_dirs, has_interpreter))
    except (SkillError, OSError):
        return known


def _approval(skill: SkillIdentity, policy: Policy) -> str | None:
    """Return whether the rules that ask for approvals of this skill have them; None if none asks."""
    asking = [rule for file in policy.files for rule in file.approval_rules if rule.reasons(skill)]
    if not asking:
        return None
    missing = any(missing_approval(rule, skill, policy.approvals) is not None for rule in asking)
    return "missing" if missing else "approved"
