"""Follows a catalog in a thread, so that a test can change the disk and wait for what is told."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.catalog import Catalog, Notice
    from prowess.catalog.watching.skill_changes import SkillChange

BOUND = 20.0  # seconds that a test waits for an event at most


class Following:
    """`with Following(catalog) as following:` collects every batch and notice."""

    def __init__(self, catalog: Catalog) -> None:
        self.batches: list[tuple[SkillChange, ...]] = []
        self.notices: list[Notice] = []
        self._ended = False
        self._checks = 0
        self._watch = catalog.watch(stopped=self._is_ended, tell=self.notices.append)
        self._thread = threading.Thread(target=self._follow)

    def __enter__(self) -> Self:
        self._thread.start()
        self.until(lambda: self._checks > 1)  # the first look is over
        return self

    def __exit__(self, *failure: object) -> None:
        self._ended = True
        self._thread.join(BOUND)
        assert not self._thread.is_alive()

    def until(self, condition: Callable[[], bool]) -> None:
        limit = time.monotonic() + BOUND
        while not condition():
            assert time.monotonic() < limit, f"told until now: {self.told}"
            time.sleep(0.01)

    def until_told(self, *events: tuple[str, str]) -> None:
        """Wait until exactly these pairs of event and name were told since the last call, in this order."""
        self.until(lambda: len(self.told) >= len(events))
        assert self.told == list(events)
        self.batches.clear()

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(change.event, change.name) for batch in tuple(self.batches) for change in batch]

    def _is_ended(self) -> bool:
        self._checks += 1
        return self._ended

    def _follow(self) -> None:
        with closing(self._watch) as batches:
            for batch in batches:
                self.batches.append(batch)
