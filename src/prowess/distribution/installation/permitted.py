"""The facts about the skills of a plan, for the question whether the change is permitted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.permission.facts import PackageFacts
from prowess.format.reading import read_document
from prowess.lockfile.source_reference import parse_reference
from prowess.lockfile.spellings import source_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from prowess.distribution.installation.plan import InstallPlan
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.permission.permission import Permission
    from prowess.distribution.sources import Fetched
    from prowess.lockfile import LockedSkill
    from prowess.lockfile.source_reference import SourceReference

_ROLLBACK = "packages.rollback"


def changes_of(
    plan: InstallPlan,
    staged: Mapping[tuple[str, str], str],
    scope: InstallScope,
    permission: Permission,
    verified: Collection[tuple[str, str]] = (),
) -> list[tuple[str, PackageFacts]]:
    """Return the tool and the facts of each skill that changes. All changes of a rollback are calls of one tool.

    `verified` are the skills whose signers were verified now, by tree and name. Other signers count if the store knows
    that they were verified.
    """
    store = SkillStore(scope.home)
    found = []
    for change in plan.changes:
        if change.action == "keep" and change.before == change.after:
            continue
        skill = change.skill
        tool = permission.tool
        if tool != _ROLLBACK and change.action != "keep":
            tool = f"packages.{change.action}"
        directory = staged.get((skill.tree, skill.name), store.path(skill.tree, skill.name))
        is_proved = (skill.tree, skill.name) in verified or skill.signer in store.signers(skill.tree, skill.name)
        reference = parse_reference(skill.source, base=scope.directory, has_version=False)
        found.append((tool, facts_of(skill, reference, directory, skill.signer if is_proved else None)))
    return found


def facts_of(
    skill: LockedSkill | Fetched, reference: SourceReference, directory: str, signer: str | None
) -> PackageFacts:
    """Return the facts about a skill whose files are in `directory`, or were removed from there."""
    digests: tuple[str, ...] = (skill.tree,)
    if is_there := os.path.isdir(directory):
        digests = (skill.tree, read_document(directory).document_digest)
    return PackageFacts(
        name=skill.name,
        version=skill.version,
        sources=source_names(reference),
        digests=digests,
        signer=signer,
        directory=directory if is_there else None,
    )
