"""Where files of settings are looked for: from the working directory up to the root of its repository, then at home.

What lies inside a skill is never a setting: a skill comes from somewhere, and must not decide how it is judged.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.config.settings_file import read_settings_file
from prowess.errors import ConfigurationError
from prowess.format.limits import FILE_NAMES as SKILL_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.config.settings_file import SettingsFile

OWN_FILE, SHARED_FILE, USER_FILE = "prowess.toml", "pyproject.toml", "config.toml"


class ProjectFile(Struct, frozen=True, kw_only=True):
    """The file of the project, None where there is none, and remarks about those that were passed over."""

    file: SettingsFile | None
    notices: tuple[str, ...]


def project_file(start: str) -> ProjectFile:
    """Look for the nearest file, from the directory `start` up to the root of its repository; without one, there alone.

    Raises:
        ConfigurationError: the file cannot be read or has faults, or one directory has two.
    """
    notices = []
    for directory in _upwards(os.path.realpath(start)):
        paths = [path for name in (OWN_FILE, SHARED_FILE) if os.path.lexists(path := os.path.join(directory, name))]
        if not paths:
            continue
        inside = {path: skill_around(path) for path in paths}
        if any(inside.values()):
            notices += [
                f"{path} is not read: it lies inside the skill {skill}"
                for path, skill in inside.items()
                if skill and (os.path.basename(path) == OWN_FILE or _says_something(path))
            ]
            continue
        found = [file for path in paths if (file := _read(path)) is not None]
        if len(found) > 1:
            raise ConfigurationError(
                (f"{directory} has settings in {OWN_FILE} and in [tool.prowess] of {SHARED_FILE}; keep them in one",)
            )
        if found:
            return ProjectFile(file=found[0], notices=tuple(notices))
    return ProjectFile(file=None, notices=tuple(notices))


def _upwards(start: str) -> Iterator[str]:
    """Yield a directory and those above it up to the root of its repository; without one, the directory alone.

    `start` is absolute, links resolved.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        above = os.path.dirname(chain[-1])
        if above == chain[-1]:
            yield start
            return
        chain.append(above)
    yield from chain


def skill_around(path: str) -> str | None:
    """Return the real path of the outermost skill that a file lies in, links followed; None where it lies in none."""
    outermost = None
    here = os.path.dirname(os.path.realpath(path))
    while True:
        if any(os.path.lexists(os.path.join(here, name)) for name in SKILL_FILES):
            outermost = here
        above = os.path.dirname(here)
        if above == here:
            return outermost
        here = above


def _says_something(path: str) -> bool:
    try:
        return _read(path) is not None
    except ConfigurationError:
        return True  # not obeyed either way


def _read(path: str) -> SettingsFile | None:
    return read_settings_file(path, kind="project")
