"""The text of one file: its bytes decoded, and its offsets as lines and columns."""

from __future__ import annotations

from msgspec import Struct

from prowess.diagnostics import Edit, Location
from prowess.format.limits import MAX_DOCUMENT_BYTES, MAX_FRONT_MATTER_BYTES


class SourceText(Struct, frozen=True, kw_only=True):
    """The text of one file: line breaks are LF, a leading byte-order mark is cut off and remembered in `bom`."""

    path: str | None
    text: str
    bom: bool = False

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, 1-based, as the file lies on disk."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, line_start) + 1
        return line, offset - line_start + 1 + (self.bom and line == 1)

    def location(self, start: int, end: int | None = None) -> Location:
        """Return the place from `start` up to `end`, a point where `end` is None."""
        line, column = self.position(start)
        if end is None or end <= start:
            return Location(path=self.path, line=line, column=column)
        end_line, end_column = self.position(end)
        return Location(path=self.path, line=line, column=column, end_line=end_line, end_column=end_column)

    def edit(self, start: int, end: int, text: str) -> Edit:
        """Return the edit that replaces the text from `start` to `end`."""
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Edit(line=line, column=column, end_line=end_line, end_column=end_column, text=text)


_BOM = "\ufeff"


class TextFault(Struct, frozen=True, kw_only=True):
    """A fault of the bytes; `offset` counts code points of the decoded text."""

    rule: str
    message: str
    offset: int
    detail: str | None = None


class Decoded(Struct, frozen=True, kw_only=True):
    """The text, whether a byte-order mark was cut off, whether the end was, and what was wrong.

    `lone_return` is the offset of the first carriage return that no line feed follows; it became a line break.
    """

    text: str
    bom: bool
    cut: bool
    faults: tuple[TextFault, ...]
    lone_return: int | None = None


def decode(source: bytes) -> Decoded:
    """Decode at most `MAX_DOCUMENT_BYTES` of `source`: UTF-8 always, whatever the locale; every line break an LF.

    One leading byte-order mark is dropped. Nothing raises: what cannot be decoded is replaced, so that the rest can
    still be read, and reported by byte offset.
    """
    faults = []
    cut = len(source) > MAX_DOCUMENT_BYTES
    if cut:
        message = f"the file has {len(source)} bytes, at most {MAX_DOCUMENT_BYTES} are read; move detail to references/"
        faults.append(TextFault(rule="file.size", message=message, offset=0))
        source = _whole_characters(source[:MAX_DOCUMENT_BYTES])
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError as fault:
        text = _replaced(source, fault.start)
        before = source[: fault.start].decode("utf-8")
        message = f"byte 0x{source[fault.start]:02x} at offset {fault.start} is not UTF-8; save the file as UTF-8"
        faults.append(
            TextFault(rule="encoding.invalid", message=message, offset=_length(before), detail=f"byte {fault.start}")
        )
    bom = text.startswith(_BOM)
    if bom:
        text = text[1:]
        faults.append(
            TextFault(rule="encoding.bom", message="the file starts with a byte-order mark; save it without", offset=0)
        )
    if (nul := text.find("\0")) >= 0:
        offset = source.index(0)
        message = f"a NUL character stands at byte {offset}; remove it"
        faults.append(
            TextFault(rule="encoding.nul", message=message, offset=_length(text[:nul]), detail=f"byte {offset}")
        )
        text = text.replace("\0", "\ufffd")
    lone_return = None
    if "\r" in text:
        at = text.replace("\r\n", "\n").find("\r")
        lone_return = None if at < 0 else at
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text=text, bom=bom, cut=cut, faults=tuple(faults), lone_return=lone_return)


def _replaced(source: bytes, first_bad: int) -> str:
    """Decode what can be read. Replacing is slow, so that far behind the first bad byte each byte is a character."""
    near = first_bad + MAX_FRONT_MATTER_BYTES
    return source[:near].decode("utf-8", "replace") + source[near:].decode("latin-1")


def _length(text: str) -> int:
    """The length of `text` once its line breaks are LF and its byte-order mark is gone."""
    return len(text) - text.count("\r\n") - text.startswith(_BOM)


def _whole_characters(source: bytes) -> bytes:
    """Drop a character that the cut split in two; at most three bytes."""
    end = len(source)
    while end and len(source) - end < 3 and source[end - 1] & 0xC0 == 0x80:  # noqa: PLR2004 -- continuation bytes of UTF-8
        end -= 1
    return source[: end - 1] if end and source[end - 1] >= 0xC0 else source  # noqa: PLR2004 -- a lead byte of UTF-8
