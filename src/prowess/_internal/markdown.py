"""Parse a Markdown text once: its links, headings, code and comments, with their positions.

A real parser is used. A search with patterns would find links in comments and code fences, and would take an indented
line of a paragraph for code. pyromark (pulldown-cmark) gives source ranges. On platforms without a pyromark wheel,
markdown-it-py is used. It finds the links that pyromark finds but knows only lines, so that the range of a link is its
paragraph. The results for the last texts are cached, so that all rules that check one skill share one parse.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MAX_LINKS = 10_000
_MAX_PARTS = 10_000  # limit on headings, on blocks and so on, for each kind in one text
# Bytes of a link that are examined. Without a limit, nested images would take quadratic time in their depth.
_MAX_RANGE = 4096
_STEP = 512  # bytes between two offsets with a known code point index
_CONTINUATION = bytes(range(0x80, 0xC0))
_DESTINATION = r"[\x00-\x20>]*(?:<([^>\n]*)|([^\x00-\x20]*))"  # `>`: block quote markers may come first


class MarkdownLink(Struct, frozen=True, kw_only=True):
    """A link or image: its target as Markdown defines it, and the range of the whole link in code points."""

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
    """A code block with its range in code points, including fences. `info` is None if the block is indented."""

    info: str | None
    start: int
    end: int


class Outline(Struct, frozen=True, kw_only=True):
    """The parts of one text, each kind in order.

    `comments` are ranges of HTML that begin with `<!--`; `lists` are ranges of lists.
    """

    links: list[MarkdownLink]
    spans: list[InlineCode]
    headings: list[Heading]
    blocks: list[CodeBlock]
    comments: list[tuple[int, int]]
    lists: list[tuple[int, int]]


def outline(text: str) -> Outline:
    """Return the parts of a text. Do not change the lists: the result is cached and shared with other callers."""
    try:
        import pyromark  # imported here, not at the top: only a check of bodies needs a Markdown parser
    except ImportError:
        return _outline(text, None)
    return _outline(text, pyromark)


@lru_cache(maxsize=8)  # enough for the texts of one skill: rules ask for its body again after other texts
def _outline(text: str, pyromark: Any) -> Outline:  # noqa: ANN401 -- the module, or None
    if pyromark is None:
        return _by_markdown_it(text)
    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
    return _by_pyromark(text, pyromark.events_with_range(text, options=options))


def source_events(text: str) -> tuple[Any, Callable[[int], int]]:
    """Return pyromark's events with byte ranges, and a function from a byte offset to a code point offset.

    Raises:
        InvalidArgumentsError: pyromark is missing.
    """
    try:
        import pyromark  # imported late as in `outline`
    except ImportError:
        raise InvalidArgumentsError(("ranges of a Markdown text need pyromark: pip install pyromark",)) from None
    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
    return pyromark.events_with_range(text, options=options), _points(text)[0]


def links(text: str) -> list[MarkdownLink]:
    """Return the first `MAX_LINKS` links and images of `text` in order, without addresses in angle brackets."""
    return outline(text).links


def possible_targets(text: str) -> Iterator[str]:
    """Yield possible link targets as they are written, perhaps with more text after them.

    Every link that parsing finds is among them. The search takes a tenth of the time of parsing. It is for callers that
    look for one kind of link, which most texts do not have.
    """
    for sign in ("](", "]:"):
        for behind in text.split(sign)[1:]:
            if found := re.match(_DESTINATION, behind):
                yield found[1] or found[2] or ""


def inline_code(text: str) -> list[InlineCode] | None:
    """Return the inline code of `text` in order; None if pyromark, which knows positions, is missing."""
    try:
        import pyromark  # noqa: F401 -- tests whether pyromark is installed; imported late as in `outline`
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
    """Add a piece of HTML if it is a comment, or continues a comment that is not closed yet."""
    if html.startswith("<!--"):
        if len(found.comments) < _MAX_PARTS:
            found.comments.append((start, end))
    elif found.comments and found.comments[-1][1] == start:
        found.comments[-1] = (found.comments[-1][0], end)


def _boundary(source: bytes, at: int) -> int:
    while at < len(source) and 0x80 <= source[at] < 0xC0:  # noqa: PLR2004 -- the continuation bytes of UTF-8
        at -= 1
    return at


def _points(text: str) -> tuple[Callable[[int], int], bytes]:
    """Return a function from byte offset to code point offset, and the UTF-8 bytes of the text."""
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
    from markdown_it import MarkdownIt  # imported here, not at the top: needed only if pyromark is missing

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
