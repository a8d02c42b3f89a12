"""The requirements that a skill on disk declares, as the resolver and the lock have them."""

from __future__ import annotations

from prowess.errors import DistributionError
from prowess.format.manifest.manifest_reader import read_sidecar
from prowess.format.manifest.requirements import requirements_of
from prowess.format.reading import read_frontmatter
from prowess.lockfile.requirement import Requirement


def declared_requirements(directory: str) -> tuple[Requirement, ...]:
    """Return the dependencies of a skill, sorted. Optional dependencies are left out: nothing installs them.

    Raises:
        DistributionError: a declaration cannot be read, so the dependencies are not known.
    """
    _, frontmatter, _ = read_frontmatter(directory)
    declared = requirements_of(frontmatter, read_sidecar(directory))
    if declared.problems:
        raise DistributionError(f"the dependencies of {frontmatter.name} cannot be read: {declared.problems[0]}")
    needed = {one for one in declared.skills if not one.optional}
    return tuple(sorted(Requirement(name=one.name, range=one.range, source=one.source) for one in needed))
