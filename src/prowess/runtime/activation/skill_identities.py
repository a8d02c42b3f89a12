"""The identity of a listed or active skill, for rules that match skills and for audit records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from prowess import lint, lockfile
from prowess._internal.text.qualified_names import qualified
from prowess.catalog.layers import Layer
from prowess.errors import SkillError, SkillNotFoundError
from prowess.execution.interpreters import has_interpreter
from prowess.policy.facts.capabilities import file_facts
from prowess.policy.facts.skill_identity import SkillIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.catalog import Catalog, SkillEntry
    from prowess.policy.policy import Policy
    from prowess.runtime.state import ActiveSkill


def of_entry(entry: SkillEntry, catalog: Catalog | None, policy: Policy | None = None) -> SkillIdentity:
    """Return the identity of a listed skill. Its files are read only with `catalog`.

    The digests of single files, the capabilities and the worst security finding are included if `policy` needs them.
    """
    digests: tuple[str | None, ...] = ()
    trees: tuple[str | None, ...] = ()
    contents: Mapping[str, Any] = {}
    if catalog is not None:
        try:
            skill = catalog.at_rest(entry) or catalog.skill(entry.name, entry.location)
            digests = (skill.digest, skill.manifest.content_digest, skill.document_digest)
            trees = (skill.digest,)
            if policy is not None and policy.needs_files:
                contents = file_facts(skill, policy.script_dirs, has_interpreter)
            if policy is not None and policy.needs_findings:
                contents = {**contents, "findings": lint.worst_security_finding(skill)}
        except (SkillError, OSError):
            digests = ()
    stated, real = tuple(_stated_sources(entry)), tuple(_directories(entry))
    return SkillIdentity(
        **contents,
        name=entry.name,
        digests=tuple(digest for digest in digests if digest is not None),
        trees=trees,
        sources=tuple(dict.fromkeys((*stated, *real))),
        stated_paths=frozenset(filter(os.path.isabs, stated)).difference(real),
        layer=entry.layer.value,
        publisher=None if entry.locked is None else entry.locked.signer,
        copies=_copies(entry),
    )


def of_active(skill: ActiveSkill, catalog: Catalog, policy: Policy | None = None) -> SkillIdentity:
    """Return the identity of an active skill: the digests it was loaded with, and its current source and layer.

    If `policy` needs single files, capabilities or findings, they are included unless the files have changed since the
    load.
    """
    digests = (skill.digest, skill.content_digest, skill.document_digest)
    known = tuple(digest for digest in digests if digest is not None)
    try:
        entry = catalog.get(skill.name, skill.location)
    except SkillNotFoundError:  # source and layer are unknown: a rule about them may match
        return SkillIdentity(name=skill.name, digests=known, trees=(skill.digest,))
    if policy is None or not (policy.needs_files or policy.needs_findings or policy.needs_trees):
        return replace(of_entry(entry, None), digests=known)
    now = of_entry(entry, catalog, policy)
    trees = tuple(dict.fromkeys((skill.digest, *(now.trees or (None,)))))
    if skill.content_digest in now.digests:
        return replace(now, digests=known, trees=trees)
    return replace(now, digests=known, trees=trees, files=None, capabilities=None, findings=None)


def asked_of_active(policy: Policy, skill: ActiveSkill, catalog: Catalog) -> SkillIdentity:
    """Return the identity of an active skill, or only its name if no rule of `policy` matches skills."""
    return of_active(skill, catalog, policy) if policy.needs_skills else SkillIdentity(name=skill.name)


def _copies(entry: SkillEntry) -> tuple[str, ...]:
    """Return the names of this copy beside its plain name: with a label, and with a version."""
    labels = entry.labels if entry.layer is Layer.PLUGIN else ()
    return (*(qualified(entry.name, label) for label in labels), *(f"{entry.name}@{one}" for one in entry.versions))


def _stated_sources(entry: SkillEntry) -> Iterator[str]:
    yield entry.source
    if entry.origin is not None:
        yield entry.origin
    if entry.locked is not None:
        for block in entry.locked.blocks:
            yield from lockfile.names_in_lock(block.source, entry.locked.lock)


def _directories(entry: SkillEntry) -> Iterator[str]:
    for path in (entry.root_dir, *entry.aliases):
        here = path
        while (above := os.path.dirname(here)) != here:
            yield here
            here = above
