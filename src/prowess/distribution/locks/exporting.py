"""Exports a lock as skills-lock.json, which the npm client `skills` restores.

A repository of git is pinned by its commit, which the client accepts as `ref`. The hash is that of the skill in the
store. A skill of a source that the client does not know is left out and named.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.locks.importing import skill_files
from prowess.distribution.sources.index.document import has_index
from prowess.errors import DistributionError, InvalidArgumentsError
from prowess.lockfile.foreign.hashes import skills_hash
from prowess.lockfile.foreign.locale_order import UnknownOrderError
from prowess.lockfile.foreign.skills_locks import PROJECT_LOCK, ProjectEntry, render_skills_lock
from prowess.lockfile.places import read_lock, stored_tree
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile.lock import LockedSkill

_GITHUB = "https://github.com/"
_MODE = 0o644


class Exported(Struct, frozen=True, kw_only=True):
    """What was written to `path`: the names of the skills. `unmapped` are sentences about skills that were left out."""

    path: str
    skills: tuple[str, ...]
    unmapped: tuple[str, ...]


def export_lock(scope: InstallScope, path: str) -> Exported:
    """Write the lock of a scope to `path` as skills-lock.json. An existing file is replaced.

    Raises:
        InvalidArgumentsError: the file has another name.
        DistributionError: a skill is not in the store, or the order of its files' names is not known.
        LockfileError: the lock is no lock.
        OSError: the file was not written.
    """
    if os.path.basename(path) != PROJECT_LOCK:
        raise InvalidArgumentsError((f"{path}: a lock can be exported to a file with the name {PROJECT_LOCK}",))
    entries: dict[str, ProjectEntry] = {}
    unmapped = []
    lock = read_lock(scope.lock)
    for name in dict.fromkeys(skill.name for skill in lock.skills):
        *others, used = lock.named(name)
        unmapped += [f"skill {name!r} of {other.source}, because another copy is used" for other in others]
        entry = _entry(used, scope, os.path.dirname(os.path.abspath(path)))
        if entry is None:
            unmapped.append(f"skill {name!r} of {used.source}, because the client has no such source")
        else:
            entries[name] = entry
    write_atomically(path, render_skills_lock(entries), _MODE)
    return Exported(path=path, skills=tuple(sorted(entries)), unmapped=tuple(unmapped))


def _entry(skill: LockedSkill, scope: InstallScope, directory: str) -> ProjectEntry | None:
    reference = parse_reference(skill.source, base=scope.directory, has_version=False)
    place = "/".join(part for part in (reference.path, skill.path) if part)
    document = f"{place}/SKILL.md" if place else "SKILL.md"
    match reference.kind:
        case "git" if reference.location.startswith(_GITHUB):
            owner_and_name = reference.location.removeprefix(_GITHUB)
            found = ProjectEntry(source=owner_and_name, sourceType="github", ref=skill.commit, skillPath=document)
        case "git" if not reference.is_local:
            url = reference.location
            found = ProjectEntry(source=url, sourceUrl=url, sourceType="git", ref=skill.commit, skillPath=document)
        case "directory" if not has_index(reference.location):  # the client cannot install from a registry on disk
            found = ProjectEntry(source=reference.relative_to(directory), sourceType="local")
        case "npm":
            found = ProjectEntry(
                source=reference.location, sourceType="node_modules", skillPath=document, version=skill.version
            )
        case "index":
            url = reference.location
            found = ProjectEntry(source=url.partition("://")[2], sourceUrl=url, sourceType="well-known")
        case _:
            return None
    return found.with_hash(_hash(skill, scope))


def _hash(skill: LockedSkill, scope: InstallScope) -> str:
    if not SkillStore(scope.home).has(skill.tree, skill.name):
        raise DistributionError(f"skill {skill.name!r} is not in the store; run `prowess install`")
    try:
        return skills_hash(skill_files(stored_tree(scope.home, skill.tree, skill.name)))
    except UnknownOrderError as fault:
        raise DistributionError(f"skill {skill.name!r}: its hash depends on the order of names, and {fault}") from None
