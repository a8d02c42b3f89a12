"""Rows of the index file (`prowess.store.index_file`) for readings and listings, and back.

A reading is stored under the key of each name that it has or reserves, with all values in each row. Most plain readings
need no values beside their front matter. Those of the full parser are stored as msgpack, which is decoded strictly into
the known types.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from prowess.catalog.entry import key_of
from prowess.catalog.memo.readings import Listing, Reading
from prowess.store.index_faults import UnusableIndexError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from prowess.store.index_file import DirectoryRow, SkillRow

_FILE = "SKILL.md"
_DEFERRED, _PLAIN = b"\1", b"\0"  # first byte of the data of a plain reading; msgpack begins with another byte


def keys_of(reading: Reading, directory: str) -> tuple[str, ...]:
    """Return the keys of the names that the skill in `directory` has, or reserves if it is skipped."""
    if reading.reserved is None:
        return (key_of(reading.name),)
    return tuple(dict.fromkeys(map(key_of, reading.reserved))) or (key_of(directory.rpartition("/")[2]),)


def skill_rows(readings: Mapping[str, Reading], only: AbstractSet[str] | None = None) -> list[SkillRow]:
    """Return the rows of settled `readings`, which are by directory; with `only`, those with one of these keys.

    A reading with a name or path that is not UTF-8 has no row.
    """
    rows: list[SkillRow] = []
    places: dict[str, bytes] = {}
    for directory, reading in readings.items():
        keys = keys_of(reading, directory)
        if only is not None and only.isdisjoint(keys):
            continue
        parent, _, name = directory.rpartition("/")
        try:
            place = places.get(parent) or places.setdefault(parent, os.fsencode(parent))
            if not name.isascii():
                name.encode()
            source, data = values_of(reading)
            if source and not reading.deferred and (reading.name,) == keys:
                data = b""
        except UnicodeEncodeError:
            continue
        rows += [
            (key, place, "" if name == key else name, reading.stamp, 1, source, data)
            for key in keys
            if only is None or key in only
        ]
    rows.sort(key=_first)  # in the order of the table, which makes it smaller
    if twice := {row[0] for row, following in pairwise(rows) if row[0] == following[0]}:
        copies = Counter(row[0] for row in rows)
        rows = [(*row[:4], copies[row[0]], *row[5:]) if row[0] in twice else row for row in rows]
    return rows


def _first(row: SkillRow) -> str:
    return row[0]


def values_of(reading: Reading) -> tuple[bytes, bytes]:
    """Return what `reading_of` needs: the front matter if it is plain, and the other values.

    Raises:
        UnicodeEncodeError: the name is not UTF-8.
    """
    if isinstance(reading.facts, bytes):
        return reading.facts, (_DEFERRED if reading.deferred else _PLAIN) + reading.name.encode()
    import msgspec  # Imported here: plain readings do not need it, and importing it takes longer than a listing.

    values = (reading.name, reading.file, reading.facts, reading.faults, reading.reserved)
    return b"", msgspec.msgpack.encode(values)


def reading_of(stamp: int, facts: bytes, data: bytes) -> Reading:
    """Return the reading with the `values_of` one with this stamp. Raises UnusableIndexError."""
    if (mark := data[:1]) in (_PLAIN, _DEFERRED):
        try:
            name = data[1:].decode()
        except UnicodeDecodeError:
            raise UnusableIndexError("the file is damaged: a name cannot be decoded") from None
        return Reading(name, _FILE, facts, stamp, True, mark == _DEFERRED)  # noqa: FBT003 -- see `Reading`
    import msgspec  # Imported here: plain readings do not need it.

    from prowess.catalog.memo.values import StoredReading

    try:
        values = msgspec.msgpack.decode(data, type=StoredReading)
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise UnusableIndexError("the file is damaged: a reading cannot be decoded") from None
    return Reading(
        values.name, values.file, values.facts, stamp, settled=True, faults=values.faults, reserved=values.reserved
    )


# ── directories ────────────────────────────────────────────────────────────────────────────────────────


def directory_row(directory: str, listing: Listing | None, stored: Mapping[str, Reading]) -> DirectoryRow:
    """Return the row of a directory. `stored` are the readings that have rows, by directory.

    The names of skills are not repeated: their rows have them, and the checksum covers the names of all directories. A
    row without a listing only numbers the directory.
    """
    path = os.fsencode(directory)
    if listing is None or not listing.settled:
        return path, 0, b""
    others = [name for name in listing.directories if not _has_plain_row(stored.get(f"{directory}/{name}"))]
    parts = "/".join("\0".join(names) for names in (others, listing.links, listing.loose))
    try:
        checksum = crc32("\0".join(listing.directories).encode())
        return path, listing.stamp, checksum.to_bytes(4, "big") + parts.encode()
    except UnicodeEncodeError:
        return path, 0, b""  # a name that is not UTF-8


def _has_plain_row(reading: Reading | None) -> bool:
    # `skill.md` is found by searching its directory, which counts as a searched one.
    return reading is not None and reading.file == _FILE


def listing_of(row: DirectoryRow, skills: Iterable[str], *, whole: bool) -> Listing | None:
    """Return the listing of a row, or None if the row has none. `skills` are the names of skills in the directory.

    If `whole` is False, other skills of the directory are left out of the listing.

    Raises:
        UnusableIndexError: the row is damaged, or a skill is missing.
    """
    _, stamp, data = row
    if stamp == 0:
        return None
    parts = data[4:].decode().split("/")
    if len(parts) != 3:  # noqa: PLR2004 -- directories, links, misspelled files
        raise UnusableIndexError("the file is damaged: a directory cannot be decoded")
    others, links, loose = (part.split("\0") if part else [] for part in parts)
    directories = sorted(dict.fromkeys((*skills, *others)))  # most skills are in this order already: that of their keys
    if whole and crc32("\0".join(directories).encode()) != int.from_bytes(data[:4], "big"):
        return None
    listing = Listing(directories, links, loose)
    listing.stamp, listing.settled = stamp, True
    return listing
