"""Paths of a skill's files that its text names without a link: `python scripts/run.py`, or see references/api.md.

The specification names files so in its own examples. A path begins with a directory of the skill and ends with the
ending of a file; patterns and placeholders such as `scripts/<name>.py` or `references/*.md` are none, nor is what is
part of a longer path. Nothing here touches the disk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.format.references import Reference, inner_components

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.lint.subject import LintSubject

FOLDERS = ("scripts", "references", "assets")

_MAX_FOLDERS = 20  # of a skill, besides the usual ones
_MAX_FOUND = 1000
_MAX_LENGTH = 250  # characters of one path
_PATH = re.compile(rf"[\w.+@/-]{{1,{_MAX_LENGTH}}}")
_ASCII_PATH = re.compile(rf"[A-Za-z0-9_.+@/-]{{1,{_MAX_LENGTH}}}")
_ENDING = re.compile(r"[^/]\.[A-Za-z][A-Za-z0-9]{0,9}$")
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


def paths_of(subject: LintSubject) -> tuple[Reference, ...]:
    """Return the bare paths of a body below the usual folders and those that the skill has, folder by folder."""
    entries = {} if subject.files is None else subject.files.entries("")
    more = [name for name, kind in entries.items() if kind == "directory" and name not in FOLDERS and name[0] != "."]
    offset = subject.document.body_offset
    return tuple(
        Reference(
            target=path, path=path, leads="inside", start=start + offset, end=start + offset + len(path), exact=True
        )
        for path, start in bare_paths(subject.body, (*FOLDERS, *more[:_MAX_FOLDERS]))
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
        match = form.match(text, start)
        path = match[0].rstrip(".-+@/") if match else ""
        end = start + len(path)
        if _ENDING.search(path) and text[end : end + 1] not in _AFTER and not text.startswith("...", end):
            return "" if text.startswith(_OF_LINKS, end) else path
    return ""
