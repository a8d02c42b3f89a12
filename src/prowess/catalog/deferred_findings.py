"""Findings on skills that the plain reader took: the full parser finds them when they are requested."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.format.limits import MANIFEST_FILE

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeReading
    from prowess.catalog.memo.readings import Reading
    from prowess.diagnostics import Diagnostic
    from prowess.format.skill import Frontmatter


class DeferredFindings:
    """The findings on a skill that the plain reader took. The full parser finds them when they are requested.

    `directory` is the real path of the skill. The findings are about the front matter in `reading`, at the time of the
    scan.
    """

    __slots__ = ("_found", "directory", "reading")

    def __init__(self, directory: str, reading: Reading) -> None:
        self.directory = directory
        self.reading = reading
        self._found: tuple[Diagnostic, ...] | None = None

    def found(self) -> tuple[Diagnostic, ...]:
        """Return the findings: one or more warnings."""
        if self._found is None:
            source = self.reading.facts
            self._found = full_reading(self.directory, source=source)[2] if isinstance(source, bytes) else ()
        return self._found

    def files(self) -> set[str | None]:
        """Return the paths of the files with findings. The front matter is parsed only if there is a manifest too."""
        if os.path.lexists(f"{self.directory}/{MANIFEST_FILE}"):
            return {found.location.path for found in self.found()}
        return {f"{self.directory}/SKILL.md"}

    def __eq__(self, other: object) -> bool:
        """Whether both are about one state of one front matter."""
        if not isinstance(other, DeferredFindings):
            return NotImplemented
        return self.directory == other.directory and self.reading.facts == other.reading.facts

    def __hash__(self) -> int:
        """Return a hash of the directory."""
        return hash(self.directory)


def full_reading(
    directory: str, files: TreeReading | None = None, *, source: bytes | None = None
) -> tuple[str, Frontmatter, tuple[Diagnostic, ...]]:
    """Read a skill with the full parser: see `read_frontmatter`."""
    # Imported here: many collections of skills never need the full parser.
    from prowess.format.reading import read_frontmatter

    return read_frontmatter(directory, files, source=source)
