"""The directories to watch for one catalog, and which changes in them can matter."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from prowess.catalog.trust import TrustStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.catalog.catalog import Catalog

_DOCUMENT = "skill.md"  # in lower case; other spellings are reported, so they matter too
_MOST_LINKS = 40  # the limit of Linux


class WatchedPlaces:
    """Directories to watch, from those that tell most to those that tell least.

    - `above`: directories on the way to a root, with the names whose changes matter. So a root is noticed if it is
      made, removed, exchanged, or reached through another link.
    - `searched`: directories that the catalog searched. New, renamed and removed skills are noticed there.
    - `skills`: directories with a SKILL.md, for edits of this file.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.above: dict[str, set[str]] = {}
        scan = catalog.last_scan
        self.searched = set() if scan is None else set(scan.searched)
        self.skills = set() if scan is None else set(scan.skills)
        for source in catalog.every_source:
            self._reach(source.named)
            self.searched.add(source.root)
            manifests: Iterable[str] = getattr(source, "manifests", ())
            for manifest in manifests:
                self._reach(manifest)
        if any(source.project is not None for source in catalog.every_source):
            self._reach(TrustStore().path)
        for link in () if scan is None else scan.links:
            self._reach(link)
        for found in catalog.diagnostics:
            if (path := found.location.path) is not None and os.path.isabs(path):
                self._reach(path)
                self.skills.update((path, os.path.dirname(path)))
        self.skills -= self.searched

    def in_order(self) -> Iterator[str]:
        """Yield each directory once, those first that should be watched if there are too many."""
        yield from sorted(self.above.keys() | self.searched)
        yield from sorted(self.skills - self.above.keys())

    def matters(self, path: str) -> bool:
        """Whether a change of `path`, a directory to watch or an entry of one, may change the catalog."""
        if path in self.searched or path in self.skills:
            return True
        parent, _, name = path.rpartition("/")
        parent = parent or "/"
        if name in self.above.get(parent, ()) or (name.lower() == _DOCUMENT and parent in self.skills):
            return True
        return parent in self.searched and (name.lower() == _DOCUMENT or not _is_other_file(path))

    def _reach(self, path: str) -> None:
        """Add the directories whose entries decide where `path` leads: those above it and those of links on the way."""
        pending = [part for part in reversed(path.split("/")) if part]
        here, links = "/", 0
        while pending:
            name = pending.pop()
            if name == "..":
                here = os.path.dirname(here)
                continue
            self.above.setdefault(here, set()).add(name)
            below = os.path.join(here, name)
            try:
                target = os.readlink(below)
            except OSError:
                if not os.path.isdir(below):
                    return
                here = below
                continue
            links += 1
            if links > _MOST_LINKS:
                return
            pending += [part for part in reversed(target.split("/")) if part not in {"", "."}]
            here = "/" if target.startswith("/") else here


def _is_other_file(path: str) -> bool:
    """Whether `path` is a plain file. What was deleted may have been a directory."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode)
