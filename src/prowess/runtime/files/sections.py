"""The outline of a Markdown file: its sections with their byte ranges.

A section starts at its heading and ends before the next heading of the same or a higher level, so it includes its
subsections. The text before the first heading is the section `preamble`. Headings are those of CommonMark at the top
level (ATX and setext), outside code fences and front matter. Headings inside lists and quotes count as text.
"""

from __future__ import annotations

import re

from msgspec import Struct

PREAMBLE = "preamble"
MAX_TITLE = 1024  # bytes of a title; the rest is cut off

# These patterns must run in time linear in the length of the line. The rest of the line is parsed without patterns.
_ATX = r" {0,3}(#{1,6})(?![^ \t])"
_SETEXT = r" {0,3}(=+|-+)[ \t]*$"
_FENCE = r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$"
# Lines that cannot be the text of a setext heading: blank, indented code, a quote, a list item.
_NO_PARAGRAPH = r"\s*$| {4}|\t| {0,3}(?:>|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$))"
_NOT_IN_SLUG = r"[^\w\- ]"


class Section(Struct, frozen=True, kw_only=True):
    """One section. `start` and `end` are byte offsets in the UTF-8 file; `level` is 1 to 6, or 0 for the preamble."""

    slug: str
    title: str
    level: int
    start: int
    end: int


class _Heading(Struct):
    title: str
    level: int
    start: int


class _Paragraph(Struct):
    """Lines that become a setext heading if a line of `=` or `-` follows. `start` is a byte offset."""

    lines: list[str]
    start: int


def outline(text: str) -> tuple[Section, ...]:
    """Return the sections in file order. The preamble is first and may be empty."""
    headings = _headings(text)
    ends = _ends(headings, len(text.encode()))
    first = headings[0].start if headings else len(text.encode())
    sections = [Section(slug=PREAMBLE, title="", level=0, start=0, end=first)]
    taken = {PREAMBLE: 1}
    for heading, end in zip(headings, ends, strict=True):
        slug = _unused(_slug(heading.title), taken)
        sections.append(Section(slug=slug, title=heading.title, level=heading.level, start=heading.start, end=end))
    return tuple(sections)


def _ends(headings: list[_Heading], size: int) -> list[int]:
    """Return the end offset of each section: the start of the next heading of the same or a higher level."""
    ends = [size] * len(headings)
    unfinished: list[int] = []
    for position, heading in enumerate(headings):
        while unfinished and headings[unfinished[-1]].level >= heading.level:
            ends[unfinished.pop()] = heading.start
        unfinished.append(position)
    return ends


def _headings(text: str) -> list[_Heading]:
    found: list[_Heading] = []
    fence_of, atx_of, setext_of, no_paragraph = (
        re.compile(one).match for one in (_FENCE, _ATX, _SETEXT, _NO_PARAGRAPH)
    )
    fence = ""
    paragraph: _Paragraph | None = None
    offset = 0
    skip = _front_matter_lines(text)
    for number, raw in enumerate(_lines(text)):
        start, offset = offset, offset + len(raw.encode())
        line = raw.rstrip("\r\n")
        if number < skip:
            continue
        if fence:
            closing = line.strip()
            if closing.startswith(fence) and not closing.strip(fence[0]) and not line.startswith("    "):
                fence = ""
            continue
        if opened := fence_of(line):
            fence, paragraph = opened[1], None
        elif atx := atx_of(line):
            found.append(_Heading(_kept(_atx_title(line[atx.end() :])), len(atx[1]), start))
            paragraph = None
        elif paragraph is not None and (setext := setext_of(line)):
            title = _kept(" ".join(paragraph.lines))
            found.append(_Heading(title, 1 if setext[1][0] == "=" else 2, paragraph.start))
            paragraph = None
        elif no_paragraph(line):
            paragraph = None
        elif paragraph is None:
            paragraph = _Paragraph([line.strip()], start)
        # limits the memory: each line adds at least one character, and a title is cut at this length
        elif len(paragraph.lines) < MAX_TITLE:
            paragraph.lines.append(line.strip())
    return found


def _atx_title(rest: str) -> str:
    """Return the title of an ATX heading, without the closing `#` characters."""
    title = rest.strip(" \t")
    closed = title.rstrip("#")
    return closed.strip() if not closed or closed[-1] in " \t" else title.strip()


def _kept(title: str) -> str:
    return title[:MAX_TITLE].encode()[:MAX_TITLE].decode(errors="ignore")


def _lines(text: str) -> list[str]:
    """Split at line feeds only; `splitlines` would also split at form feeds and Unicode separators."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + text.split("\n")[-1:]


def _front_matter_lines(text: str) -> int:
    """Return the number of lines of the front matter, fences included; 0 if there is none or it is not closed."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return 0
    return next((number + 2 for number, line in enumerate(lines[1:]) if line.rstrip() == "---"), 0)


def _slug(title: str) -> str:
    return re.sub(_NOT_IN_SLUG, "", title.casefold()).strip().replace(" ", "-") or "section"


def _unused(slug: str, taken: dict[str, int]) -> str:
    """Make a repeated slug unique by the next free number: `usage`, `usage-2`, `usage-3`."""
    chosen = slug
    while chosen in taken:
        taken[slug] += 1
        chosen = f"{slug}-{taken[slug]}"
    taken[chosen] = 1
    return chosen
