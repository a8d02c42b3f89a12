"""The files of a package as they were recorded: their hashes, and reading that compares each file with its hash.

The record is the RECORD of a Python distribution, or the hashes that a person trusted for a node package. Bytes that
have the recorded hash are the same wherever else the file has a name, so a second hard link is no fault: installers
such as uv link files from their cache.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.file_mark import mark_of
from prowess._internal.files.tree_digest import FileRecord, KeptFile, TreeManifest, TreeReading, is_left_out
from prowess.catalog.faults import fault
from prowess.errors import SkillParseError, UnsafePathError
from prowess.format.limits import MANIFEST_FILE, MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE = "catalog.package"
DOCUMENT = "SKILL.md"
_COMPILED = "__pycache__"  # installers record compiled files without a hash


class RecordedFiles:
    """The recorded files of one package: SHA-256 (lower-case hex) by path, relative to the directory `root`.

    `package` is the name and version in messages.
    """

    __slots__ = ("_hashes", "_package", "root")

    def __init__(self, package: str, root: str, hashes: Mapping[str, str]) -> None:
        self._package = package
        self.root = root
        self._hashes = hashes

    def skill_hashes(self, relative: str) -> dict[str, str]:
        """Return the recorded files of the skill in `relative` by their path in the skill."""
        lead = f"{relative}/" if relative else ""
        return {path[len(lead) :]: digest for path, digest in self._hashes.items() if path.startswith(lead)}

    def read_document(self, relative: str, *, compare: bool = True) -> tuple[TreeReading, os.stat_result] | str:
        """Read SKILL.md and the manifest of a skill, or return why they are not as they were recorded.

        With `compare=False` SKILL.md alone is read, whatever it contains, for a skill that is not offered.
        """
        kept: dict[str, KeptFile] = {}
        records: list[FileRecord] = []
        found: os.stat_result | None = None
        try:
            with ContainedRoot(self.root) as root:
                for name in (DOCUMENT, MANIFEST_FILE) if compare else (DOCUMENT,):
                    path = f"{relative}/{name}" if relative else name
                    if (recorded := self._hashes.get(path)) is None and compare:
                        if name == DOCUMENT:
                            return f"{self._package} recorded no hash of {name}"
                        continue
                    with root.open(path, allow_hard_links=True) as file:
                        if file.size > MAX_DOCUMENT_BYTES:
                            return f"{name} is larger than {MAX_DOCUMENT_BYTES} bytes"
                        data = file.read(MAX_DOCUMENT_BYTES + 1)
                        found = found or file.stat
                        digest = hashlib.sha256(data).hexdigest()
                        if compare and digest != recorded:
                            return f"{name} is not the file that {self._package} recorded"
                        kept[name] = KeptFile(data=data, mark=mark_of(file.stat))
                        records.append(
                            FileRecord(
                                path=name,
                                executable=bool(file.stat.st_mode & stat.S_IXUSR),
                                size=len(data),
                                sha256=digest,
                            )
                        )
        except FileNotFoundError:
            return f"{name} is missing, and {self._package} recorded it"
        except UnsafePathError as refused:
            return f"{name} is not read: {refused.reason}"
        except OSError as refused:
            return f"{name} cannot be read ({os.strerror(refused.errno or 0)})"
        assert found is not None, "SKILL.md was read"  # noqa: S101 -- proves it to mypy
        return TreeReading(manifest=TreeManifest(files=tuple(records)), stamp=None, kept=kept), found

    def compared(self, directory: str, reading: TreeReading) -> TreeReading:
        """Compare every file of the skill in the real `directory` with the record. Return the recorded files.

        `reading` must be made with `allow_hard_links`.

        Raises:
            SkillParseError: a file differs from the record, is not in it, is missing, or is not a regular file.
        """
        relative = os.path.relpath(directory, self.root)
        recorded = self.skill_hashes("" if relative == "." else relative)
        files = tuple(file for file in reading.manifest.files if not _is_left_out(file.path))
        obstacles = [path for path in reading.manifest.obstacles if not _is_left_out(path)]
        if obstacles:
            raise self._refusal(directory, obstacles[0], "is not a regular file that can be read")
        for file in files:
            if (digest := recorded.pop(file.path, None)) is None:
                raise self._refusal(directory, file.path, f"was not recorded with a hash by {self._package}")
            if digest != file.sha256:
                raise self._refusal(directory, file.path, f"is not the file that {self._package} recorded")
        if missing := sorted(path for path in recorded if not _is_left_out(path)):
            raise self._refusal(directory, missing[0], f"is missing, and {self._package} recorded it")
        manifest = TreeManifest(files=files, is_recorded=True)
        return TreeReading(manifest=manifest, stamp=reading.stamp, kept=reading.kept)

    @staticmethod
    def _refusal(directory: str, path: str, problem: str) -> SkillParseError:
        message = f"{path} {problem}; install the package again"
        found = fault(RULE, f"{directory}/{path}", message, skill=directory.rpartition("/")[2])
        return SkillParseError(message, found.location, (found,))


def _is_left_out(path: str) -> bool:
    """Return whether a file is no part of the skill, because it is compiled or covered by no digest."""
    return _COMPILED in path.split("/") or is_left_out(path)
