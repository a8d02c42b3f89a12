"""An outline of a commit on disk: directories, SKILL.md and manifests, in which the catalog's readers find skills."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.contained import check_relative
from prowess._internal.files.open_flags import NEW_FILE
from prowess.catalog.sources.marketplace import MARKETPLACE_FILES
from prowess.catalog.sources.plugin_manifest import MANIFEST_FILES
from prowess.errors import DistributionError, UnsafePathError
from prowess.format.limits import MANIFEST_FILE

if TYPE_CHECKING:
    from prowess.distribution.sources.git.objects import GitObjects
    from prowess.distribution.sources.git.repository_tree import RepositoryTree

_NAMES = frozenset({"skill.md", MANIFEST_FILE.lower()})
_MANIFESTS = tuple(sorted({*MANIFEST_FILES, *MARKETPLACE_FILES}))
_MANIFEST_NAMES = frozenset(file.rpartition("/")[2] for file in _MANIFESTS)
_MAX_BYTES = 256 * 1024 * 1024  # of one outline


def write_outline(tree: RepositoryTree, objects: GitObjects, place: str) -> None:
    """Write the outline into the new directory `place`. A link to a directory of the tree is a link in the outline.

    Paths that could leave `place` are left out. A skill with such a path cannot be fetched.

    Raises:
        LimitExceededError: the files have too many bytes.
        DistributionError: the tree has a file and a directory with one name.
        OSError: the files cannot be written.
    """
    files = [path for path in tree.paths if _is_outlined(path) and path not in tree.links and _is_safe(path)]
    skills = {_parent(path) for path in files if path.endswith("SKILL.md")}
    directories = {directory for directory in tree.directories if not _is_inside(directory, skills)}
    try:
        made: set[str] = set()
        for directory in sorted(directories.union(map(_parent, files))):
            if directory == "" or _is_safe(directory):
                _make(place, directory, made)
        with closing(objects.read([tree.file(path).oid for path in files], most=_MAX_BYTES)) as contents:
            for path, data in zip(files, contents, strict=True):
                out = os.open(f"{place}/{path}", NEW_FILE, 0o600)
                try:
                    write_all(out, data)
                finally:
                    os.close(out)
    except (FileExistsError, NotADirectoryError) as fault:
        raise DistributionError(
            f"the commit has two entries with the path {os.path.relpath(fault.filename, place)!r}"
        ) from None
    for path in tree.links:  # last, so that nothing is written through a link
        real = tree.resolve(path)
        if real and real in made and _parent(path) in made and _is_safe(path):
            os.symlink(f"{place}/{real}", f"{place}/{path}")


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _is_outlined(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.lower() in _NAMES or (name in _MANIFEST_NAMES and path.endswith(_MANIFESTS))


def _is_safe(path: str) -> bool:
    try:
        return check_relative(path, "the repository") == tuple(path.split("/"))
    except UnsafePathError:
        return False


def _is_inside(directory: str, skills: set[str]) -> bool:
    """Whether a directory above this one is a skill. What is inside a skill matters only if it has a manifest."""
    while directory:
        directory = _parent(directory)
        if directory in skills:
            return True
    return False


def _make(place: str, directory: str, made: set[str]) -> None:
    """Create a directory, after those above it."""
    if directory not in made:
        if directory:
            _make(place, _parent(directory), made)
        os.mkdir(f"{place}/{directory}", 0o700)
        made.add(directory)
