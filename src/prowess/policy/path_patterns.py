"""Patterns of paths: gitignore-style globs on the resolved path, anchored at the workspace.

    *.md        at any depth (there is no slash in it)
    docs/*      one level below docs
    docs/**     everything below docs; docs/ is the same
    /notes.md   in the workspace itself
    //etc/**    outside: two slashes begin an absolute path

A path is resolved before it is matched: links are followed, then `..` is applied, as the system does it. What lies
outside the workspace fits no pattern but an absolute one. A search (Glob, Grep) fits for certain where everything
below its directory does, and may fit where something below it does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from unicodedata import normalize

from msgspec import Struct

from prowess._internal.files.workspace_root import ignores_case, relative_to_workspace
from prowess._internal.globs import BELOW, DEEP, PathGlob, path_components
from prowess.policy.decision import CERTAIN, Fit

if TYPE_CHECKING:
    from collections.abc import Sequence


class ResolvedPath(Struct, frozen=True, kw_only=True):
    """Where a path leads; `inside` are its components below the workspace, None where it leaves it.

    `folded` tells that case does not count there; the components are then in one case and one Unicode form.
    """

    absolute: tuple[str, ...]
    inside: tuple[str, ...] | None
    folded: bool = False


def resolve(path: str, workspace: str | None) -> ResolvedPath | None:
    """Follow `path` from the workspace; None where it leads nowhere that can be named.

    `/workspace` and an absolute name of the workspace mean the workspace, as they do to the file tools; `~` is a name.
    This looks at links and opens nothing. A file that does not exist yet is resolved as far as it goes.
    """
    if not path or (workspace is None and not os.path.isabs(path)):
        return None
    try:
        root = None if workspace is None else os.path.realpath(workspace)
        named = path
        if workspace is not None and root is not None:
            relative = relative_to_workspace(path, root, os.path.abspath(workspace)) if os.path.isabs(path) else path
            named = path if relative is None else os.path.join(root, relative)
        real = os.path.realpath(named)
    except (OSError, ValueError):
        return None
    folded = ignores_case(root or os.path.dirname(real))
    absolute = _components(real, folded=folded)
    above = None if root is None else _components(root, folded=folded)
    inside = absolute[len(above) :] if above is not None and absolute[: len(above)] == above else None
    return ResolvedPath(absolute=absolute, inside=inside, folded=folded)


class PathPattern(Struct, frozen=True, kw_only=True):
    """One glob of a policy; `absolute` compares it with the whole path, not with the part below the workspace."""

    source: str
    glob: PathGlob
    folded: PathGlob  # for places where case does not count
    absolute: bool = False

    @classmethod
    def parse(cls, source: str) -> PathPattern:
        """Read a glob; every text is one, and one that climbs with `..` or names nothing fits nothing."""
        text = source.strip()
        parts = path_components(text)
        body = text.rstrip("/")
        anywhere = "**/" if parts and "/" not in body else ""
        below = "/**" if parts and text != body else ""
        globs = () if ".." in parts else (f"{anywhere}{body}{below}",)
        return cls(
            source=source,
            glob=PathGlob.parse(*globs),
            folded=PathGlob.parse(*map(_folded, globs)),
            absolute=text.startswith("//"),
        )

    def matches(self, path: ResolvedPath) -> bool:
        """Whether this file fits."""
        parts = self._relevant(path)
        return bool(parts) and self._glob(path).matches(parts or ())

    def covers(self, directory: ResolvedPath) -> bool:
        """Whether everything below this directory fits."""
        parts = self._relevant(directory)
        if parts is None:
            return False
        glob = self._glob(directory)
        return any(glob.alternatives[number][index:] == BELOW for number, index in glob.after(parts))

    def may_cover(self, directory: ResolvedPath) -> bool:
        """Whether something at or below this directory could fit."""
        if self.absolute or directory.inside is not None:
            return bool(self._glob(directory).after(self._relevant(directory) or ()))
        return False

    def finds_only_fitting(self, directory: ResolvedPath, glob: str) -> bool:
        """Whether all that a search for `glob` below `directory` finds fits, because the two globs are equal."""
        # Glob takes braces for alternatives, a pattern does not; and it compares by case, whatever the system does.
        if directory.inside is None or directory.folded or self.absolute or "{" in glob:
            return False
        asked = tuple(path_components(glob))
        same, of_this_name = (*directory.inside, *asked), (DEEP, *asked[-1:])  # the latter at any depth
        return bool(asked) and any(pattern in (same, of_this_name) for pattern in self.glob.alternatives)

    def _glob(self, path: ResolvedPath) -> PathGlob:
        return self.folded if path.folded else self.glob

    def _relevant(self, path: ResolvedPath) -> tuple[str, ...] | None:
        return path.absolute if self.absolute else path.inside


def judge_file(paths: Sequence[object], patterns: Sequence[PathPattern], workspace: str | None) -> Fit:
    """Hold the files that a call names against patterns; each of them needs one."""
    named = [path for path in paths if isinstance(path, str)]
    if not named or len(named) != len(paths):
        return Fit(certain=False, possible=True, kind="path", reason="it names no file")
    resolved = [resolve(path, workspace) for path in named]
    return _judge(
        named,
        certain=[path is not None and any(pattern.matches(path) for pattern in patterns) for path in resolved],
        possible=[path is None or any(pattern.matches(path) for pattern in patterns) for path in resolved],
        patterns=patterns,
    )


def judge_search(root: object, patterns: Sequence[PathPattern], workspace: str | None, *, glob: object = None) -> Fit:
    """Hold a search below `root` against patterns; `glob` is what it looks for, None where it looks into every file."""
    if not isinstance(root, str):
        return Fit(certain=False, possible=True, kind="path", reason="it names no directory")
    resolved = resolve(root, workspace)

    def fits(pattern: PathPattern, directory: ResolvedPath) -> bool:
        narrow = isinstance(glob, str) and pattern.finds_only_fitting(directory, glob)
        return narrow or pattern.covers(directory) or pattern.matches(directory)

    return _judge(
        [root],
        certain=[resolved is not None and any(fits(pattern, resolved) for pattern in patterns)],
        possible=[resolved is None or any(pattern.may_cover(resolved) for pattern in patterns)],
        patterns=patterns,
    )


def _judge(paths: Sequence[str], *, certain: list[bool], possible: list[bool], patterns: Sequence[PathPattern]) -> Fit:
    if all(certain):
        return CERTAIN
    shown = paths[certain.index(False)][:120]
    globs = ", ".join(f"'{pattern.source}'" for pattern in patterns)[:200]
    return Fit(certain=False, possible=any(possible), kind="path", reason=f"'{shown}' fits none of {globs}")


def _components(path: str, *, folded: bool) -> tuple[str, ...]:
    return tuple(part for part in (_folded(path) if folded else path).split(os.sep) if part)


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()
