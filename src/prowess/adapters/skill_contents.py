"""Metadata, body and files of the skills in a catalog, for interfaces without sessions.

The bytes of a file are returned only if they have the hash that the file had when the skill was read. So all results
about a skill come from one state of the skill. A path can only name a regular file inside the named skill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.files.contained import check_relative
from prowess._internal.text.invisible import visible_value
from prowess.catalog.given_catalog import catalog_of
from prowess.errors import LimitExceededError, ResourceNotFoundError
from prowess.format.json_rendering import as_json
from prowess.runtime.activation.snapshots import Snapshots
from prowess.runtime.files.skill_files import MAX_FILE_BYTES, read_verified

if TYPE_CHECKING:
    import os

    from prowess.catalog import Catalog
    from prowess.format import Skill


class SkillContents:
    """Reads skills by name. Every method may read the disk and blocks. Files larger than `max_bytes` are refused.

    Raises, in every method that takes a name:
        SkillNotFoundError: the catalog has no such skill.
        UnavailableError, DigestChangedError: the skill is being written to.
        LimitExceededError: SKILL.md, or the file, is larger than `max_bytes`.
    """

    def __init__(self, catalog: Catalog | str | os.PathLike[str], *, max_bytes: int = MAX_FILE_BYTES) -> None:
        self._catalog, self._max_bytes = catalog_of(catalog), max_bytes

    def names(self) -> list[str]:
        """Scan the catalog again and return the names of the skills that models may use, sorted."""
        self._catalog.refresh()
        return sorted(entry.name for entry in self._catalog.entries() if not entry.extended.disable_model_invocation)

    def frontmatter(self, name: str) -> dict[str, object]:
        """Return the front matter as JSON values without invisible characters. Each call returns a new value."""
        written = as_json(self._skill(name).document)
        return {key: visible_value(value) for key, value in written.items()}

    def body(self, name: str) -> str:
        """Return the instructions."""
        return self._skill(name).body

    def paths(self, name: str) -> list[str]:
        """Return the paths of all regular files, including SKILL.md, sorted."""
        return sorted(file.path for file in self._skill(name).manifest.files)

    def below(self, name: str, directory: str) -> list[str]:
        """Return the sorted paths of files below a directory of the skill, relative to this directory."""
        prefix = f"{directory}/"
        return [path.removeprefix(prefix) for path in self.paths(name) if path.startswith(prefix)]

    def file(self, name: str, path: str, *, below: str | None = None) -> bytes:
        """Return the bytes of one file. With `below`, the path is relative to that directory of the skill.

        Raises:
            UnsafePathError: the path could leave the skill or `below`, or passes through a symbolic link.
            ResourceNotFoundError, NotAFileError: the path does not name a file.
        """
        check_relative(path)
        whole = path if below is None else f"{below}/{path}"
        taken = Snapshots(self._catalog).take(name)
        record = taken.source.manifest.find("/".join(check_relative(whole)))
        if record is not None:
            self._require_small(record.path, record.size)
        return read_verified(taken.skill, taken.source.manifest, whole).data

    def digest(self, name: str) -> str | None:
        """Return `sha256:` and 64 hex digits over all files; None if a symbolic link or special file is among them."""
        return self._skill(name).digest

    def _skill(self, name: str) -> Skill:
        skill = self._catalog.skill(name)
        document = skill.manifest.find(skill.location.rpartition("/")[2])
        if document is None:
            raise ResourceNotFoundError(name, "SKILL.md")
        self._require_small(document.path, document.size)
        return skill

    def _require_small(self, path: str, size: int) -> None:
        if size > self._max_bytes:
            raise LimitExceededError(f"bytes of {path!r}", self._max_bytes, size, "make the file smaller")
