"""`Rankings`: matches of one catalog, by postings that are made at the first match and kept up to date.

A process that has not scanned yet answers the first tasks by the postings in the index file (`stored`).
"""

from __future__ import annotations

import re
from _thread import allocate_lock
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from prowess.catalog.entry import key_of
from prowess.catalog.matching.bodies import with_body
from prowess.catalog.matching.fields import fields_of
from prowess.catalog.matching.match import Match, Reason
from prowess.catalog.matching.postings import Postings
from prowess.catalog.matching.ranking import Asked, best, leaders, scored
from prowess.catalog.matching.stored import StoredPostings, administered, store_postings
from prowess.catalog.memo.index import LEAST_SKILLS
from prowess.store.index_faults import UnusableIndexError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from prowess.catalog.catalog_index import CatalogIndex
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.memo.index import Index

_MOST_STORED = 3  # answers from the index file; a process that asks more often reads every skill once
_NAMED = re.compile(r"(?:^|(?<=[\s(\"'`]))[/$]([^\s/$,;:!?\"'`()]+(?:[/:@][^\s/$,;:!?\"'`()]+)?)")


class Rankings:
    """The matches of one catalog.

    `index` is its index on disk, `view` the order of its layers. `scanned` returns the generation and the index of the
    last scan. `look_at` looks only at skills with the given keys, or returns None if that is not possible.
    """

    def __init__(
        self,
        index: Index | None,
        view: str,
        scanned: Callable[[], tuple[int, CatalogIndex]],
        look_at: Callable[[Collection[str]], CatalogIndex | None],
    ) -> None:
        self._index, self._view, self._scanned, self._look_at = index, view, scanned, look_at
        self._answered = 0
        self._lock = allocate_lock()
        self._kept: dict[bool, tuple[int, Postings[SkillEntry]]] = {}
        self._allowed: dict[bool, tuple[Collection[SkillEntry], frozenset[int]]] = {}

    def match(self, task: str, limit: int, *, bodies: bool, among: Collection[SkillEntry] | None) -> tuple[Match, ...]:
        """Return the matches of `Catalog.match`."""
        if limit < 1:
            return ()
        called = [] if "/" not in task and "$" not in task else _NAMED.findall(task)
        if among is None and not self._kept and self._answered < _MOST_STORED:
            self._answered += 1
            if (found := self._stored(task, limit, called, bodies=bodies)) is not None:
                return found
        generation, index = self._scanned()
        first = _called(task, index, among)[:limit] if called else []
        with self._lock:
            is_first = not self._kept
            postings = self._postings(generation, index, bodies=bodies)
            if is_first and not bodies and postings.count >= LEAST_SKILLS:
                with suppress(UnusableIndexError):  # kept for the next process, if possible
                    self._write(postings, index, bodies=False)
            found = self._matches(task, limit, postings, among, bodies=bodies)
        return _after(first, found, limit)

    def store(self, *, bodies: bool) -> bool:
        """Write postings into the index file. Return whether they are of use there: not if others see other skills.

        Raises:
            UnusableIndexError: there is no index file, or it cannot be written.
        """
        generation, index = self._scanned()
        with self._lock:
            return self._write(self._postings(generation, index, bodies=bodies), index, bodies=bodies)

    # ── postings in memory ─────────────────────────────────────────────────────────────────────────────

    def _postings(self, generation: int, index: CatalogIndex, *, bodies: bool) -> Postings[SkillEntry]:
        known = self._kept.get(bodies)
        if known is not None and known[0] == generation:
            return known[1]
        if known is not None:
            postings = known[1]
        else:
            postings = Postings(with_body, drops_fast=False) if bodies else Postings(fields_of)
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
    ) -> tuple[Match, ...]:
        asked = Asked(task, postings)
        entries = cast("list[SkillEntry]", postings.items)  # an entry that is gone is in no posting
        allowed = None if among is None else self._numbers(postings, among, bodies=bodies)
        evidence = asked.evidence(limit, allowed)
        ranked = best(evidence, limit, lambda number: (entries[number].name, entries[number].location))
        return tuple(
            Match(entry=entries[number], score=rated, reasons=asked.reasons(number))
            for number, rated in scored(ranked, asked, bodies=bodies)
        )

    def _numbers(
        self, postings: Postings[SkillEntry], among: Collection[SkillEntry], *, bodies: bool
    ) -> Collection[int]:
        """Return the numbers of entries. Kept for the same tuple, because a session asks with one many times."""
        known = self._allowed.get(bodies)
        if known is None or known[0] is not among or not isinstance(among, tuple):
            numbers = postings.numbers
            known = among, frozenset(numbers[entry] for entry in among if entry in numbers)
            self._allowed[bodies] = known
        return known[1]

    # ── postings in the index file ─────────────────────────────────────────────────────────────────────

    def _write(self, postings: Postings[SkillEntry], index: CatalogIndex, *, bodies: bool) -> bool:
        if self._index is None or not self._index.is_current:
            raise UnusableIndexError("there is no index that is up to date")
        return store_postings(self._index.file, postings, index, self._view, bodies=bodies)

    def _stored(self, task: str, limit: int, called: Collection[str], *, bodies: bool) -> tuple[Match, ...] | None:
        """Return the matches by the postings in the index file, or None if they cannot be used."""
        if self._index is None or not self._index.exists:
            return None
        try:
            postings = StoredPostings(self._index.file, self._view, bodies=bodies)
            asked = Asked(task, postings)
            evidence = leaders(asked.evidence(limit), limit)
            postings.prepare_skills(evidence)
            ranked = best(evidence, limit, lambda number: postings.skill(number)[:2])
            rated = scored(ranked, asked, bodies=bodies)
            skills = [postings.skill(number) for number, _ in rated]
        except UnusableIndexError:
            return None
        keys = {key_of(name) for name, _, _ in skills} | {key_of(part) for name in called for part in _parts(name)}
        index = self._look_at(keys)
        if index is None or not index.is_for_everyone or administered(index) != postings.administered:
            return None
        found = []
        for (number, score), (name, location, stamp) in zip(rated, skills, strict=True):
            entry = index.winner(key_of(name))
            if entry is None or entry.location != location or entry.reading.stamp != stamp:
                return None
            found.append(Match(entry=entry, score=score, reasons=asked.reasons(number)))
        first = _called(task, index, None) if called else []
        # Like other names, one that is not found is looked for in full.
        return _after(first[:limit], found, limit) if len(first) == len(set(called)) else None


def _after(first: Collection[Match], found: Collection[Match], limit: int) -> tuple[Match, ...]:
    named = {match.entry for match in first}
    return (*first, *(match for match in found if match.entry not in named))[:limit]


def _parts(name: str) -> set[str]:
    """Return the possible names of a skill in a name with the label of a plugin."""
    return {name, name.rstrip("."), name.rpartition("@")[0], name.rpartition("/")[2].rstrip(".")} - {""}


def _called(task: str, index: CatalogIndex, among: Collection[SkillEntry] | None) -> list[Match]:
    """Return the skills that the task names as `/name` or `$name`, in the order of the task."""
    found: dict[SkillEntry, Match] = {}
    for written in _NAMED.finditer(task):
        entry = index.named(written.group(1)) or index.named(written.group(1).rstrip("."))
        if entry is not None and (among is None or entry in among):
            reason = Reason(word=written.group(), field="name")
            found.setdefault(entry, Match(entry=entry, score=1.0, reasons=(reason,)))
    return list(found.values())
