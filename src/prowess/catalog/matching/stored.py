"""Postings in the index file of a catalog, so that a process that matches once reads only those of the task's words.

They are those of the skills in use at one state of the index, and are dropped with every change of its rows. The answer
from them is used only if a look at the searched directories and at the skills in the answer shows no change
(`prowess.catalog.memo.index`), and only if all who look see the same skills.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, TypeVar

from prowess.catalog.layers import Layer
from prowess.catalog.matching.packing import (
    bucket_of,
    bucketed,
    packed,
    packed_numbers,
    packed_texts,
    unbucketed,
    unpacked,
    unpacked_numbers,
    unpacked_texts,
)
from prowess.catalog.matching.stems import stem, stemmer_name
from prowess.catalog.matching.trigrams import LONGEST, SHORTEST, most_alike, most_shared, trigrams
from prowess.store.index_faults import UnusableIndexError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from prowess.catalog.catalog_index import CatalogIndex
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.matching.postings import Posting, Postings
    from prowess.store.index_file import IndexFile

_T = TypeVar("_T")
_FORM = 2  # of the rows
_CHUNK = 128  # words, and skills, in one row
_BUCKET = 16  # stems in one row, on average


class StoredPostings:
    """The postings of one index file, with bodies or without.

    Raises:
        UnusableIndexError: by every method, if there are no postings of this view, a row is damaged, or the file was
            written meanwhile.
    """

    def __init__(self, file: IndexFile, view: str, *, bodies: bool) -> None:
        self._file, self._prefix = file, "b" if bodies else "m"
        self._postings: dict[str, Posting | None] = {}
        self._chunks: dict[tuple[str, str], list[str]] = {}
        self._state: bytes | None = None
        head = self._texts("head", "")
        if head[:-3] != _head(view):
            raise UnusableIndexError("it has no postings of these skills")
        self._state = file.state  # all other rows must be of the same state
        self._buckets, self.count, self.administered = int(head[-3]), int(head[-2]), head[-1]

    def posting(self, root: str) -> Posting | None:
        """Return the items that have a stem, or None."""
        if root not in self._postings:
            self.prepare([root])
        return self._postings[root]

    def prepare(self, stems: Iterable[str]) -> None:
        """Read the postings of several stems at once."""
        wanted = [root for root in stems if root not in self._postings]
        rows = self._bucketed("word", wanted)
        for root in wanted:
            self._postings[root] = _decoded(unpacked, rows[root]) if root in rows else None

    def near(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield the stems of known words that look like `word`, as `Postings.near`."""
        if not SHORTEST <= len(word) <= LONGEST:
            return
        numbers = most_shared(
            _decoded(unpacked_numbers, data) for data in self._bucketed("group", trigrams(word)).values()
        )
        known = [self._line("known", number) for number in numbers]
        for one, likeness in most_alike(word, known):
            yield stem(one), likeness

    def prepare_skills(self, numbers: Iterable[int]) -> None:
        """Read the rows of several skills at once."""
        rows = self._rows("skill", {str(number // _CHUNK) for number in numbers})
        self._chunks.update({("skill", chunk): _decoded(unpacked_texts, data) for chunk, data in rows.items()})

    def skill(self, number: int) -> tuple[str, str, int]:
        """Return name, location and stamp of a skill."""
        try:
            stamp, name, location = self._line("skill", number).split("\t")
            return name, location, int(stamp)
        except ValueError:
            raise UnusableIndexError("the file is damaged: a skill cannot be decoded") from None

    def _bucketed(self, kind: str, keys: Collection[str]) -> dict[str, bytes]:
        """Return the rows with these keys that there are."""
        found: dict[str, bytes] = {}
        for data in self._rows(kind, {bucket_of(key, self._buckets) for key in keys}).values():
            found.update(_decoded(unbucketed, data))
        return {key: found[key] for key in keys if key in found}

    def _line(self, kind: str, number: int) -> str:
        chunk, at = divmod(number, _CHUNK)
        texts = self._texts(kind, str(chunk))
        if at >= len(texts):
            raise UnusableIndexError("the file is damaged: a row is missing")
        return texts[at]

    def _texts(self, kind: str, key: str) -> list[str]:
        if (kind, key) not in self._chunks:
            self._chunks[kind, key] = _decoded(unpacked_texts, self._rows(kind, [key]).get(key, b""))
        return self._chunks[kind, key]

    def _rows(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        return self._file.extra_rows(self._prefix + kind, keys, at=self._state)


def store_postings(
    file: IndexFile, postings: Postings[SkillEntry], index: CatalogIndex, view: str, *, bodies: bool
) -> bool:
    """Write the postings of all skills in use; return False if others may see other skills, so that they are of no use.

    Raises:
        UnusableIndexError: the file cannot be written, or another process wrote it.
    """
    if not index.is_for_everyone or any(not _is_plain(entry) for entry in index.entries):
        return False
    numbers = {postings.numbers[entry]: at for at, entry in enumerate(index.entries)}
    prefix = "b" if bodies else "m"
    lines = [f"{entry.reading.stamp}\t{entry.name}\t{entry.location}" for entry in index.entries]
    is_same = all(number == at for number, at in numbers.items())
    rows = {
        root: packed(posting if is_same else posting.renumbered(numbers)) for root, posting in postings.stems.items()
    }
    buckets = len(rows) // _BUCKET + 1
    known = postings.trigrams()
    having = {group: packed_numbers(words) for group, words in known.having.items()}
    head = [*_head(view), str(buckets), str(len(lines)), administered(index)]
    file.replace_extra(
        {
            f"{prefix}word": bucketed(rows, buckets),
            f"{prefix}group": bucketed(having, buckets),
            f"{prefix}known": _chunked(known.words),
            f"{prefix}skill": _chunked(lines),
            f"{prefix}head": {"": packed_texts(head)},
        }
    )
    return True


def administered(index: CatalogIndex) -> str:
    """Return a digest of the enterprise skills, which are looked at in full at every match."""
    skills = [f"{one.location}\t{one.reading.stamp}" for one in index.copies if one.layer is Layer.ENTERPRISE]
    return str(zlib.crc32("\n".join(skills).encode("utf-8", "surrogatepass")))


def _head(view: str) -> list[str]:
    return [str(_FORM), str(stemmer_name()), view]


def _is_plain(entry: SkillEntry) -> bool:
    return not set("\t\n") & set(entry.name + entry.location)


def _chunked(lines: list[str]) -> dict[str, bytes]:
    return {str(at // _CHUNK): packed_texts(lines[at : at + _CHUNK]) for at in range(0, len(lines), _CHUNK)}


def _decoded(decode: Callable[[bytes], _T], data: bytes) -> _T:
    """Return decoded bytes. Raises UnusableIndexError."""
    try:
        return decode(data)
    except (ValueError, zlib.error, IndexError):
        raise UnusableIndexError("the file is damaged: postings cannot be decoded") from None
