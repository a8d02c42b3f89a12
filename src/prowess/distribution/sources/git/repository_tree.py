"""The tree of one commit in memory: files, directories, and where its links lead."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from typing import TYPE_CHECKING

from prowess.errors import DistributionError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.sources.git.objects import GitObjects, TreeFile

_LINK, _SUBMODULE, _EXECUTABLE = "120000", "160000", "100755"
_MAX_TARGETS = 4 * 1024 * 1024  # bytes of all targets of links
_MOST_STEPS = 40  # links that are followed for one path, as in Linux


class RepositoryTree:
    """The entries at or below a directory of a commit; their paths are relative to that directory."""

    def __init__(self, objects: GitObjects, commit: str, below: str) -> None:
        prefix = f"{below}/" if below else ""
        self._files = {
            file.path[len(prefix) :]: file for file in objects.tree(commit, below) if file.path.startswith(prefix)
        }
        self.paths = sorted(self._files)
        self.directories = {""}
        for path in self.paths:
            above = path
            while (above := above.rpartition("/")[0]) not in self.directories:
                self.directories.add(above)
        links = [path for path in self.paths if self._files[path].mode == _LINK]
        targets = objects.read([self._files[path].oid for path in links], most=_MAX_TARGETS)
        self.links = {path: target.decode(errors="replace") for path, target in zip(links, targets, strict=True)}

    def file(self, path: str) -> TreeFile:
        """Return the entry at a path, which is one of `paths`."""
        return self._files[path]

    def resolve(self, path: str) -> str | None:
        """Return the path without links, or None if a link is broken or leads out of this tree."""
        done: list[str] = []
        todo = path.split("/")[::-1]
        steps = 0
        while todo:
            part = todo.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                if not done:
                    return None
                done.pop()
                continue
            done.append(part)
            if (target := self.links.get("/".join(done))) is not None:
                steps += 1
                if steps > _MOST_STEPS or target.startswith("/"):
                    return None
                done.pop()
                todo += target.split("/")[::-1]
        found = "/".join(done)
        return found if found in self._files or found in self.directories else None

    def skill_files(self, directory: str, what: str) -> Iterator[tuple[str, bool, str]]:
        """Yield path, executable and object id of each file of the skill in `directory`; paths are relative to it.

        A link to a file of the same skill is that file.

        Raises:
            UnsafePathError: another link.
            DistributionError: a submodule, or no file at all.
        """
        prefix = f"{directory}/" if directory else ""
        start = bisect_left(self.paths, prefix)
        end = bisect_left(self.paths, f"{directory}0") if directory else len(self.paths)  # 0 follows / in the order
        if start == end:
            raise DistributionError(f"{what}: there are no files in {directory or 'the repository'!r}")
        for path in self.paths[start:end]:
            file = self._files[path]
            if file.mode == _LINK:
                found = self.resolve(path)
                if found is None or not found.startswith(prefix) or (target := self._files.get(found)) is None:
                    shown = posixpath.relpath(path, directory or ".")
                    raise UnsafePathError(shown, f"in {what}: it is a link that leads to no file of the skill")
                file = target
            if file.mode == _SUBMODULE:
                raise DistributionError(f"{what}: {path} is a submodule, which is not fetched; name its own repository")
            yield path[len(prefix) :], file.mode == _EXECUTABLE, file.oid
