"""Links, images and inline code of a Markdown text, by a real parser: what stands in comments and fences is neither.

pyromark (pulldown-cmark) gives source ranges. Where it has no wheel, markdown-it-py finds the same links but knows only
their lines, so the range is the paragraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_LINKS = 10_000
_MAX_RANGE = 4096  # bytes of a link that are looked at; nested images would otherwise cost their depth squared


class MarkdownLink(NamedTuple):
    """A link or image: its target as Markdown defines it, and the range of the whole construct in code points."""

    target: str
    start: int
    end: int


def links(text: str) -> list[MarkdownLink]:
    """Return the first links and images of `text` in order, addresses between angle brackets left out."""
    try:
        import pyromark  # imported here, not at the top: only a check of bodies needs a Markdown parser
    except ImportError:
        return list(_by_markdown_it(text))
    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
    source = text.encode("utf-8", "surrogatepass")
    found = []
    at = point = 0  # one place, in bytes and in code points; links come in order, so it only moves on
    for event, span in pyromark.events_with_range(text, options=options):
        if not isinstance(event, dict) or not isinstance(begin := event.get("Start"), dict):
            continue
        link = begin.get("Link") or begin.get("Image")
        if link is None or link["link_type"] in {"Autolink", "Email"}:
            continue
        start = span["start"]
        end = min(span["end"], start + _MAX_RANGE)
        point += len(source[at:start].decode())
        at = start
        found.append(MarkdownLink(link["dest_url"], point, point + len(source[start:end].decode("utf-8", "ignore"))))
        if len(found) == MAX_LINKS:
            break
    return found


class InlineCode(NamedTuple):
    """Inline code: its text as Markdown defines it, and the range with its backticks in code points."""

    text: str
    start: int
    end: int


def inline_code(text: str) -> list[InlineCode] | None:
    """Return the inline code of `text` in order; None where the parser that knows positions is missing."""
    try:
        import pyromark  # imported here, not at the top: as in `links`
    except ImportError:
        return None
    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
    source = text.encode("utf-8", "surrogatepass")
    found = []
    at = point = 0  # as in `links`
    for event, span in pyromark.events_with_range(text, options=options):
        if isinstance(event, dict) and isinstance(code := event.get("Code"), str):
            start, end = span["start"], span["end"]
            point += len(source[at:start].decode())
            at = start
            found.append(InlineCode(code, point, point + len(source[start:end].decode())))
    return found


def _by_markdown_it(text: str) -> Iterator[MarkdownLink]:
    from markdown_it import MarkdownIt  # imported here, not at the top: it stands in for a parser that is missing

    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        if block.type != "inline" or block.map is None:
            continue
        first, last = block.map
        for token in block.children or ():
            target = token.attrs.get("href" if token.type == "link_open" else "src")
            if token.type in {"link_open", "image"} and isinstance(target, str) and token.info != "auto":
                yield MarkdownLink(target, starts[first], max(starts[last] - 1, starts[first]))
