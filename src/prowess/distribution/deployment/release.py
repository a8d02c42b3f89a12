"""One release: the skills that every host has after it. It is the content of the signed targets metadata of TUF.

Each target is the archive of one skill, `<name>.tar.gz`, with name, version and tree digest in its `custom` field. The
version of the metadata is the number of the release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, ValidationError, convert

from prowess._internal.text.canonical_json import is_digest
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.distribution.sources.index.document import is_index_name
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from tuf.api.metadata import TargetFile, Targets

_MOST_SKILLS = 10_000


class ReleasedSkill(Struct, frozen=True, kw_only=True):
    """One skill of a release. `artifact` is the SHA-256 of its archive, 64 hexadecimal digits; `size` in bytes."""

    name: str
    version: str | None = None
    tree: str
    artifact: str
    size: int

    @property
    def target(self) -> str:
        """The path of its archive in the metadata."""
        return f"{self.name}.tar.gz"

    @property
    def file(self) -> str:
        """The path of its archive below `targets/`: with the digest, so that it never changes."""
        return f"{self.artifact}.{self.target}"


class SkillRelease(Struct, frozen=True, kw_only=True):
    """A numbered set of skills, sorted by name."""

    number: int
    skills: tuple[ReleasedSkill, ...] = ()

    def find(self, name: str) -> ReleasedSkill | None:
        """Return the skill with this name, or None."""
        return next((skill for skill in self.skills if skill.name == name), None)


class _Custom(Struct, frozen=True, kw_only=True):
    name: str
    tree: str
    version: str | None = None


def release_of(targets: Targets) -> SkillRelease:
    """Read a release from verified metadata.

    Raises:
        DistributionError: the metadata is signed, but it is no release of skills.
    """
    if targets.delegations is not None or len(targets.targets) > _MOST_SKILLS:
        raise DistributionError(f"release {targets.version} delegates to other keys, or has too many skills")
    skills = [_skill(path, target) for path, target in targets.targets.items()]
    return SkillRelease(number=targets.version, skills=tuple(sorted(skills, key=lambda skill: skill.name)))


def _skill(path: str, target: TargetFile) -> ReleasedSkill:
    try:
        custom = convert(target.unrecognized_fields.get("custom"), _Custom)
    except ValidationError:
        raise DistributionError(f"the target {path!r} of the release is no skill") from None
    artifact = target.hashes.get("sha256", "")
    skill = ReleasedSkill(
        name=custom.name, version=custom.version, tree=custom.tree, artifact=artifact, size=target.length
    )
    has_digests = is_digest(custom.tree) and set(target.hashes) == {"sha256"}
    if not is_index_name(skill.name) or path != skill.target or not has_digests or target.length > MAX_PACKED:
        raise DistributionError(f"the target {path!r} of the release is no skill")
    return skill


def targets_of(release: SkillRelease) -> dict[str, TargetFile]:
    """Return a release in the form of the metadata."""
    from tuf.api.metadata import TargetFile  # of the extra

    return {
        skill.target: TargetFile(
            skill.size,
            {"sha256": skill.artifact},
            skill.target,
            {"custom": {"name": skill.name, "tree": skill.tree, "version": skill.version}},
        )
        for skill in release.skills
    }
