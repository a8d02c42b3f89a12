"""`Rankings`: the rankings of one catalog, with and without bodies, made at the first match and kept up to date."""

from __future__ import annotations

import os
import re
from _thread import allocate_lock
from typing import TYPE_CHECKING

from prowess._internal.files.open_flags import READ
from prowess.catalog.matching.fields import LONGEST, body_text
from prowess.catalog.matching.match import Match, Reason
from prowess.catalog.matching.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Collection

    from prowess.catalog.catalog_index import CatalogIndex
    from prowess.catalog.entry import SkillEntry

_NAMED = re.compile(r"(?:^|(?<=[\s(\"'`]))[/$]([^\s/$,;:!?\"'`()]+(?:[/:@][^\s/$,;:!?\"'`()]+)?)")
_HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class Rankings:
    """The rankings of one catalog."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._kept: dict[bool, tuple[int, Ranking]] = {}

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
            known = self._kept.get(bodies)
            ranking = Ranking(_body_of if bodies else None) if known is None else known[1]
            if known is None or known[0] != generation:
                ranking.follow(index.entries)
                self._kept[bodies] = generation, ranking
            found = ranking.match(task, limit, among)
        named = {match.entry for match in first}
        return (*first, *(match for match in found if match.entry not in named))[:limit]


def _called(task: str, index: CatalogIndex, among: Collection[SkillEntry] | None) -> list[Match]:
    """Return the skills that the task names as `/name` or `$name`, in the order of the task."""
    found: dict[SkillEntry, Match] = {}
    for written in _NAMED.finditer(task):
        entry = index.named(written.group(1)) or index.named(written.group(1).rstrip("."))
        if entry is not None and (among is None or entry in among):
            reason = Reason(word=written.group(), field="name")
            found.setdefault(entry, Match(entry=entry, score=1.0, reasons=(reason,)))
    return list(found.values())


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
