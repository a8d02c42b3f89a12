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


class Records(Struct, frozen=True, kw_only=True):
    """The records of a file that are JSON objects, each with its number, and sentences about the rest.

    The number is the line in the file, from 1; the place in the list if the whole file is one JSON list. `torn` is true
    if the last line is the beginning of a record.
    """

    items: tuple[tuple[int, HostRecord], ...]
    notes: tuple[str, ...] = ()
    torn: bool = False


_decode = msgspec.json.Decoder().decode


def read_records(data: bytes) -> Records:
    """Return the records of a file. Never raises."""
    data = _as_utf8(data)
    items: list[tuple[int, HostRecord]] = []
    broken: list[int] = []
    others = 0
    try:
        # Almost every file is JSON lines without a fault.
        for number, line in enumerate(data.split(b"\n"), start=1):
            if line and (line != b"\r"):
                value = _decode(line)
                if type(value) is dict:
                    items.append((number, value))
                elif type(value) is list and not items:
                    raise ValueError  # noqa: TRY301 -- a list of records, or the start of a document over several lines
                else:
                    others += 1
    except (ValueError, RecursionError):
        return _read_with_faults(data)
    return Records(items=tuple(items), notes=tuple(_notes(broken, others)))


def _as_utf8(data: bytes) -> bytes:
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
            case list() if not items and (rows := [row for row in value if isinstance(row, dict)]):
                items += [(place, row) for place, row in enumerate(rows, start=1)]
            case _:
                others += 1
    torn = bool(broken) and broken[-1] > last_line
    return Records(items=tuple(items), notes=tuple(_notes(broken, others)), torn=torn)


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
