"""The requirements that a skill on disk declares, as the resolver and the lock have them."""

from __future__ import annotations

import os

from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.open_flags import READ
from prowess.errors import DistributionError
from prowess.format.limits import MANIFEST_FILE, MAX_DOCUMENT_BYTES
from prowess.format.manifest.manifest_reader import read_sidecar
from prowess.format.manifest.requirements import requirements_of
from prowess.format.reading import read_frontmatter
from prowess.lockfile.requirement import Requirement

_WORDS = (b"dependencies", b"toolhive", b"\\", b"\0")


def declared_requirements(directory: str) -> tuple[Requirement, ...]:
    """Return the dependencies of a skill, sorted. Optional dependencies are left out: nothing installs them.

    Raises:
        DistributionError: a declaration cannot be read, so the dependencies are not known.
    """
    if _has_no_declaration(directory):
        return ()
    _, frontmatter, _ = read_frontmatter(directory)
    declared = requirements_of(frontmatter, read_sidecar(directory))
    if declared.problems:
        raise DistributionError(f"the dependencies of {frontmatter.name} cannot be read: {declared.problems[0]}")
    needed = {one for one in declared.skills if not one.optional}
    return tuple(sorted(Requirement(name=one.name, range=one.range, source=one.source) for one in needed))


def _has_no_declaration(directory: str) -> bool:
    """Whether the skill certainly declares nothing: most do, and reading their front matter takes milliseconds.

    It has no manifest, and its front matter has none of the words, nor an escape that could spell them.
    """
    if os.path.lexists(f"{directory}/{MANIFEST_FILE}"):
        return False
    try:
        descriptor = os.open(f"{directory}/SKILL.md", READ)
    except OSError:
        return False
    try:
        data = read_at_most(descriptor, MAX_DOCUMENT_BYTES)
    finally:
        os.close(descriptor)
    end = data.find(b"\n---", 3)
    return data.startswith(b"---") and end > 0 and not any(data.find(word, 0, end) >= 0 for word in _WORDS)
