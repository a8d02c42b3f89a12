"""What a fetched copy of a skill states about itself, beside what its source stated."""

from __future__ import annotations

import shutil

from prowess.diagnostics import Severity
from prowess.errors import DistributionError
from prowess.format.reading import read_frontmatter


def version_of_copy(directory: str, name: str, promised: str | None, what: str) -> str | None:
    """Return the version of a copy: that of the source, else `metadata.version` of the skill.

    Raises:
        DistributionError: the copy is not the skill `name`. The copy was removed.
    """
    try:
        return _version(directory, name, promised, what)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _version(directory: str, name: str, promised: str | None, what: str) -> str | None:
    _, frontmatter, diagnostics = read_frontmatter(directory)
    fault = next((found for found in diagnostics if found.severity is Severity.ERROR), None)
    if fault is not None:
        raise DistributionError(f"{what} has no skill that can be loaded: {fault.message}")
    if frontmatter.name != name:
        raise DistributionError(f"{what} is not the skill {name!r}: its SKILL.md has the name {frontmatter.name!r}")
    return promised or frontmatter.metadata.get("version", "").strip() or None
