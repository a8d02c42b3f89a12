"""A skill that is ready to be packed and published: what it states about itself, and all its files."""

from __future__ import annotations

import datetime as dt
import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.tree_digest import SIGNATURE_FILE
from prowess.distribution.publishing.packing import PackedSkill, read_skill_files
from prowess.distribution.resolution.declared import declared_requirements
from prowess.distribution.signatures import verify_skill
from prowess.errors import DistributionError, InvalidSkillError, SignatureError
from prowess.format.reading import read_skill
from prowess.policy.packages.trusted_publishers import trust_in_publishers
from prowess.signing.verification import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.skill import Skill

    Check = Callable[[Sequence[str]], Sequence[Diagnostic]]


class SkillPackage(Struct, frozen=True, kw_only=True):
    """A skill as it is published. `version` is `metadata.version`, None if the skill has none.

    `requires` has the text form of `prowess.lockfile.requirement`. `allowed_tools` is None if the skill restricts none.
    """

    name: str
    version: str | None
    description: str
    requires: tuple[str, ...]
    allowed_tools: tuple[str, ...] | None
    contents: PackedSkill

    @property
    def stem(self) -> str:
        """Name and version for file names and messages: `pdf-1.2.0`, or `pdf`."""
        return self.name if self.version is None else f"{self.name}-{self.version}"


def read_package(directory: str) -> SkillPackage:
    """Read a skill with all its files.

    Raises:
        SkillParseError: it cannot be loaded.
        DistributionError: its declared dependencies cannot be read.
        UnsafePathError, LimitExceededError, IntegrityError: see `read_skill_files`.
    """
    skill = read_skill(directory)
    tools = skill.frontmatter.allowed_tools
    return SkillPackage(
        name=skill.name,
        version=version_of(skill),
        description=skill.description,
        requires=tuple(map(str, declared_requirements(directory))),
        allowed_tools=None if tools is None else tuple(sorted(str(tool) for tool in tools)),
        contents=read_skill_files(skill.root_dir),
    )


def read_checked_packages(directories: Sequence[str], check: Check) -> list[SkillPackage]:
    """Read skills that are to be published or deployed together. `check` returns their errors.

    Raises:
        InvalidSkillError: `check` returned errors.
        DistributionError: two of the skills have one name.
        SignatureError: the signature in a skill does not fit the files, so that nobody could install it.
        SkillError: as `read_package`.
    """
    if errors := tuple(check(directories)):
        raise InvalidSkillError(errors)
    packages = [read_package(directory) for directory in directories]
    names = [package.name for package in packages]
    for name in names:
        if names.count(name) > 1:
            raise DistributionError(f"two of these skills have the name {name!r}; name one of them")
    signed = [directory for directory in directories if os.path.lexists(os.path.join(directory, SIGNATURE_FILE))]
    if signed:
        _require_signatures(signed)
    return packages


def _require_signatures(directories: Sequence[str]) -> None:
    verifier = Verifier(trust_in_publishers(), dt.datetime.now(dt.UTC))
    for directory in directories:
        verdict = verify_skill(directory, verifier)
        if verdict.status in {"changed", "invalid"} or not verdict.covers:
            advice = f"sign it again with `prowess sign`, or remove {SIGNATURE_FILE}"
            raise SignatureError(directory, f"{verdict.reason}; {advice}")


def version_of(skill: Skill) -> str | None:
    """Return `metadata.version`, or None."""
    return skill.frontmatter.metadata.get("version", "").strip() or None
