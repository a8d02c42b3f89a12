"""Records of a transcript: JSON lines, one JSON document, or documents in a row, whatever is broken among them.

A file may begin with a byte order mark, end its lines with CRLF, stop in the middle of a line, be UTF-16 (as a shell of
Windows writes it), or hold documents over several lines. None of this stops the reading: lines that cannot be read are
counted and named.
"""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

HostRecord = dict[str, object]

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_MOST_DOCUMENTS_TRIED = 200  # starts of documents over several lines that turned out to be broken
_NAMED = 5


class FaultyLineError(ValueError):
    """A line is no JSON object, so that the file has to be read as one with faults."""


class Records(Struct, kw_only=True):
    """The records of a file that are JSON objects, each with its number, and sentences about the rest.

    The number is the line in the file, from 1; the place in the list if the whole file is one JSON list. `is_single` is
    true if the file is one document. `torn` is true if the last line is the beginning of a record. The lines of a file
    without faults are decoded one by one, each time that `items` is asked for: a long session is never held as a whole.
    """

    lines: tuple[bytes, ...] = ()
    decoded: tuple[tuple[int, HostRecord], ...] = ()
    notes: tuple[str, ...] = ()
    torn: bool = False

    @property
    def is_single(self) -> bool:
        """Whether there is one record."""
        return len(self.decoded) == 1 or sum(not _is_blank(line) for line in self.lines[:_FEW]) == 1

    @property
    def items(self) -> Iterator[tuple[int, HostRecord]]:
        """The records, each with its number.

        Raises:
            FaultyLineError: a line cannot be read.
        """
        return iter(self.decoded) if self.decoded else self._decode_lines()

    def _decode_lines(self) -> Iterator[tuple[int, HostRecord]]:
        decode, others, found = _decode, 0, False
        for number, line in enumerate(self.lines, start=1):
            if not line or line == b"\r":
                continue
            try:
                value = decode(line)
            except (ValueError, RecursionError):
                raise FaultyLineError from None
            if type(value) is dict:
                found = True
                yield number, value
            elif type(value) is list and not found:
                raise FaultyLineError  # a list of records, or the start of a document over several lines
            else:
                others += 1
        self.notes = tuple(_notes([], others))


_decode = msgspec.json.Decoder().decode
_FEW = 1000


def read_records(data: bytes) -> Records:
    """Return the records of a file, taken as JSON lines without a fault, as almost every file is."""
    if b"\n" not in data.rstrip():
        return read_records_with_faults(data)  # one document, to be decoded once
    return Records(lines=tuple(as_utf8(data).split(b"\n")))


def read_records_with_faults(data: bytes) -> Records:
    """Return the records of a file, whatever is broken in it. Never raises."""
    data = as_utf8(data)
    try:
        whole = _decode(data)
    except (ValueError, RecursionError):
        return _read_with_faults(data)
    return Records(decoded=tuple(_rows(whole)), notes=tuple(_notes([], not isinstance(whole, dict | list))))


def _rows(value: object) -> Iterator[tuple[int, HostRecord]]:
    if isinstance(value, list):
        yield from ((place, row) for place, row in enumerate(filter(_is_row, value), start=1))
    elif isinstance(value, dict):
        yield 1, value


def _is_row(value: object) -> bool:
    return isinstance(value, dict)


def _is_blank(line: bytes) -> bool:
    return not line or line == b"\r"


def as_utf8(data: bytes) -> bytes:
    """Return a text without its byte order mark, in UTF-8."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :]
            return text if encoding == "utf-8" else text.decode(encoding, "replace").encode("utf-8", "replace")
    return data


def _read_with_faults(data: bytes) -> Records:
    items: list[tuple[int, HostRecord]] = []
    broken: list[int] = []
    others, last_line = 0, 0
    for number, value in _documents(data.decode("utf-8", "replace"), broken):
        last_line = number
        match value:
            case dict():
                items.append((number, value))
            case list() if not items and (rows := list(_rows(value))):
                items += rows
            case _:
                others += 1
    torn = bool(broken) and broken[-1] > last_line
    return Records(decoded=tuple(items), notes=tuple(_notes(broken, others)), torn=torn)


def _documents(text: str, broken: list[int]) -> Iterator[tuple[int, object]]:
    """Yield each JSON value with the number of its first line; add the lines that belong to none to `broken`."""
    decoder = json.JSONDecoder()
    at, number, tried = 0, 1, 0
    while at < len(text):
        char = text[at]
        if char == "\n":
            at, number = at + 1, number + 1
        elif char in " \t\r,":
            at += 1
        else:
            end = text.find("\n", at)
            line = text[at:] if end < 0 else text[at:end]
            try:
                value, length = decoder.raw_decode(line)
            except (ValueError, RecursionError):
                length = -1
                if char in "{[" and tried < _MOST_DOCUMENTS_TRIED:
                    try:
                        value, stop = decoder.raw_decode(text, at)
                        length = stop - at
                    except (ValueError, RecursionError):
                        tried += 1
            if length < 0:
                broken.append(number)
                at += len(line)
                continue
            yield number, value
            number += text.count("\n", at, at + length)
            at += length


def _notes(broken: list[int], others: int) -> Iterator[str]:
    if broken:
        named = ", ".join(map(str, broken[:_NAMED])) + (", ..." if len(broken) > _NAMED else "")
        lines = "1 line is" if len(broken) == 1 else f"{len(broken)} lines are"
        yield f"{lines} not JSON and left out: line {named}"
    if others:
        values = "1 JSON value is" if others == 1 else f"{others} JSON values are"
        yield f"{values} not an object and left out"
