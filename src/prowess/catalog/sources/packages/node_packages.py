"""Reads a node package with skills in `node_modules`: its name and version, and where its skills are.

Skills are directories with a SKILL.md in `.agents/skills/<name>/` (library-skills), `skills/<name>/` and up to two
directories of categories between them (pnpm, skills-npm, skillpm), and `dist/skills/<name>/` (the `skills` command).

A node package has no record of its files, so trust is bound to the hashes of the files of its skills. A package whose
real path has no directory `node_modules` is linked to a directory that its owner works on, such as a workspace.

Sources: pnpm, "Agent skills"; skills-npm, README; library-skills, "Create".
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot
from prowess.catalog.ownership import stranger
from prowess.catalog.sources.packages.package import FoundPackage
from prowess.catalog.sources.packages.skill_places import NODE_PLACES
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*\Z")
_MAX_NAME = 214  # npm
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,98}\Z")
_MAX_PACKAGE_JSON = 1024 * 1024
_MOST_SKILLS = 1000
_DEEPEST = {"skills": 3}  # levels from the place to a skill; 1 for the others


def read_node_package(folder: str, name: str) -> FoundPackage | None:
    """Return the package `name` of a `node_modules`, or None if it has no skills."""
    origin = f"{folder}/{name}"
    if _NAME.match(name) is None or len(name) > _MAX_NAME:
        return None  # no package can have this name
    real = os.path.realpath(origin)
    skills = tuple(_skills(real))
    if not skills:
        return None
    package = FoundPackage(kind="node", name=name, version="", root=real, origin=origin, skills=skills)
    found = _package_json(real)
    version = found.get("version")
    package.version = version if isinstance(version, str) and _VERSION.match(version) else ""
    package.reason = stranger(folder) or stranger(real)
    if found.get("name") != name:
        package.reason = package.reason or "its package.json is missing or has another name"
    if "node_modules" not in real.split(os.sep):
        package.origin = real
        package.folders = tuple(f"{real}/{place}" for place in NODE_PLACES if os.path.isdir(f"{real}/{place}"))
    return package


def _package_json(root: str) -> dict[str, object]:
    try:
        with ContainedRoot(root) as package, package.open("package.json", allow_hard_links=True) as file:
            data = file.read(_MAX_PACKAGE_JSON + 1)
        found = json.loads(data[: _MAX_PACKAGE_JSON + 1].decode("utf-8-sig"))
    except (OSError, UnsafePathError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _skills(root: str) -> Iterator[str]:
    """Yield the directories of skills, relative to the package. Links are not followed."""
    left = _MOST_SKILLS
    for place in NODE_PLACES:
        if os.path.realpath(f"{root}/{place}") != f"{root}/{place}":
            continue  # a link, or missing
        for skill in _below(root, place, _DEEPEST.get(place, 1)):
            if left <= 0:
                return
            left -= 1
            yield skill


def _below(root: str, directory: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(f"{root}/{directory}") as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))[:_MOST_SKILLS]
    except OSError:
        return
    for name in names:
        path = f"{directory}/{name}"
        if os.path.lexists(f"{root}/{path}/SKILL.md"):
            yield path
        elif depth > 1:
            yield from _below(root, path, depth - 1)
