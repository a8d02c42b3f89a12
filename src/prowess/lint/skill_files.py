"""The files of a skill by name and by text, read without following a link and without leaving the skill.

A text that is too large, is no text or cannot be read has no text here; a finding on it would be a guess.
"""

from __future__ import annotations

import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError
from prowess.format.references import inner_components

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_LISTED = 2000  # files, for suggestions
_MAX_LISTED_DEPTH = 4

_NEAR = 0.75  # likeness, as difflib counts it
_LONGEST_COMPARED = 200  # characters of a path
# For all suggestions about one skill together, so that names made to be alike cannot hold up a check.
_WORK = 20_000
_WORK_OF_RATIO = 50  # as often as a rough comparison fits into an exact one of such names

_MAX_SCRIPTS = 50
_MAX_TEXTS = 200
_MAX_BYTES = 256 * 1024  # of one file
_LANGUAGES: dict[str, Literal["python", "shell", "javascript"]] = {
    "py": "python",
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "javascript",
}


class Sighting(Struct, frozen=True, kw_only=True):
    """What a search found: the file, one whose spelling differs in case alone (`path` is the real one), or nothing."""

    kind: Literal["found", "other case", "missing"]
    path: str


class ScriptText(Struct, frozen=True, kw_only=True):
    """One script: its path in the skill, what it is written in, its text, and the text without comments."""

    path: str
    language: Literal["python", "shell", "javascript"]
    text: str
    code: str


class SkillFiles:
    """The entries of a skill's directory, listed when first needed; none if there is no directory."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._known: dict[str, Mapping[str, str]] = {}
        self._folded: dict[str, dict[str, str]] = {}
        self._texts: dict[str, str | None] = {}
        self._work = _WORK

    def look_for(self, path: str) -> Sighting:
        """Look for a relative path. A link on the way counts as found: what it leads to is not looked at."""
        components = inner_components(path)
        if components is None:
            return Sighting(kind="missing", path=path)
        real: list[str] = []
        kind = "directory"
        for at, component in enumerate(components):
            if kind == "link":
                return Sighting(kind="found", path=path)
            here = "/".join(real)
            entries = self.entries(here) if kind == "directory" else {}
            name = component if component in entries else self._alike(here, component) if entries else None
            if name is None:
                return Sighting(kind="missing", path="/".join((*real, *components[at:])))
            real.append(name)
            kind = entries[name]
        return Sighting(kind="found" if real == components else "other case", path="/".join(real))

    def suggest(self, path: str) -> str | None:
        """Return the file that may have been meant: the nearest path, else one of the same name elsewhere."""
        return self._nearest(path, self.listed) or self._by_name.get(_name_of(path))

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {_name_of(file): file for file in reversed(self.listed)}

    def _nearest(self, path: str, files: list[str]) -> str | None:
        if len(path) > _LONGEST_COMPARED:
            return None
        # Imported here, not at the top: only a missing file has others that may have been meant.
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, "", path)
        best = (_NEAR, "")
        for file in files:
            if self._work <= 0:
                break
            shorter, both = min(len(file), len(path)), len(file) + len(path)
            if 2 * shorter < _NEAR * both or len(file) > _LONGEST_COMPARED:
                continue
            self._work -= 1
            matcher.set_seq1(file)
            if matcher.quick_ratio() >= best[0]:
                self._work -= _WORK_OF_RATIO
                best = max(best, (matcher.ratio(), file))
        return best[1] or None

    @cached_property
    def listed(self) -> list[str]:
        """The first files of the skill, sorted; those in deep directories are left out."""
        found: list[str] = []
        waiting = [("", 0)]
        while waiting and len(found) < _MAX_LISTED:
            directory, depth = waiting.pop()
            for name, kind in self.entries(directory).items():
                path = f"{directory}/{name}" if directory else name
                if kind == "directory" and depth < _MAX_LISTED_DEPTH and name != ".git":
                    waiting.append((path, depth + 1))
                elif kind == "file" and len(found) < _MAX_LISTED:
                    found.append(path)
        return sorted(found)

    def _alike(self, directory: str, name: str) -> str | None:
        """Return the entry of a directory whose spelling differs from `name` in case alone."""
        if directory not in self._folded:
            folded: dict[str, str] = {}
            for entry in self.entries(directory):
                folded.setdefault(_folded(entry), entry)
            self._folded[directory] = folded
        return self._folded[directory].get(_folded(name))

    def entries(self, directory: str) -> Mapping[str, str]:
        """Return name -> kind of what a directory of the skill holds; nothing where it cannot be read."""
        if directory not in self._known:
            if self._directory is None:
                return {}
            if directory and "/" not in directory and self.entries("").get(directory) != "directory":
                return {}  # most skills have no directories, and the listing of the top says so
            try:
                with ContainedRoot(self._directory) as root:
                    self._known[directory] = dict(root.entries(directory or "."))
            except (OSError, UnsafePathError):
                self._known[directory] = {}  # what cannot be read holds nothing that a link could rely on
        return self._known[directory]

    def text(self, path: str) -> str | None:
        """Return the text of a file, line breaks as LF; None if it has none that can be judged."""
        if path not in self._texts:
            self._texts[path] = self._read(path) if len(self._texts) < _MAX_TEXTS else None
        return self._texts[path]

    @cached_property
    def scripts(self) -> tuple[ScriptText, ...]:
        """The first scripts below `scripts/`, by their ending."""
        if self.entries("").get("scripts") != "directory":
            return ()  # most skills have none, and one look at the directory tells
        found = []
        for path in self.listed:
            language = _LANGUAGES.get(path.rpartition(".")[2])
            if language is None or not path.startswith("scripts/") or (text := self.text(path)) is None:
                continue
            found.append(ScriptText(path=path, language=language, text=text, code=_without_comments(text, language)))
            if len(found) == _MAX_SCRIPTS:
                break
        return tuple(found)

    def _read(self, path: str) -> str | None:
        if self._directory is None:
            return None
        try:
            with ContainedRoot(self._directory) as root, root.open(path, allow_hard_links=True) as opened:
                data = opened.read(_MAX_BYTES + 1)
        except (OSError, UnsafePathError):
            return None
        if len(data) > _MAX_BYTES or b"\0" in data:
            return None
        return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _without_comments(text: str, language: str) -> str:
    """Blank the lines that are comments as a whole, offset for offset."""
    marks = ("//", "*", "/*") if language == "javascript" else ("#",)
    lines = (" " * len(line) if line.lstrip().startswith(marks) else line for line in text.split("\n"))
    return "\n".join(lines)


def in_long_text(script: ScriptText, offset: int) -> bool:
    """Whether an offset of a Python script lies between three quotes, where code is another script's."""
    before = script.text[:offset]
    return script.language == "python" and (before.count('"""') % 2 == 1 or before.count("'''") % 2 == 1)


def _name_of(path: str) -> str:
    return path.rpartition("/")[2].casefold()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
