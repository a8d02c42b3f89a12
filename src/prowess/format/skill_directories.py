"""Find the skills below a directory, for commands that take a folder of skills.

A directory with a SKILL.md, in any letter case, is a skill. Its subdirectories are part of the skill and are not
searched. The walk is sorted and bounded, enters each real directory once, and skips `.git` and `node_modules`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.limits import FILE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 64
MAX_DIRECTORIES = 200_000
_PASSED_OVER = frozenset({".git", "node_modules"})


class SkillDirectories(Struct, frozen=True, kw_only=True):
    """The directories found, as paths that begin with the searched path, and notes about directories not searched."""

    paths: tuple[str, ...]
    notes: tuple[str, ...]


def find_skill_directories(root: str) -> SkillDirectories:
    """Return `root` itself if it is a skill, otherwise the skills below it. Unreadable directories give a note."""
    notes: list[str] = []
    return SkillDirectories(paths=tuple(_walk(root, notes)), notes=tuple(notes))


def _walk(root: str, notes: list[str]) -> Iterator[str]:
    waiting = [(root, 0)]
    entered: set[tuple[int, int]] = set()
    while waiting:
        directory, depth = waiting.pop()
        try:
            identity = os.stat(directory)
            if (identity.st_dev, identity.st_ino) in entered:
                continue
            entered.add((identity.st_dev, identity.st_ino))
            with os.scandir(directory) as entries:
                found = sorted(((entry.name, _is_directory(entry)) for entry in entries), reverse=True)
        except OSError as fault:
            notes.append(f"{directory} cannot be read: {fault.strerror}")
            continue
        if any(name.lower() == "skill.md" for name, _ in found):
            yield directory
            continue
        below = [name for name, is_directory in found if is_directory and name not in _PASSED_OVER]
        if below and depth == MAX_DEPTH:
            notes.append(f"{directory} is {MAX_DEPTH} levels deep; its subdirectories were not searched")
        elif len(entered) + len(waiting) + len(below) > MAX_DIRECTORIES:
            notes.append(f"more than {MAX_DIRECTORIES} directories; {directory} was not searched")
        else:
            waiting += [(os.path.join(directory, name), depth + 1) for name in below]


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # an entry that cannot be examined (a link to itself) must not end the search
        return False


def skill_around(path: str) -> str | None:
    """Return the real path of the outermost skill that contains a file, or None. Symbolic links are followed."""
    outermost = None
    here = os.path.dirname(os.path.realpath(path))
    while True:
        if any(os.path.lexists(os.path.join(here, name)) for name in FILE_NAMES):
            outermost = here
        above = os.path.dirname(here)
        if above == here:
            return outermost
        here = above
