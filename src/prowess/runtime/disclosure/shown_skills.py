"""The lists of skills of one session, each computed once per state of catalog, policy and session.

If a list cannot show every name, it prefers the skills that match the task, if one is given, then the skills used in
this session, then those of the highest `priority`, then the first by name. It is sorted by name, or with the best match
first if there is a task.
"""

from __future__ import annotations

from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from prowess.runtime.activation.freshness import look_again
from prowess.runtime.disclosure.skill_list import Candidates, ListedSkill, SkillList, fit, fit_best, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.catalog import SkillEntry
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.session_state import StoredState

_MOST_KEPT = 16  # lists; the oldest is dropped
_MOST_MATCHES = 200  # a list of 4000 tokens has fewer skills


class ListForm:
    """A form of the list. `most` limits the number of skills, the best first; `beside` measures names told elsewhere.

    The sizes that `measure` and `beside` return are in the unit of the budget, characters or bytes.
    """

    def __init__(
        self,
        name: str,
        render: Callable[[SkillList], str],
        *,
        measure: Callable[[str], int] = len,
        beside: Callable[[SkillList], int] | None = None,
        most: int | None = None,
    ) -> None:
        self.name, self.render, self.most = name, render, most
        self._measure, self._beside = measure, beside

    def size(self, listed: SkillList) -> int:
        """Return the size of the rendered list and of the names beside it."""
        return self._measure(self.render(listed)) + (0 if self._beside is None else self._beside(listed))


class ShownList:
    """A computed list: its text, the entries in it, and the used skills on which its choice depends."""

    __slots__ = ("entries", "listed", "text", "used")

    def __init__(self, listed: SkillList, text: str, entries: tuple[SkillEntry, ...], used: tuple[str, ...]) -> None:
        self.listed, self.text, self.entries, self.used = listed, text, entries, used


class ShownSkills:
    """Computes and caches the lists of one session. Every list is checked with `stat` before it is returned."""

    def __init__(self, offered: Visibility, stored: StoredState, *, expose_location: bool) -> None:
        self._offered, self._stored = offered, stored
        self._expose_location = expose_location
        self._lock = Lock()  # a `SyncSession` may be used from several threads
        self._last: ShownList | None = None
        self._offers: tuple[SkillEntry, ...] | None = None
        self._kept: dict[tuple[str, int, str | None], ShownList] = {}
        self._least = 0
        self._by_priority: tuple[SkillEntry, ...] = ()
        self._by_key: dict[str, SkillEntry] = {}
        self.has_forks = False

    def fitted(self, form: ListForm, room: int, task: str | None = None) -> ShownList:
        """Return the list of a form, with a size of at most `room`."""
        kept = self._current(form, room, task)
        if look_again(self._offered.catalog, kept.entries):
            kept = self._current(form, room, task)
        self._last = kept
        return kept

    def look(self) -> None:
        """Refresh the catalog if a searched directory or a skill of the last list has changed. Blocks."""
        self._offered.catalog.look_again(() if self._last is None else self._last.entries)

    def _current(self, form: ListForm, room: int, task: str | None) -> ShownList:
        with self._lock:
            self._take_offers()
            used, whole = self._stored.state.used, (form.name, room, None)
            key = whole if self._has_all(whole) else (form.name, room, task)
            kept = self._kept.pop(key, None)
            if kept is None or (kept.listed.left_out and kept.used != used):
                kept = self._computed(form, room, task, used)
            self._kept[key if kept.listed.left_out or form.most is not None else whole] = kept
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            return kept

    def _has_all(self, key: tuple[str, int, None]) -> bool:
        """Whether a list without a task shows every skill. Then it is the list for every task."""
        kept = self._kept.get(key)
        return kept is not None and not kept.listed.left_out

    def _take_offers(self) -> None:
        offers = self._offered.offers("model")
        if offers is not self._offers:
            self._offers, self._kept, self._by_key = offers, {}, {}
            self._least = sum(len(entry.name) for entry in offers)
            self._by_priority = tuple(sorted(offers, key=lambda entry: -entry.priority))
            self.has_forks = any(entry.is_fork for entry in offers)

    def _computed(self, form: ListForm, room: int, task: str | None, used: tuple[str, ...]) -> ShownList:
        offers = self._offers or ()
        chosen: dict[ListedSkill, SkillEntry] = {}
        whole: dict[ListedSkill, SkillEntry] = {}
        preferred = self._preferred(task, used)

        def best(count: int) -> list[ListedSkill]:
            for entry in islice(preferred, max(0, count - len(chosen))):
                chosen[self._listed(entry)] = entry
            return list(chosen)[:count]

        def every() -> list[ListedSkill]:
            whole.update((self._listed(entry), entry) for entry in offers)
            return list(whole)

        if form.most is not None:
            found = fit_best(best(form.most), len(offers), form.size, room)
        else:
            found = fit(Candidates(len(offers), self._least, every, best), form.size, room)
        shown = found.shown if task is not None else tuple(sorted(found.shown, key=lambda skill: skill.name))
        found = SkillList(shown=shown, limit=found.limit, left_out=found.left_out)
        return ShownList(
            found, text_of(found, form.render, room), tuple((whole or chosen)[skill] for skill in shown), used
        )

    def _preferred(self, task: str | None, used: tuple[str, ...]) -> Iterator[SkillEntry]:
        """Yield every skill once, the preferred ones first."""
        seen: set[int] = set()
        groups = (
            self._offered.matching(task, "model", _MOST_MATCHES) if task else (),
            self._used(used),
            self._by_priority,
        )
        for group in groups:
            for entry in group:
                if id(entry) not in seen:
                    seen.add(id(entry))
                    yield entry

    def _used(self, keys: tuple[str, ...]) -> Iterator[SkillEntry]:
        if keys and not self._by_key:
            self._by_key = {entry.key: entry for entry in self._offers or ()}
        return (entry for key in keys if (entry := self._by_key.get(key)) is not None)

    def _listed(self, entry: SkillEntry) -> ListedSkill:
        return ListedSkill(
            name=entry.name,
            description=entry.description,
            location=entry.location if self._expose_location else None,
            is_fork=entry.is_fork,
            origin=None if entry.origin is None else entry.source,
        )
