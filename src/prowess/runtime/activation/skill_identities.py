"""What is known of a listed or an active skill, for rules that match skills and for records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.catalog.layers import Layer
from prowess.errors import SkillError, SkillNotFoundError
from prowess.policy.skill_identity import SkillIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.policy.policy import Policy
    from prowess.runtime.state import ActiveSkill


def of_entry(entry: SkillEntry, catalog: Catalog | None) -> SkillIdentity:
    """Return what is known of a listed skill; its digests only with `catalog`, which reads its files."""
    digests: tuple[str | None, ...] = ()
    if catalog is not None:
        try:
            skill = catalog.at_rest(entry) or catalog.skill(entry.name, entry.location)
            digests = (skill.digest, skill.manifest.content_digest, skill.document_digest)
        except (SkillError, OSError):
            digests = ()
    return SkillIdentity(
        name=entry.name,
        digests=tuple(digest for digest in digests if digest is not None),
        sources=tuple(dict.fromkeys(_sources(entry))),
        layer=entry.layer.value,
        copy=entry.qualified_name if entry.layer is Layer.PLUGIN else None,
    )


def of_active(skill: ActiveSkill, catalog: Catalog) -> SkillIdentity:
    """Return what is known of an active skill: the digests under which it was loaded, and where it lies now."""
    digests = (skill.digest, skill.content_digest, skill.document_digest)
    known = tuple(digest for digest in digests if digest is not None)
    try:
        return replace(of_entry(catalog.get(skill.name, skill.location), None), digests=known)
    except SkillNotFoundError:  # a rule about its source or layer counts as possible
        return SkillIdentity(name=skill.name, digests=known)


def asked_of_active(policy: Policy, skill: ActiveSkill, catalog: Catalog) -> SkillIdentity:
    """Return as much of an active skill as the rules of `policy` ask for."""
    return of_active(skill, catalog) if policy.needs_skills else SkillIdentity(name=skill.name)


def _sources(entry: SkillEntry) -> Iterator[str]:
    yield entry.source
    if entry.origin is not None:
        yield entry.origin
    for path in (entry.root_dir, *entry.aliases):
        here = path
        while (above := os.path.dirname(here)) != here:
            yield here
            here = above
