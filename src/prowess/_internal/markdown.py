"""One reading of a Markdown text, by a real parser: links, headings, code and comments, each with its place.

What stands in comments and fences is no link, and what stands in a paragraph is no code. pyromark (pulldown-cmark)
gives source ranges. Where it has no wheel, markdown-it-py finds the same but knows only lines, so that a range is the
paragraph. The last texts read are remembered: all who judge one skill share one reading.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MAX_LINKS = 10_000
_MAX_PARTS = 10_000  # headings, blocks and so on of one text that are kept, each
_MAX_RANGE = 4096  # bytes of a link that are looked at; nested images would otherwise cost their depth squared
_STEP = 512  # bytes between two places whose code point is known
_CONTINUATION = bytes(range(0x80, 0xC0))
_DESTINATION = r"[\x00-\x20>]*(?:<([^>\n]*)|([^\x00-\x20]*))"  # behind marks of a quotation


class MarkdownLink(Struct, frozen=True, kw_only=True):
    """A link or image: its target as Markdown defines it, and the range of the whole construct in code points."""

    target: str
    start: int
    end: int


class InlineCode(Struct, frozen=True, kw_only=True):
    """Inline code: its text as Markdown defines it, and the range with its backticks in code points."""

    text: str
    start: int
    end: int


class Heading(Struct, frozen=True, kw_only=True):
    """A heading of level 1 to 6, with its range in code points."""

    level: int
    start: int
    end: int


class CodeBlock(Struct, frozen=True, kw_only=True):
    """A block of code with its range in code points, fences included; `info` is None where it is indented."""

    info: str | None
    start: int
    end: int


class Outline(Struct, frozen=True, kw_only=True):
    """What one text holds, each kind in order; `comments` are ranges of HTML that begin with `<!--`, `lists` ranges."""

    links: list[MarkdownLink]
    spans: list[InlineCode]
    headings: list[Heading]
    blocks: list[CodeBlock]
    comments: list[tuple[int, int]]
    lists: list[tuple[int, int]]


def outline(text: str) -> Outline:
    """Return what a text holds; nobody may change the lists, which the next caller gets too."""
    try:
        import pyromark  # imported here, not at the top: only a check of bodies needs a Markdown parser
    except ImportError:
        return _outline(text, None)
    return _outline(text, pyromark)


@lru_cache(maxsize=8)  # the texts of one skill: several rules ask about its body, and about others between
def _outline(text: str, pyromark: Any) -> Outline:  # noqa: ANN401 -- the module, or None
    if pyromark is None:
        return _by_markdown_it(text)
    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
    return _by_pyromark(text, pyromark.events_with_range(text, options=options))


def links(text: str) -> list[MarkdownLink]:
    """Return the first links and images of `text` in order, addresses between angle brackets left out."""
    return outline(text).links


def possible_targets(text: str) -> Iterator[str]:
    """Yield what may be targets of links, as written and perhaps with more behind: parsing finds no other link.

    A tenth of the time of parsing: for callers who want links of one kind, and most texts hold none.
    """
    for sign in ("](", "]:"):
        for behind in text.split(sign)[1:]:
            if found := re.match(_DESTINATION, behind):
                yield found[1] or found[2] or ""


def inline_code(text: str) -> list[InlineCode] | None:
    """Return the inline code of `text` in order; None where the parser that knows positions is missing."""
    try:
        import pyromark  # noqa: F401 -- imported here, not at the top: as in `outline`; asked whether it is there
    except ImportError:
        return None
    return outline(text).spans


def _by_pyromark(text: str, events: Any) -> Outline:  # noqa: ANN401 -- pyromark's events are nested unions of dicts
    point, source = _points(text)
    found = Outline(links=[], spans=[], headings=[], blocks=[], comments=[], lists=[])
    for event, span in events:
        if not isinstance(event, dict):
            continue
        if (begin := event.get("Start")) is not None:
            if isinstance(begin, dict):
                _begun(found, begin, span, point, source)
            continue
        if isinstance(code := event.get("Code"), str):
            if len(found.spans) < _MAX_PARTS:
                found.spans.append(InlineCode(text=code, start=point(span["start"]), end=point(span["end"])))
        elif isinstance(html := event.get("Html") or event.get("InlineHtml"), str):
            _html(found, html, point(span["start"]), point(span["end"]))
    return found


def _begun(
    found: Outline,
    begin: dict[str, Any],
    span: dict[str, int],
    point: Callable[[int], int],
    source: bytes,
) -> None:
    start, end = span["start"], span["end"]
    if (link := begin.get("Link") or begin.get("Image")) is not None:
        if link["link_type"] not in {"Autolink", "Email"} and len(found.links) < MAX_LINKS:
            end = _boundary(source, min(end, start + _MAX_RANGE))
            found.links.append(MarkdownLink(target=link["dest_url"], start=point(start), end=point(end)))
    elif (heading := begin.get("Heading")) is not None:
        if len(found.headings) < _MAX_PARTS:
            found.headings.append(Heading(level=int(heading["level"][1:]), start=point(start), end=point(end)))
    elif (block := begin.get("CodeBlock")) is not None:
        if len(found.blocks) < _MAX_PARTS:
            info = block["Fenced"] if isinstance(block, dict) else None
            found.blocks.append(CodeBlock(info=info, start=point(start), end=point(end)))
    elif "List" in begin and len(found.lists) < _MAX_PARTS:
        found.lists.append((point(start), point(end)))


def _html(found: Outline, html: str, start: int, end: int) -> None:
    """Add a piece of HTML that is a comment, or goes on with one that is not closed yet."""
    if html.startswith("<!--"):
        if len(found.comments) < _MAX_PARTS:
            found.comments.append((start, end))
    elif found.comments and found.comments[-1][1] == start:
        found.comments[-1] = (found.comments[-1][0], end)


def _boundary(source: bytes, at: int) -> int:
    while at < len(source) and 0x80 <= source[at] < 0xC0:  # noqa: PLR2004 -- the bytes that go on with a character
        at -= 1
    return at


def _points(text: str) -> tuple[Callable[[int], int], bytes]:
    """Return what turns an offset in bytes into one in code points, and the bytes."""
    source = text.encode("utf-8", "surrogatepass")
    if len(source) == len(text):
        return (lambda at: at), source
    known = [0]
    for start in range(0, len(source), _STEP):
        known.append(known[-1] + len(source[start : start + _STEP].translate(None, _CONTINUATION)))

    def point(at: int) -> int:
        step = at // _STEP
        return known[step] + len(source[step * _STEP : at].translate(None, _CONTINUATION))

    return point, source


def _by_markdown_it(text: str) -> Outline:
    from markdown_it import MarkdownIt  # imported here, not at the top: it stands in for a parser that is missing

    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = Outline(links=[], spans=[], headings=[], blocks=[], comments=[], lists=[])
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        if block.map is None:
            continue
        start, end = starts[block.map[0]], max(starts[block.map[1]] - 1, starts[block.map[0]])
        match block.type:
            case "heading_open":
                found.headings.append(Heading(level=int(block.tag[1:]), start=start, end=end))
            case "fence" | "code_block":
                found.blocks.append(CodeBlock(info=block.info if block.type == "fence" else None, start=start, end=end))
            case "html_block":
                _html(found, block.content, start, end)
            case "bullet_list_open" | "ordered_list_open":
                found.lists.append((start, end))
            case "inline":
                found.links.extend(_links_of(block.children or (), start, end))
            case _:
                pass
    return found


def _links_of(tokens: Any, start: int, end: int) -> Iterator[MarkdownLink]:  # noqa: ANN401 -- tokens of markdown-it
    for token in tokens:
        target = token.attrs.get("href" if token.type == "link_open" else "src")
        if token.type in {"link_open", "image"} and isinstance(target, str) and token.info != "auto":
            yield MarkdownLink(target=target, start=start, end=end)
