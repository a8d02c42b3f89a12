"""The skills that the paths on a command line select."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.format.limits import FILE_NAMES, MANIFEST_FILE, MAX_DOCUMENT_BYTES
from prowess.format.parsing import parse_source
from prowess.format.reading import document_at, locate
from prowess.format.skill_directories import find_skill_directories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.format.document import SkillDocument

STANDARD_INPUT = "-"
_OF_A_SKILL = frozenset({"skill.md", MANIFEST_FILE})  # files that select the skill they are in


class Target:
    """One SKILL.md to check. It is read on first use.

    `named` is the path on the command line that selected this target. `path` is the skill's directory as the user wrote
    it. `directory` is the absolute path, or None for standard input without a path.
    """

    def __init__(
        self, *, path: str, directory: str | None, named: str, read: Callable[[], tuple[SkillDocument, bytes]]
    ) -> None:
        self.path, self.directory, self.named = path, directory, named
        self._read = read

    def read(self) -> SkillDocument:
        """Return the document, read once and then kept."""
        return self._found[0]

    def fixed(self, document: SkillDocument) -> Target:
        """Return a copy of this target with a document that has been fixed."""
        return Target(path=self.path, directory=self.directory, named=self.named, read=lambda: (document, self.data))

    @property
    def data(self) -> bytes:
        """The bytes of the document as they were read."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[SkillDocument, bytes]:
        return self._read()


def skill_target(directory: str, path: str, named: str) -> Target:
    """Return the target for a skill's directory."""

    def read() -> tuple[SkillDocument, bytes]:
        located = locate(directory, shown_as=path)
        return document_at(located), located.data

    return Target(path=path, directory=directory, named=named, read=read)


def targets(paths: Sequence[str], stdin_path: str | None = None) -> Iterator[Target]:
    """Yield each SKILL.md that the paths of a command line select, once, in order.

    A path is a skill, its SKILL.md or manifest, a folder of skills, or `-`. `stdin_path` is the path to report for
    standard input. Directories that were not searched are reported on standard error.

    Raises:
        click.UsageError: a path does not exist, or is a file other than a SKILL.md or a manifest.
    """
    seen: set[str] = set()
    for path in paths:
        if path == STANDARD_INPUT:
            if path not in seen:
                seen.add(path)
                yield _from_standard_input(stdin_path)
            continue
        for directory in _directories(path):
            key = os.path.abspath(directory)  # a skill that two arguments select is checked once
            if key not in seen:
                seen.add(key)
                yield skill_target(key, os.path.normpath(directory), path)


def _directories(path: str) -> tuple[str, ...]:
    if not os.path.lexists(path):
        raise click.UsageError(f"{path!r} does not exist")
    if not os.path.isdir(path):
        if os.path.basename(path).lower() not in _OF_A_SKILL:
            raise click.UsageError(f"{path!r} is neither a directory nor a SKILL.md or its {MANIFEST_FILE}")
        return (os.path.dirname(path) or ".",)
    found = find_skill_directories(path)
    for note in found.notes:
        output.note(printable_line(note))
    return found.paths or (path,)  # a directory without a skill is reported as a skill without SKILL.md


def _from_standard_input(stdin_path: str | None) -> Target:
    directory = None if stdin_path is None else os.path.dirname(os.path.abspath(stdin_path))

    def read() -> tuple[SkillDocument, bytes]:
        data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
        return parse_source(data, path=stdin_path or "<stdin>", directory=directory), data

    return Target(path=os.path.dirname(stdin_path or "") or ".", directory=directory, named=STANDARD_INPUT, read=read)


def is_folder_of_skills(path: str) -> bool:
    """Whether a path selects all the skills below it instead of one skill."""
    return os.path.isdir(path) and not any(os.path.lexists(os.path.join(path, name)) for name in FILE_NAMES)
