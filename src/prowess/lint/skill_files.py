"""Look for a file of a skill by name, without following a link and without leaving the skill."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches
from typing import Literal, NamedTuple

from prowess._internal.contained import ContainedRoot
from prowess.errors import UnsafePathError
from prowess.format.references import inner_components

_MAX_LISTED = 2000  # files, for suggestions
_MAX_LISTED_DEPTH = 4


class Sighting(NamedTuple):
    """What a search found: the file, one whose spelling differs in case alone (`path` is the real one), or nothing."""

    kind: Literal["found", "other case", "missing"]
    path: str


class SkillFiles:
    """The entries of a skill's directory, listed when first needed."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._known: dict[str, dict[str, str]] = {}
        self._listed: list[str] | None = None

    def look_for(self, path: str) -> Sighting:
        """Look for a relative path. A link on the way counts as found: what it leads to is not looked at."""
        components = inner_components(path)
        if components is None:
            return Sighting("missing", path)
        real: list[str] = []
        kind = "directory"
        for at, component in enumerate(components):
            if kind == "link":
                return Sighting("found", path)
            entries = self._entries("/".join(real)) if kind == "directory" else {}
            name = component if component in entries else _alike(component, entries)
            if name is None:
                return Sighting("missing", "/".join((*real, *components[at:])))
            real.append(name)
            kind = entries[name]
        return Sighting("found" if real == components else "other case", "/".join(real))

    def suggest(self, path: str) -> str | None:
        """Return the file that may have been meant: the nearest path, else one of the same name elsewhere."""
        if self._listed is None:
            self._listed = self._list()
        near = get_close_matches(path, self._listed, n=1, cutoff=0.75)
        if near:
            return near[0]
        name = path.rpartition("/")[2].casefold()
        return next((file for file in self._listed if file.rpartition("/")[2].casefold() == name), None)

    def _list(self) -> list[str]:
        found: list[str] = []
        waiting = [("", 0)]
        while waiting and len(found) < _MAX_LISTED:
            directory, depth = waiting.pop()
            for name, kind in self._entries(directory).items():
                path = f"{directory}/{name}" if directory else name
                if kind == "directory" and depth < _MAX_LISTED_DEPTH and name != ".git":
                    waiting.append((path, depth + 1))
                elif kind == "file" and len(found) < _MAX_LISTED:
                    found.append(path)
        return sorted(found)

    def _entries(self, directory: str) -> dict[str, str]:
        if directory not in self._known:
            try:
                with ContainedRoot(self._directory) as root:
                    self._known[directory] = dict(root.entries(directory or "."))
            except (OSError, UnsafePathError):
                self._known[directory] = {}  # what cannot be read holds nothing that a link could rely on
        return self._known[directory]


def _alike(name: str, entries: dict[str, str]) -> str | None:
    key = _folded(name)
    return next((entry for entry in entries if _folded(entry) == key), None)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
