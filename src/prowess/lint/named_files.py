"""Files of a skill that its texts name: by a bare path, by a link to Markdown, or by the name alone.

The specification names files without a link in its own examples: `python scripts/run.py`, or see references/api.md. A
bare path begins with a directory of the skill and ends with the ending of a file; patterns and placeholders such as
`scripts/<name>.py` or `references/*.md` are none, nor is what is part of a longer path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.markdown import outline, possible_targets
from prowess.format.references import Reference, inner_components, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prowess.lint.skill_files import SkillFiles

FOLDERS = ("scripts", "references", "assets")

_MAX_FOLDERS = 20  # of a skill, besides the usual ones
_MAX_FOUND = 1000
_MAX_LENGTH = 250  # characters of one path
_PATH = rf"[\w.+@/-]{{1,{_MAX_LENGTH}}}"
_ASCII_PATH = rf"[A-Za-z0-9_.+@/-]{{1,{_MAX_LENGTH}}}"
_ENDING = r"[^/]\.[A-Za-z][A-Za-z0-9]{0,9}$"
_BEFORE = frozenset("/._-~$}{>*\\@+%&#:|")  # what makes it the rest of a longer path, a pattern or an address
_AFTER = frozenset("<{*$[?%\\/\N{HORIZONTAL ELLIPSIS}")
_OF_LINKS = ("](", "`](", "**](")


def bare_paths(text: str, folders: Iterable[str] = FOLDERS) -> Iterator[tuple[str, int]]:
    """Yield each path below one of the folders that is no part of a Markdown link, and its offset, folder by folder."""
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
    """Return the bare paths of a body below the usual folders and those that the skill has, folder by folder.

    `offset` is where the body begins in SKILL.md; `entries` has the kinds of what the skill's directory holds by name.
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
    """Return the path that begins at an offset; empty where none does."""
    first = start - 2 if text.startswith("./", start - 2) and start > 1 else start
    before = text[first - 1 : first]
    if (before.isalnum() and before.isascii()) or before in _BEFORE:
        return ""
    if text[max(first - 3, 0) : first].endswith(("](", "](<", "]: ")):
        return ""
    for form in (_PATH, _ASCII_PATH):  # a sentence in a script without blanks goes on right behind the path
        match = re.compile(form).match(text, start)
        path = match[0].rstrip(".-+@/") if match else ""
        end = start + len(path)
        if re.search(_ENDING, path) and text[end : end + 1] not in _AFTER and not text.startswith("...", end):
            return "" if text.startswith(_OF_LINKS, end) else path
    return ""


_MAX_TARGETS = 200
_OWN = "SKILL.md"


def linked_markdown(named: Iterable[Reference], files: SkillFiles) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Markdown file among what a body links to or names, once."""
    seen: set[str] = set()
    for link in named:
        path = "/".join(inner_components(link.path) or ())
        if path in seen or not path.lower().endswith(".md"):
            continue
        seen.add(path)
        if text := files.text(path):
            yield path, text


def other_markdown(linked: Iterable[tuple[str, str]], files: SkillFiles) -> Iterator[tuple[str, str]]:
    """Yield path and text of each linked Markdown file, then of each in `references/` or beside SKILL.md."""
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
    """Yield the Markdown files of the skill that a file links to or names: from the skill's directory, else its own."""
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
    """Whether a target may end in `.md`, which it may spell in escapes."""
    return any(".md" in target.lower() or any(sign in target for sign in "%&\\") for target in possible_targets(text))


_TREE = ("\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT}", "\N{BOX DRAWINGS LIGHT UP AND RIGHT}", "|--", "+--")


def names_folder(text: str, folder: str) -> bool:
    """Whether a text names a directory as such: `references/`, and nothing behind it. A drawn tree does not count."""
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
    """Whether a text holds a name that is no part of a longer one."""
    start = text.find(name)
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
