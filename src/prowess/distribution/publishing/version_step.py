"""Whether the step to a new version is as large as the change asks for.

Removed files, and other tools, scripts' names or dependencies ask for a major step, because a user who updates may have
to act. New files and another description ask for a minor one, and everything else for a patch. Below 1.0.0 each step
counts as the next larger one.
"""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from prowess.distribution.publishing.package import read_package
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.lockfile.version_ranges import compare, is_semantic, newest_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.publishing.directory_registry import DirectoryRegistry
    from prowess.distribution.publishing.package import SkillPackage

_STEPS = ("patch", "minor", "major")


def version_warnings(packages: Sequence[SkillPackage], registry: DirectoryRegistry) -> tuple[str, ...]:
    """Return a sentence for each skill whose step from the version before is too small."""
    entries = registry.entries()
    warnings: list[str] = []
    for package in packages:
        entry = entries.get(package.name)
        known = () if entry is None else tuple(artifact.version for artifact in entry.artifacts)
        before = _before(package.version, known)
        if entry is None or before is None or package.version is None or package.version in known:
            continue
        artifact = next(artifact for artifact in entry.artifacts if artifact.version == before)
        with TemporaryDirectory() as place:
            unpack_archive(registry.read(artifact), place, package.name, what=artifact.url, digest=artifact.digest)
            old = read_package(os.path.join(place, package.name))
        needed, reason = _needed(old, package)
        given = _given(before, package.version)
        if _STEPS.index(given) < _STEPS.index(needed):
            warnings.append(
                f"{package.name}: from {before} to {package.version} is a {given} step, but {reason}, "
                f"which asks for a {needed} step"
            )
    return tuple(warnings)


def _before(version: str | None, known: Sequence[str | None]) -> str | None:
    """Return the highest known version below this one."""
    if not is_semantic(version):
        return None
    lower = [each for each in known if each is not None and is_semantic(each) and compare(each, version or "") < 0]
    return next(iter(newest_first(lower)), None)


def _needed(old: SkillPackage, new: SkillPackage) -> tuple[str, str]:
    paths = {file.path for file in old.contents.files}, {file.path for file in new.contents.files}
    if removed := sorted(paths[0] - paths[1]):
        return "major", f"{removed[0]} was removed"
    if old.allowed_tools != new.allowed_tools:
        return "major", "allowed-tools changed"
    if old.requires != new.requires:
        return "major", "the dependencies changed"
    if added := sorted(paths[1] - paths[0]):
        return "minor", f"{added[0]} is new"
    if old.description != new.description:
        return "minor", "the description changed"
    return "patch", ""


def _given(before: str, version: str) -> str:
    old, new = ([*text.partition("+")[0].partition("-")[0].split("."), "0", "0"][:3] for text in (before, version))
    step = "major" if old[0] != new[0] else "minor" if old[1] != new[1] else "patch"
    return _STEPS[min(_STEPS.index(step) + (new[0] == "0"), 2)]
