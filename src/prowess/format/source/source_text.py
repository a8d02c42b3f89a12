"""The text of one file: decoding of its bytes, and conversion of offsets to lines and columns."""

from __future__ import annotations

from msgspec import Struct

from prowess.diagnostics import Edit, Location
from prowess.format.limits import MAX_DOCUMENT_BYTES, MAX_FRONT_MATTER_BYTES


class SourceText(Struct, frozen=True, kw_only=True):
    """The text of one file, with LF line breaks. A leading byte-order mark is removed and recorded in `bom`."""

    path: str | None
    text: str
    bom: bool = False

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, 1-based. A byte-order mark counts as a character of the first line."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, line_start) + 1
        return line, offset - line_start + 1 + (self.bom and line == 1)

    def location(self, start: int, end: int | None = None) -> Location:
        """Return the place from `start` to `end`, or the point at `start` if `end` is None."""
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
    """A fault of the bytes. `offset` counts code points of the decoded text."""

    rule: str
    message: str
    offset: int
    detail: str | None = None


class Decoded(Struct, frozen=True, kw_only=True):
    """The result of `decode`.

    `bom` is true if a byte-order mark was removed, `cut` if the file was too long and its end was dropped.
    `lone_return` is the offset of the first carriage return without a line feed; it became a line break.
    """

    text: str
    bom: bool
    cut: bool
    faults: tuple[TextFault, ...]
    lone_return: int | None = None


def decode(source: bytes) -> Decoded:
    """Decode at most `MAX_DOCUMENT_BYTES` of `source` as UTF-8, independent of the locale. Line breaks become LF.

    One leading byte-order mark is removed. Invalid bytes raise no error: they are replaced, so that the other text can
    still be read, and the first invalid byte is reported with its offset.
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
        message = f"there is a NUL character at byte {offset}; remove it"
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
    """Decode with replacement characters. This is slow, so bytes far after the first fault are decoded as Latin-1."""
    near = first_bad + MAX_FRONT_MATTER_BYTES
    return source[:near].decode("utf-8", "replace") + source[near:].decode("latin-1")


def _length(text: str) -> int:
    """The length of `text` without its byte-order mark and with LF line breaks."""
    return len(text) - text.count("\r\n") - text.startswith(_BOM)


def _whole_characters(source: bytes) -> bytes:
    """Drop a character that was cut in two at the end: at most three bytes."""
    end = len(source)
    while end and len(source) - end < 3 and source[end - 1] & 0xC0 == 0x80:  # noqa: PLR2004 -- continuation bytes of UTF-8
        end -= 1
    return source[: end - 1] if end and source[end - 1] >= 0xC0 else source  # noqa: PLR2004 -- a lead byte of UTF-8
