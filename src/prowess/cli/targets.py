"""The skills that the paths of a command line mean."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.format.limits import MANIFEST_FILE, MAX_DOCUMENT_BYTES
from prowess.format.parsing import parse_source
from prowess.format.reading import document_at, locate
from prowess.format.skill_directories import find_skill_directories

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.format.document import SkillDocument

STANDARD_INPUT = "-"
_OF_A_SKILL = frozenset({"skill.md", MANIFEST_FILE})  # files that name the skill they lie in


class Target(Struct, frozen=True, kw_only=True):
    """One SKILL.md, and the path on the command line that led to it."""

    document: SkillDocument
    data: bytes
    named: str


def targets(paths: Sequence[str], stdin_path: str | None = None) -> Iterator[Target]:
    """Yield each SKILL.md that the paths of a command line name, once, in order, and say what was not looked at.

    A path is a skill, its SKILL.md or manifest, a folder of skills, or `-`; `stdin_path` is how standard input is
    called.

    Raises:
        click.UsageError: a path is not there, or is another file.
    """
    seen: set[str] = set()
    for path in paths:
        if path == STANDARD_INPUT:
            if path not in seen:
                seen.add(path)
                yield _from_standard_input(stdin_path)
            continue
        for directory in _directories(path):
            key = os.path.abspath(directory)  # a skill that two arguments name is checked once
            if key not in seen:
                seen.add(key)
                located = locate(directory, shown_as=os.path.normpath(directory))
                yield Target(document=document_at(located), data=located.data, named=path)


def _directories(path: str) -> tuple[str, ...]:
    if not os.path.lexists(path):
        raise click.UsageError(f"there is no {path!r}")
    if not os.path.isdir(path):
        if os.path.basename(path).lower() not in _OF_A_SKILL:
            raise click.UsageError(f"{path!r} is neither a directory nor a SKILL.md or its {MANIFEST_FILE}")
        return (os.path.dirname(path) or ".",)
    found = find_skill_directories(path)
    for note in found.notes:
        output.note(printable_line(note))
    return found.paths or (path,)  # a directory without any skill is reported as one that lacks its SKILL.md


def _from_standard_input(stdin_path: str | None) -> Target:
    data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
    directory = None if stdin_path is None else os.path.dirname(os.path.abspath(stdin_path))
    return Target(
        document=parse_source(data, path=stdin_path or "<stdin>", directory=directory), data=data, named=STANDARD_INPUT
    )
