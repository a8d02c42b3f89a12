"""The texts of a Markdown document: each heading, paragraph, list item, table row and code block, with its range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from prowess._internal.markdown import source_events

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TextBlockKind = Literal["heading", "paragraph", "item", "row", "code"]
_KINDS: dict[str, TextBlockKind] = {
    "Heading": "heading",
    "Paragraph": "paragraph",
    "Item": "item",
    "TableRow": "row",
    "CodeBlock": "code",
}
_OTHERS = frozenset({"List", "BlockQuote", "Table", "TableHead", "HtmlBlock", "FootnoteDefinition"})


class TextBlock(Struct, frozen=True, kw_only=True):
    """One block with text, with ranges in code points.

    `start` and `end` are the range of its own text, without blocks in it, empty if an item has only blocks. `whole` is
    the range of the block with its marker and the blocks in it. `items` is the number of list items that it is in,
    without itself. `spans` are ranges of inline code and links in its text.
    """

    kind: TextBlockKind
    start: int
    end: int
    whole: tuple[int, int]
    items: int = 0
    spans: tuple[tuple[int, int], ...] = ()


class _Open(Struct, kw_only=True):
    """A block whose end was not read yet. `kind` is None if its text is of no interest, such as HTML."""

    kind: TextBlockKind | None
    whole: tuple[int, int]
    items: int
    text: tuple[int, int] | None = None
    spans: list[tuple[int, int]]


def text_blocks(text: str) -> list[TextBlock]:
    """Return the blocks with text, in the order of their texts. Headings of tables and HTML have none.

    Raises:
        InvalidArgumentsError: pyromark is missing.
    """
    events, point = source_events(text)
    reader = _Reader(point)
    for event, span in events:
        reader.read(event, (span["start"], span["end"]))
    return sorted(reader.found, key=lambda block: (block.start, -block.end))


class _Reader:
    def __init__(self, point: Callable[[int], int]) -> None:
        self._point = point
        self._open: list[_Open] = []
        self.found: list[TextBlock] = []

    def read(self, event: Any, span: tuple[int, int]) -> None:  # noqa: ANN401 -- pyromark's events
        started = _name(event, "Start")
        if started in _KINDS or started in _OTHERS:
            items = sum(block.kind == "item" for block in self._open)
            self._open.append(_Open(kind=_KINDS.get(started), whole=span, items=items, spans=[]))
            if started == "CodeBlock":
                self._open[-1].text = span
            return
        ended = _name(event, "End")
        if ended in _KINDS or ended in _OTHERS:
            self._close(self._open.pop())
        elif self._open and not ended and started != "TableCell":
            self._text(self._open[-1], event, started, span)

    def _text(self, block: _Open, event: Any, started: str, span: tuple[int, int]) -> None:  # noqa: ANN401 -- as above
        if block.kind == "code":
            return
        block.text = span if block.text is None else (min(block.text[0], span[0]), max(block.text[1], span[1]))
        if started in ("Link", "Image") or _is_code(event):
            block.spans.append(span)

    def _close(self, block: _Open) -> None:
        if block.kind is None or (block.text is None and block.kind != "item"):
            return
        at = self._point
        nothing = (block.whole[0], block.whole[0])
        start, end = block.whole if block.kind == "row" else block.text or nothing
        self.found.append(
            TextBlock(
                kind=block.kind,
                start=at(start),
                end=at(end),
                whole=(at(block.whole[0]), at(block.whole[1])),
                items=block.items,
                spans=tuple((at(first), at(last)) for first, last in block.spans),
            )
        )


def _name(event: Any, key: str) -> str:  # noqa: ANN401 -- as above
    """Return the name of the block that an event starts or ends; empty for other events."""
    value = event.get(key) if isinstance(event, dict) else None
    if isinstance(value, str):
        return value
    return str(next(iter(_mapping(value)), ""))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _is_code(event: Any) -> bool:  # noqa: ANN401 -- as above
    return isinstance(event, dict) and "Code" in event
