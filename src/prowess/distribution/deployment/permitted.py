"""The facts of deployed skills for the policy: each change of a deployment or of a host is a call `packages.*`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from prowess.distribution.permission.facts import PackageFacts
from prowess.errors import SkillError
from prowess.format.reading import read_document

if TYPE_CHECKING:
    from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease

SCOPE = "enterprise"  # as scope of the calls, and as layer of the skills


def changed_skills(before: SkillRelease, after: SkillRelease) -> tuple[ReleasedSkill, ...]:
    """Return the skills that a release adds, replaces or takes away; those with the digest that was there."""
    added = tuple(skill for skill in after.skills if skill not in before.skills)
    return (*added, *(skill for skill in before.skills if after.find(skill.name) is None))


def deployment_facts(skill: ReleasedSkill, source: str, directory: str | None = None) -> PackageFacts:
    """Return the facts of a skill from this source. `directory` has its files, if they are known."""
    digests: tuple[str, ...] = (skill.tree,)
    if directory is not None and os.path.isdir(directory):
        with suppress(SkillError):  # if it cannot be loaded, its tree is known
            digests = (skill.tree, read_document(directory).document_digest)
    return PackageFacts(
        name=skill.name,
        version=skill.version,
        sources=(source,),
        digests=digests,
        layer=SCOPE,
        directory=None if len(digests) == 1 else directory,
    )
