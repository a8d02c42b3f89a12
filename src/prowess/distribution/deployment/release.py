"""One release: the skills that every host has after it. It is the content of the signed targets metadata of TUF.

Each target is the archive of one skill, `<name>.tar.gz`, with name, version and tree digest in its `custom` field. The
version of the metadata is the number of the release. One more target, `index.json`, is the index of a registry that is
in the same directory: it names every published artifact with its digest, and hosts do not take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from prowess._internal.text.canonical_json import is_digest
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.distribution.sources.http.client import MAX_DOCUMENT
from prowess.distribution.sources.index.document import is_index_name
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from tuf.api.metadata import TargetFile, Targets

_MOST_SKILLS = 10_000
INDEX_TARGET = "index.json"


class ReleasedSkill(Struct, frozen=True, kw_only=True):
    """One skill of a release. `artifact` is the SHA-256 of its archive, 64 hexadecimal digits; `size` in bytes.

    With `environments`, only hosts in one of them have it. A `deprecated` skill may name the `successor` to use.
    """

    name: str
    version: str | None = None
    tree: str
    artifact: str
    size: int
    environments: tuple[str, ...] = ()
    deprecated: bool = False
    successor: str | None = None

    @property
    def target(self) -> str:
        """The path of its archive in the metadata."""
        return f"{self.name}.tar.gz"

    @property
    def file(self) -> str:
        """The path of its archive below `targets/`: with the digest, so that it never changes."""
        return f"{self.artifact}.{self.target}"


class ReleasedIndex(Struct, frozen=True, kw_only=True):
    """The index of published skills. `sha256` has 64 hexadecimal digits; `size` is in bytes."""

    sha256: str
    size: int

    @property
    def file(self) -> str:
        """The path below `targets/`: with the digest, so that it never changes."""
        return f"{self.sha256}.{INDEX_TARGET}"


class SkillRelease(Struct, frozen=True, kw_only=True):
    """A numbered set of skills, sorted by name. `index` is None if no skills are published beside it."""

    number: int
    skills: tuple[ReleasedSkill, ...] = ()
    index: ReleasedIndex | None = None

    def of_environment(self, environment: str | None) -> SkillRelease:
        """Return the release with the skills that a host in this environment has; None if it is in none."""
        kept = tuple(one for one in self.skills if not one.environments or environment in one.environments)
        return self if len(kept) == len(self.skills) else replace(self, skills=kept)

    def find(self, name: str) -> ReleasedSkill | None:
        """Return the skill with this name, or None."""
        return next((skill for skill in self.skills if skill.name == name), None)


class _Custom(Struct, frozen=True, kw_only=True):
    name: str
    tree: str
    version: str | None = None
    environments: tuple[str, ...] = ()
    deprecated: bool = False
    successor: str | None = None


def release_of(targets: Targets) -> SkillRelease:
    """Read a release from verified metadata.

    Raises:
        DistributionError: the metadata is signed, but it is no release of skills.
    """
    if targets.delegations is not None or len(targets.targets) > _MOST_SKILLS:
        raise DistributionError(f"release {targets.version} delegates to other keys, or has too many skills")
    skills = [_skill(path, target) for path, target in targets.targets.items() if path != INDEX_TARGET]
    listed = targets.targets.get(INDEX_TARGET)
    return SkillRelease(
        number=targets.version,
        skills=tuple(sorted(skills, key=lambda skill: skill.name)),
        index=None if listed is None else _index(listed),
    )


def _index(target: TargetFile) -> ReleasedIndex:
    digest = target.hashes.get("sha256", "")
    if set(target.hashes) != {"sha256"} or not is_digest(f"sha256:{digest}") or target.length > MAX_DOCUMENT:
        raise DistributionError(f"the target {INDEX_TARGET!r} of the release is no index of skills")
    return ReleasedIndex(sha256=digest, size=target.length)


def _skill(path: str, target: TargetFile) -> ReleasedSkill:
    try:
        custom = convert(target.unrecognized_fields.get("custom"), _Custom)
    except ValidationError:
        raise DistributionError(f"the target {path!r} of the release is no skill") from None
    artifact = target.hashes.get("sha256", "")
    skill = ReleasedSkill(
        name=custom.name,
        version=custom.version,
        tree=custom.tree,
        artifact=artifact,
        size=target.length,
        environments=custom.environments,
        deprecated=custom.deprecated,
        successor=custom.successor,
    )
    has_digests = is_digest(custom.tree) and set(target.hashes) == {"sha256"}
    if not is_index_name(skill.name) or path != skill.target or not has_digests or target.length > MAX_PACKED:
        raise DistributionError(f"the target {path!r} of the release is no skill")
    return skill


def targets_of(release: SkillRelease) -> dict[str, TargetFile]:
    """Return a release in the form of the metadata."""
    from tuf.api.metadata import TargetFile  # of the extra

    index = release.index
    listed = {} if index is None else {INDEX_TARGET: TargetFile(index.size, {"sha256": index.sha256}, INDEX_TARGET)}
    return listed | {
        skill.target: TargetFile(
            skill.size,
            {"sha256": skill.artifact},
            skill.target,
            {"custom": {"name": skill.name, "tree": skill.tree, "version": skill.version, **_labels(skill)}},
        )
        for skill in release.skills
    }


def _labels(skill: ReleasedSkill) -> dict[str, object]:
    """Return the labels that are set: without them, the metadata is as before there were any."""
    found: dict[str, object] = {"environments": list(skill.environments)} if skill.environments else {}
    if skill.deprecated:
        found |= {"deprecated": True, "successor": skill.successor}
    return found
