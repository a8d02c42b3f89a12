"""The files of a skill, by name and by text. Reads follow no symbolic link and do not leave the skill's directory.

A file that is too large, binary or unreadable has no text here, because a finding on it would be a guess.

A skill's text can name a file in three ways: by a link in Markdown, by a bare path, or by the file name without a path.
The specification itself uses bare paths in its examples: `python scripts/run.py`, or "see references/api.md". A bare
path begins with a directory of the skill and ends with a file extension. Patterns and placeholders such as
`scripts/<name>.py` or `references/*.md` are not bare paths. A part of a longer path is not a bare path either.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.markdown import outline, possible_targets
from prowess.errors import UnsafePathError
from prowess.format.rules.body_rules import Reference, inner_components, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_MAX_LISTED = 2000  # files that are listed to suggest one of them
_MAX_LISTED_DEPTH = 4

_NEAR = 0.75  # smallest similarity ratio (`difflib`) of a suggestion
_LONGEST_COMPARED = 200  # characters of a path
# Limit on the work for all suggestions about one skill. Without it, many similar names could stall a check.
_WORK = 20_000
_WORK_OF_RATIO = 50  # cost of an exact comparison, as a multiple of a rough one

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
    """Result of looking for a file: found, `other case` (`path` is the real spelling), or missing."""

    kind: Literal["found", "other case", "missing"]
    path: str


class ScriptText(Struct, frozen=True, kw_only=True):
    """One script: its path in the skill, its language, its text, and `code`, the text with comment lines blanked."""

    path: str
    language: Literal["python", "shell", "javascript"]
    text: str
    code: str


class LineBreaks(Struct, frozen=True, kw_only=True):
    """Number of lines of a text that end with CRLF, and with LF without CR. Both are 0 without CRLF."""

    crlf: int = 0
    lf: int = 0


class SkillFiles:
    """The files in a skill's directory, listed on first use. If `directory` is None, there are no files."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._known: dict[str, Mapping[str, str]] = {}
        self._folded: dict[str, dict[str, str]] = {}
        self._texts: dict[str, str | None] = {}
        self._breaks: dict[str, LineBreaks] = {}
        self._work = _WORK

    def look_for(self, path: str) -> Sighting:
        """Look for a relative path. A path through a symbolic link counts as found; its target is not inspected."""
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
        """Return the path that was probably meant: the most similar, else one with an equal file name, else None."""
        return self._nearest(path, self.listed) or self._by_name.get(_name_of(path))

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {_name_of(file): file for file in reversed(self.listed)}

    def _nearest(self, path: str, files: list[str]) -> str | None:
        if len(path) > _LONGEST_COMPARED:
            return None
        from difflib import SequenceMatcher  # Imported here, because only a missing file needs suggestions.

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
        """The sorted paths of the skill's files: at most `_MAX_LISTED`, down to the depth `_MAX_LISTED_DEPTH`."""
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
        """Return the entry of a directory that differs from `name` only in case, or None."""
        if directory not in self._folded:
            self._folded[directory] = {_folded(entry): entry for entry in reversed([*self.entries(directory)])}
        return self._folded[directory].get(_folded(name))

    def entries(self, directory: str) -> Mapping[str, str]:
        """Return the kind of each entry of a directory by name; empty if the directory cannot be read."""
        if directory not in self._known:
            if self._directory is None:
                return {}
            if directory and "/" not in directory and self.entries("").get(directory) != "directory":
                return {}  # most skills have no such directory, which the list of the top directory shows
            try:
                with ContainedRoot(self._directory) as root:
                    self._known[directory] = dict(root.entries(directory or "."))
            except (OSError, UnsafePathError):
                # An unreadable directory is treated as empty: no link can rely on its files
                self._known[directory] = {}
        return self._known[directory]

    def text(self, path: str) -> str | None:
        """Return a text with LF line ends; None if too large, binary, unreadable or after the first `_MAX_TEXTS`."""
        if path not in self._texts:
            self._texts[path] = self._read(path) if len(self._texts) < _MAX_TEXTS else None
        return self._texts[path]

    def line_breaks(self, path: str) -> LineBreaks:
        """Return the line breaks of a file; both counts are 0 if `text` returns None for it."""
        self.text(path)
        return self._breaks.get(path, LineBreaks())

    @cached_property
    def scripts(self) -> tuple[ScriptText, ...]:
        """The scripts below `scripts/` whose file extension is known, at most `_MAX_SCRIPTS`."""
        if self.entries("").get("scripts") != "directory":
            return ()  # saves listing the whole skill, because most skills have no scripts
        found = []
        for path in self.listed:
            if not is_known_script(path) or (text := self.text(path)) is None:
                continue
            language = _LANGUAGES[path.rpartition(".")[2]]
            found.append(ScriptText(path=path, language=language, text=text, code=_without_comments(text, language)))
            if len(found) == _MAX_SCRIPTS:
                break
        return tuple(found)

    def _data(self, path: str) -> bytes | None:
        """Return the bytes of a file, one more than the limit if it is too large; None if it cannot be read."""
        if self._directory is None:
            return None
        try:
            with ContainedRoot(self._directory) as root, root.open(path, allow_hard_links=True) as opened:
                return opened.read(_MAX_BYTES + 1)
        except (OSError, UnsafePathError):
            return None

    def _read(self, path: str) -> str | None:
        data = self._data(path)
        if data is None or len(data) > _MAX_BYTES or b"\0" in data:
            return None
        if crlf := data.count(b"\r\n"):
            self._breaks[path] = LineBreaks(crlf=crlf, lf=data.count(b"\n") - crlf)
        return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def is_known_script(path: str) -> bool:
    """Whether a file is one of the scripts that rules read, by its path."""
    return path.startswith("scripts/") and path.rpartition(".")[2] in _LANGUAGES


def _without_comments(text: str, language: str) -> str:
    """Return the text with whole-line comments replaced by blanks. Offsets stay the same."""
    marks = ("//", "*", "/*") if language == "javascript" else ("#",)
    return "\n".join(" " * len(line) if line.lstrip().startswith(marks) else line for line in text.split("\n"))


def in_long_text(script: ScriptText, offset: int) -> bool:
    """Whether an offset of a Python script is in a triple-quoted string, whose code belongs to another script."""
    before = script.text[:offset]
    return script.language == "python" and (before.count('"""') % 2 == 1 or before.count("'''") % 2 == 1)


def _name_of(path: str) -> str:
    return path.rpartition("/")[2].casefold()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


FOLDERS = ("scripts", "references", "assets")

_MAX_FOLDERS = 20  # directories of a skill besides `FOLDERS`
_MAX_FOUND = 1000
_MAX_LENGTH = 250  # characters of one path
_PATH = rf"[\w.+@/-]{{1,{_MAX_LENGTH}}}"
_ASCII_PATH = rf"[A-Za-z0-9_.+@/-]{{1,{_MAX_LENGTH}}}"
_ENDING = r"[^/]\.[A-Za-z][A-Za-z0-9]{0,9}$"
_BEFORE = frozenset("/._-~$}{>*\\@+%&#:|")  # after one of these, a name is the end of a path, pattern or URL
_AFTER = frozenset("<{*$[?%\\/\N{HORIZONTAL ELLIPSIS}")
_OF_LINKS = ("](", "`](", "**](")


def bare_paths(text: str, folders: Iterable[str] = FOLDERS) -> Iterator[tuple[str, int]]:
    """Yield each path below one of the folders, with its offset, folder by folder, except in Markdown links."""
    found = 0
    for folder in folders:
        start = text.find(f"{folder}/")
        while start >= 0 and found < _MAX_FOUND:
            path = _path_at(text, start)
            if path:
                found += 1
                yield path, start
            start = text.find(f"{folder}/", start + max(len(path), 1))


def paths_of(body: str, offset: int, entries: Mapping[str, str]) -> tuple[Reference, ...]:
    """Return the bare paths in a body, folder by folder: below `FOLDERS`, then below the skill's other directories.

    `offset` is the offset of the body in SKILL.md. `entries` maps each entry of the skill's directory to its kind.
    """
    more = [name for name, kind in entries.items() if kind == "directory" and name not in FOLDERS and name[0] != "."]
    return tuple(
        Reference(
            target=path, path=path, leads="inside", start=start + offset, end=start + offset + len(path), exact=True
        )
        for path, start in bare_paths(body, (*FOLDERS, *more[:_MAX_FOLDERS]))
        if inner_components(path) is not None
    )


def _path_at(text: str, start: int) -> str:
    """Return the bare path that begins at an offset; empty if none begins there."""
    first = start - 2 if text.startswith("./", start - 2) and start > 1 else start
    before = text[first - 1 : first]
    if (before.isalnum() and before.isascii()) or before in _BEFORE:
        return ""
    if text[max(first - 3, 0) : first].endswith(("](", "](<", "]: ")):
        return ""
    # In scripts without blanks, such as Chinese, the sentence goes on right after the path
    for form in (_PATH, _ASCII_PATH):
        match = re.compile(form).match(text, start)
        path = match[0].rstrip(".-+@/") if match else ""
        end = start + len(path)
        if re.search(_ENDING, path) and text[end : end + 1] not in _AFTER and not text.startswith("...", end):
            return "" if text.startswith(_OF_LINKS, end) else path
    return ""


_MAX_TARGETS = 200
_OWN = "SKILL.md"


def linked_markdown(named: Iterable[Reference], files: SkillFiles) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Markdown file among the references of a body. Each file is yielded once."""
    seen: set[str] = set()
    for link in named:
        path = "/".join(inner_components(link.path) or ())
        if path in seen or not path.lower().endswith(".md"):
            continue
        seen.add(path)
        if text := files.text(path):
            yield path, text


def other_markdown(linked: Iterable[tuple[str, str]], files: SkillFiles) -> Iterator[tuple[str, str]]:
    """Yield path and text of each linked Markdown file, then of the rest in `references/` or beside SKILL.md."""
    seen = {_OWN}
    for path, text in linked:
        if path not in seen:
            seen.add(path)
            yield path, text
    top = files.entries("")
    for folder in ("references/", "") if top.get("references") == "directory" else ("",):
        entries = files.entries(folder.rstrip("/")) if folder else top
        for name in sorted(name for name in entries if name.lower().endswith(".md")):
            path = f"{folder}{name}"
            if entries[name] == "file" and path not in seen:
                seen.add(path)
                if other := files.text(path):
                    yield path, other


def local_targets(text: str, path: str, files: SkillFiles) -> Iterator[str]:
    """Yield Markdown files that a file links to or names, resolved against the skill's directory, then the file's."""
    here = path.rpartition("/")[0]
    links = outline(text).links[:_MAX_TARGETS] if "](" in text and _may_link_to_markdown(text) else []
    linked = (percent_decoded(link.target.partition("#")[0].partition("?")[0]) for link in links)
    for target in (*linked, *(path for path, _ in bare_paths(text))):
        if not target or ":" in target or target.startswith(("/", "~")) or not target.lower().endswith(".md"):
            continue
        for candidate in (target, f"{here}/{target}"):
            components = inner_components(candidate)
            if components and files.look_for("/".join(components)).kind == "found":
                yield "/".join(components)
                break


def _may_link_to_markdown(text: str) -> bool:
    """Whether a link target in the text may end in `.md`. The ending may be hidden by an escape, such as `%2Emd`."""
    return any(".md" in target.lower() or any(sign in target for sign in "%&\\") for target in possible_targets(text))


_TREE = ("\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT}", "\N{BOX DRAWINGS LIGHT UP AND RIGHT}", "|--", "+--")


def names_folder(text: str, folder: str) -> bool:
    """Whether a text names a directory without a file, such as `references/`. Drawings of trees do not count."""
    name = f"{folder}/"
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        behind = text[end : end + 1]
        if (
            not _in_word(behind)
            and behind not in {"<", "{", "$", "["}
            and not _in_word(text[max(start - 1, 0) : start])
        ):
            line = text[text.rfind("\n", 0, start) + 1 : _line_end(text, end)]
            if line.strip() != name and not any(mark in line for mark in _TREE):
                return True
        start = text.find(name, end)
    return False


def names_whole(text: str, name: str) -> bool:
    """Whether a text contains a name that is not part of a longer name. False for an empty name."""
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        if not _in_word(text[max(start - 1, 0) : start]) and not _in_word(text[end : end + 1], point=False):
            return True
        start = text.find(name, end)
    return False


def _in_word(character: str, *, point: bool = True) -> bool:
    return (character.isalnum() and character.isascii()) or (
        character in {"_", "-", "."} and (point or character != ".")
    )


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
