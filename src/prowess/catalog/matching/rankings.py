"""`Rankings`: the postings of one catalog, with and without bodies, made at the first match and kept up to date."""

from __future__ import annotations

import os
import re
from _thread import allocate_lock
from typing import TYPE_CHECKING, cast

from prowess._internal.files.open_flags import READ
from prowess.catalog.matching.fields import LONGEST, body_text, fields_of
from prowess.catalog.matching.match import Match, Reason
from prowess.catalog.matching.postings import Postings
from prowess.catalog.matching.ranking import Asked, best, scored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from prowess.catalog.catalog_index import CatalogIndex
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.matching.fields import FieldText

_NAMED = re.compile(r"(?:^|(?<=[\s(\"'`]))[/$]([^\s/$,;:!?\"'`()]+(?:[/:@][^\s/$,;:!?\"'`()]+)?)")
_HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class Rankings:
    """The rankings of one catalog."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._kept: dict[bool, tuple[int, Postings[SkillEntry]]] = {}
        self._allowed: dict[bool, tuple[Collection[SkillEntry], frozenset[int]]] = {}

    def match(
        self,
        task: str,
        limit: int,
        generation: int,
        index: CatalogIndex,
        *,
        bodies: bool,
        among: Collection[SkillEntry] | None,
    ) -> tuple[Match, ...]:
        """Return the matches among the skills of `index`, which has this generation or a later one."""
        if limit < 1:
            return ()
        first = [] if "/" not in task and "$" not in task else _called(task, index, among)[:limit]
        with self._lock:
            found = self._matches(task, limit, self._postings(generation, index, bodies=bodies), among, bodies=bodies)
        named = {match.entry for match in first}
        return (*first, *(match for match in found if match.entry not in named))[:limit]

    def _postings(self, generation: int, index: CatalogIndex, *, bodies: bool) -> Postings[SkillEntry]:
        known = self._kept.get(bodies)
        if known is not None and known[0] == generation:
            return known[1]
        postings = Postings(_with_body, drops_fast=False) if bodies else Postings(fields_of)
        if known is not None:
            postings = known[1]
        postings.follow(index.entries)
        self._kept[bodies] = generation, postings
        self._allowed.pop(bodies, None)
        return postings

    def _matches(
        self,
        task: str,
        limit: int,
        postings: Postings[SkillEntry],
        among: Collection[SkillEntry] | None,
        *,
        bodies: bool,
    ) -> list[Match]:
        asked = Asked(task, postings)
        entries = cast("list[SkillEntry]", postings.items)  # an entry that is gone is in no posting
        allowed = None if among is None else self._numbers(postings, among, bodies=bodies)
        evidence = asked.evidence(limit, allowed)
        ranked = best(evidence, limit, lambda number: (entries[number].name, entries[number].location))
        return [
            Match(entry=entries[number], score=rated, reasons=asked.reasons(number))
            for number, rated in scored(ranked, asked, bodies=bodies)
        ]

    def _numbers(
        self, postings: Postings[SkillEntry], among: Collection[SkillEntry], *, bodies: bool
    ) -> Collection[int]:
        """Return the numbers of entries. Kept for the same collection, because a session asks with one many times."""
        known = self._allowed.get(bodies)
        if known is None or known[0] is not among or not isinstance(among, tuple):
            numbers = postings.numbers
            known = among, frozenset(numbers[entry] for entry in among if entry in numbers)
            self._allowed[bodies] = known
        return known[1]


def _called(task: str, index: CatalogIndex, among: Collection[SkillEntry] | None) -> list[Match]:
    """Return the skills that the task names as `/name` or `$name`, in the order of the task."""
    found: dict[SkillEntry, Match] = {}
    for written in _NAMED.finditer(task):
        entry = index.named(written.group(1)) or index.named(written.group(1).rstrip("."))
        if entry is not None and (among is None or entry in among):
            reason = Reason(word=written.group(), field="name")
            found.setdefault(entry, Match(entry=entry, score=1.0, reasons=(reason,)))
    return list(found.values())


def _with_body(entry: SkillEntry) -> Iterator[FieldText]:
    yield from fields_of(entry)
    yield "body", _body_of(entry)


def _body_of(entry: SkillEntry) -> str:
    """Read the beginning of a skill's body from the disk; "" if it cannot be read now."""
    try:
        fd = os.open(entry.location, READ)
    except OSError:
        return ""
    try:
        data = os.read(fd, 4 * LONGEST)
    except OSError:
        return ""
    finally:
        os.close(fd)
    return body_text(_HEAD.sub(b"", data, count=1).decode("utf-8", "replace"))
