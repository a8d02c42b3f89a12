"""The passages of a skill: sentences, items, sections or whole files, of SKILL.md and its references.

Pure, but for reading files.

The front matter is left out: `prowess eval triggers` and `improve` are about the description.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.bounded_read import read_regular_file
from prowess._internal.markdown_blocks import text_blocks
from prowess.errors import InvalidArgumentsError
from prowess.format.parsing import parse_document
from prowess.format.source.source_text import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess._internal.markdown_blocks import TextBlock

PassageKind = Literal["sentence", "item", "section", "file"]
MAX_FILE_BYTES = 1024 * 1024
MOST_PASSAGES = 2000
_END = re.compile(r"[.!?\u2026][\"')\]*_]*(?=\s)|[\u3002\uff01\uff1f]")
_ABBREVIATIONS = frozenset({"e.g.", "i.e.", "cf.", "vs.", "approx.", "no.", "fig.", "dr.", "mr.", "mrs.", "st."})
_BARE_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])?[ \t]*\n?")
_NEGATION = "Do the opposite of what follows: "


class Passage(Struct, frozen=True, kw_only=True):
    """One passage. `path` is relative to the skill; `line` and `end_line` are 1-based lines of the file.

    `start` and `end` are the range in the text of the file, in code points.
    """

    path: str
    line: int
    end_line: int
    start: int
    end: int
    text: str


class PassageFile(Struct, frozen=True, kw_only=True):
    """One file with its text, with LF line breaks, and its passages in order."""

    path: str
    text: str
    passages: tuple[Passage, ...]

    def without(self, passage: Passage) -> str:
        """Return the text without a passage. A line of which only the marker of a list is left goes too."""
        before, after = self.text[: passage.start], self.text[passage.end :]
        line_start = before.rfind("\n") + 1
        rest_end = after.find("\n") + 1 or len(after)
        line = before[line_start:] + after[:rest_end]
        if _BARE_MARKER.fullmatch(line):
            return before[:line_start] + after[rest_end:]
        if not after[:rest_end].strip():
            return before.rstrip(" \t") + after
        return before + after.lstrip(" \t")

    def negated(self, passage: Passage) -> str:
        """Return the text with the opposite of a passage."""
        return self.text[: passage.start] + _NEGATION + self.text[passage.start :]


def passages_of(directory: str, kind: PassageKind) -> tuple[PassageFile, ...]:
    """Return SKILL.md and the Markdown files of `references/` with their passages.

    Raises:
        InvalidArgumentsError: a file cannot be read, or there are too many passages.
    """
    found = tuple(_file(directory, path, kind) for path in ("SKILL.md", *_references(directory)))
    count = sum(len(file.passages) for file in found)
    if count > MOST_PASSAGES:
        problem = f"the skill has {count} passages, and at most {MOST_PASSAGES} are tried; use --by section"
        raise InvalidArgumentsError((problem,))
    return found


def body_passages(body: str, kind: PassageKind) -> PassageFile:
    """Return a body without front matter, with its passages."""
    passages = tuple(_passage("", body, start, end) for start, end in _ranges(body, kind))
    return PassageFile(path="", text=body, passages=passages)


def _references(directory: str) -> list[str]:
    found: list[str] = []
    for folder, _, names in os.walk(os.path.join(directory, "references")):
        for name in names:
            path = os.path.join(folder, name)
            if name.lower().endswith((".md", ".markdown")) and not os.path.islink(path):
                found.append(os.path.relpath(path, directory).replace(os.sep, "/"))
    return sorted(found)


def _file(directory: str, path: str, kind: PassageKind) -> PassageFile:
    try:
        data = read_regular_file(os.path.join(directory, *path.split("/")), MAX_FILE_BYTES)
    except OSError as fault:
        problem = f"{path} cannot be read, so its passages cannot be tried: {fault.strerror}"
        raise InvalidArgumentsError((problem,)) from None
    text, offset = decode(data).text, 0
    if path == "SKILL.md":
        document = parse_document(data)
        text, offset = document.text, document.body_offset
    ranges = _ranges(text[offset:], kind)
    return PassageFile(
        path=path,
        text=text,
        passages=tuple(_passage(path, text, start + offset, end + offset) for start, end in ranges),
    )


def _passage(path: str, text: str, start: int, end: int) -> Passage:
    return Passage(
        path=path,
        line=text.count("\n", 0, start) + 1,
        end_line=text.count("\n", 0, max(start, end - 1)) + 1,
        start=start,
        end=end,
        text=text[start:end].strip(),
    )


def _ranges(body: str, kind: PassageKind) -> Iterator[tuple[int, int]]:
    blocks = text_blocks(body)
    ranges = {"sentence": _sentences, "item": _items, "section": _sections, "file": _whole}[kind](body, blocks)
    return ((start, end) for start, end in ranges if body[start:end].strip())


def _sections(body: str, blocks: Sequence[TextBlock]) -> Iterator[tuple[int, int]]:
    """Yield the range of each heading with its own text, and of the text before the first heading."""
    starts = [block.whole[0] for block in blocks if block.kind == "heading" and not block.items]
    yield from zip([0, *starts], [*starts, len(body)], strict=True)


def _whole(body: str, _: Sequence[TextBlock]) -> Iterator[tuple[int, int]]:
    yield 0, len(body)


def _items(body: str, blocks: Sequence[TextBlock]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of items with their content, and of paragraphs, rows and code outside of lists."""
    found = [block.whole for block in blocks if block.kind == "item" or (block.kind != "heading" and not block.items)]
    yield from ((start, start + len(body[start:end].rstrip())) for start, end in sorted(found))


def _sentences(body: str, blocks: Sequence[TextBlock]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of sentences, and of whole rows and code blocks."""
    for block in blocks:
        if block.kind in ("row", "code"):
            yield block.start, block.start + len(body[block.start : block.end].rstrip())
        elif block.kind != "heading":
            yield from _split(body, block)


def _split(body: str, block: TextBlock) -> Iterator[tuple[int, int]]:
    start = block.start
    for found in _END.finditer(body, block.start, block.end):
        end = found.end()
        if any(first < end < last for first, last in block.spans) or not _ends_sentence(body, start, found, block.end):
            continue
        yield start, end
        while end < block.end and body[end].isspace():
            end += 1
        start = end
    if start < block.end:
        yield start, block.end


def _ends_sentence(body: str, start: int, found: re.Match[str], most: int) -> bool:
    word = body[start : found.end()].rsplit(None, 1)[-1].lstrip("([\"'*_").lower()
    following = body[found.end() : most].lstrip()
    return word not in _ABBREVIATIONS and not following[:1].islower()
