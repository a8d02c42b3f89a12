"""Read YAML as a tree of text with positions, without types, expansion or execution.

libyaml parses the text, through PyYAML, one event at a time. Scalars keep their text (`1.0`, `on` and `null` are text),
and every node has its position. Constructs that a node tree would hide or expand (anchors, aliases, tags, merge keys, a
second document) are reported as faults with a name. The work is limited: reading stops at a maximum of nesting and of
nodes.

libyaml treats U+0085, U+2028 and U+2029 as line ends. To an editor they are ordinary characters, so a value could
contain a second key that the reader of the file does not see. Before parsing, each of them is replaced by a character
that does not occur in the text, and restored in the result. The replacement is also one character, so positions stay
correct.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml.error import MarkedYAMLError

    # PyYAML's stubs lack attributes that every event of libyaml has.
    Event = Any

MAX_DEPTH = 20  # nested collections, including the outermost
MAX_NODES = 10_000
MAX_FAULTS = 100  # a hostile text must not produce a million findings

_CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]"
_LINE_ENDS = "[\x85\u2028\u2029]"
_WIDE_ESCAPE = r"\\U([0-9a-fA-F]{8})"
_STAND_INS = range(0xF0000, 0xFFFFE)  # a private use plane: it has more characters than any front matter


class Scalar(Struct, frozen=True, kw_only=True):
    """A text, with offsets into the source. `style` is empty for a plain scalar, else `'`, `"`, `|` or `>`."""

    text: str
    style: str
    start: int
    end: int


class Sequence(Struct, frozen=True, kw_only=True):
    """A list; `flow` is true for the bracketed form."""

    items: tuple[Node, ...]
    flow: bool
    start: int
    end: int


class Mapping(Struct, frozen=True, kw_only=True):
    """Entries in the order of the source, including duplicates; `flow` is true for the braced form."""

    entries: tuple[tuple[Node, Node], ...]
    flow: bool
    start: int
    end: int


Node = Scalar | Sequence | Mapping


class YamlFault(Struct, frozen=True, kw_only=True):
    """One construct that is not allowed.

    `construct` is `syntax` if libyaml rejects the text, else the kind of the construct: `alias`, `anchor`, `tag`,
    `merge key`, `document`, `depth`, `nodes` or `control character`. For `syntax`, `context` is the offset at which the
    broken construct begins, and `problem` is libyaml's own phrase.
    """

    construct: str
    offset: int
    context: int
    problem: str = ""


class YamlReading(Struct, frozen=True, kw_only=True):
    """Result of `read_yaml`. `root` is None if the text is empty or reading stopped; `nodes` counts the nodes read."""

    root: Node | None
    faults: tuple[YamlFault, ...]
    nodes: int


class LibyamlMissingError(ImportError):
    """PyYAML was built without libyaml. Its pure Python parser is not used, because it reads some texts differently."""

    def __str__(self) -> str:
        return (
            "PyYAML was installed without libyaml, and without it skills would be read differently; "
            "install a wheel: pip install --only-binary=:all: --force-reinstall PyYAML"
        )


def read_yaml(text: str, *, base: int = 0, most_nodes: int = MAX_NODES) -> YamlReading:
    """Read one document. Offsets in the result count from `base`. Faults in the text are in the result, not raised.

    More than `most_nodes` nodes are a fault.

    Raises:
        LibyamlMissingError: this installation of PyYAML lacks libyaml.
    """
    restore: Callable[[str], str] | None = None
    if text.replace("\n", "").isprintable():  # no pattern below can match; compiling the patterns takes long
        return _Reader(text, base, restore, most_nodes).read()
    if control := re.search(_CONTROL, text):
        return YamlReading(
            root=None,
            faults=(
                YamlFault(construct="control character", offset=control.start() + base, context=control.start() + base),
            ),
            nodes=0,
        )
    if re.search(_LINE_ENDS, text):
        text, restore = _hide_line_ends(text)
    return _Reader(text, base, restore, most_nodes).read()


def _hide_line_ends(text: str) -> tuple[str, Callable[[str], str]]:
    # An escape such as "\U000F0000" could produce a replacement character, so escaped characters count as taken too.
    taken = {ord(char) for char in set(text)} | {int(digits, 16) for digits in re.findall(_WIDE_ESCAPE, text)}
    free = (chr(point) for point in _STAND_INS if point not in taken)
    hide = {line_end: next(free) for line_end in "\x85\u2028\u2029"}
    show = {stand_in: line_end for line_end, stand_in in hide.items()}
    forth, back = str.maketrans(hide), str.maketrans(show)
    return text.translate(forth), lambda value: value.translate(back)


class _Reader:
    def __init__(self, text: str, base: int, restore: Callable[[str], str] | None, most_nodes: int) -> None:
        self._text = text
        self._most_nodes = most_nodes
        self._base = base
        self._restore = restore
        self._faults: list[YamlFault] = []
        self._nodes = 0
        self._documents = 0
        # Open collections: (their nodes so far, start offset, is a mapping, is in flow style).
        self._open: list[tuple[list[Node], int, bool, bool]] = []
        self._root: Node | None = None
        self._last: Event | None = None

    def read(self) -> YamlReading:
        # Imported here, not at the top: PyYAML takes 20 ms to import, and plain front matter is read without it.
        from yaml.error import MarkedYAMLError, YAMLError

        try:
            from yaml._yaml import CParser
        except ImportError as missing:
            raise LibyamlMissingError from missing
        parser = CParser(self._text)
        try:
            complete = self._consume(parser.get_event)
        except MarkedYAMLError as refusal:
            complete = False
            self._faults.append(self._syntax_fault(refusal))
        # An error of libyaml's reader, below the parser; control characters were checked before.
        except YAMLError as refusal:
            complete = False
            self._faults.append(
                YamlFault(construct="syntax", offset=self._base, context=self._base, problem=str(refusal))
            )
        return YamlReading(root=self._root if complete else None, faults=tuple(self._faults), nodes=self._nodes)

    def _consume(self, next_event: Callable[[], Event | None]) -> bool:  # noqa: C901, PLR0912 -- calls would double the time
        """Build the tree; return False if reading stopped early. For speed, this is one loop without calls."""
        from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

        base, restore, opened, faults = self._base, self._restore, self._open, self._faults
        nodes, most_nodes = 0, self._most_nodes
        node: Node
        children: list[Node] | None = None  # of the innermost open collection
        while (event := next_event()) is not None:
            self._last, self._nodes = event, nodes
            kind = event.__class__
            if kind is ScalarEvent:
                text = event.value
                if event.anchor is not None or event.tag is not None:
                    self._properties(event)
                elif text == "<<" and not event.style and children is not None:
                    self._merge_key(event, len(children))
                if restore is not None:
                    text = restore(text)
                start = event.start_mark.index + base
                end = event.end_mark.index + base
                style = event.style or ""
                if style == "|" or style == ">":  # noqa: PLR1714 -- the loop is hot
                    # For libyaml a block scalar reaches to the next entry; for an author it ends with its text.
                    end = start + len(self._text[start - base : end - base].rstrip(" \n"))
                node = Scalar(text=text, style=style, start=start, end=end)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                children = self._enter(event, is_mapping=kind is MappingStartEvent)
                if children is None:
                    return False
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                items, start, is_mapping, flow = opened.pop()
                # A block collection ends with its last child; for libyaml it ends at the start of the next construct.
                end = items[-1].end if items and not flow else event.end_mark.index + base
                if is_mapping:
                    entries = tuple(zip(items[::2], items[1::2], strict=True)) if items else ()
                    node = Mapping(entries=entries, flow=flow, start=start, end=end)
                else:
                    node = Sequence(items=tuple(items), flow=flow, start=start, end=end)
                children = opened[-1][0] if opened else None
            else:
                alias = self._other(event)
                if alias is None:
                    return False
                if not alias:
                    continue
                node = Scalar(text="", style="", start=event.start_mark.index + base, end=event.end_mark.index + base)
            nodes += 1
            if nodes > most_nodes or len(faults) >= MAX_FAULTS:
                self._nodes = nodes
                self._fault("nodes", event)  # not recorded if there are MAX_FAULTS faults already
                return False
            if children is None:
                self._root = node
            else:
                children.append(node)
        return True

    def _enter(self, event: Event, *, is_mapping: bool) -> list[Node] | None:
        """Open a collection and return its list of children; None if it is nested too deep."""
        if event.anchor is not None or event.tag is not None:
            self._properties(event)
        if len(self._open) == MAX_DEPTH:
            self._fault("depth", event)
            return None
        children: list[Node] = []
        self._open.append((children, event.start_mark.index + self._base, is_mapping, bool(event.flow_style)))
        return children

    def _other(self, event: Event) -> bool | None:
        """Handle an event of any remaining kind. Return True for an alias, None if reading must stop, else False."""
        from yaml.events import AliasEvent, DocumentStartEvent

        if isinstance(event, AliasEvent):
            self._fault("alias", event)
            return True
        if isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._fault("document", event)
                return None
            if event.tags:
                self._fault("tag", event)
        return False

    def _merge_key(self, event: Event, position: int) -> None:
        if self._open[-1][2] and position % 2 == 0:
            self._fault("merge key", event)

    def _properties(self, event: Event) -> None:
        if event.anchor is not None:
            self._fault("anchor", event)
        if event.tag is not None:
            self._fault("tag", event)

    def _fault(self, construct: str, event: Event) -> None:
        if len(self._faults) >= MAX_FAULTS:
            return
        offset = event.start_mark.index + self._base
        self._faults.append(YamlFault(construct=construct, offset=offset, context=offset))

    def _syntax_fault(self, refusal: MarkedYAMLError) -> YamlFault:
        mark = refusal.problem_mark
        offset = min(mark.index, len(self._text)) if mark is not None else 0
        begin = offset
        context = refusal.context or ""
        if refusal.problem == "exceeded maximum nesting depth":
            return YamlFault(construct="depth", offset=offset + self._base, context=offset + self._base)
        if (refusal.context_mark is not None and context.startswith(("while scanning a", "while parsing a flow"))) or (
            context == "while parsing a quoted scalar" and refusal.context_mark is not None
        ):
            begin = refusal.context_mark.index
        elif self._last is not None and "\n" not in self._text[self._last.end_mark.index : offset]:
            # A construct that began on an earlier line ended on this line. It probably took in too much text, so report
            # its start.
            begin = min(begin, self._last.start_mark.index)
        return YamlFault(
            construct="syntax", offset=offset + self._base, context=begin + self._base, problem=refusal.problem or ""
        )
