"""The conformance suite of `AuditLog`. Subclass it as those of `stores`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from prowess.audit import AuditEvent
from prowess.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prowess.audit import AuditRecord
    from prowess.audit.record import AuditLog

_WRITERS = 4
_EVENTS = 10


class AuditLogConformance:
    """The tests of `AuditLog`."""

    def open_log(self, place: Path) -> AuditLog:
        """Return a new, empty log. `place` is an empty directory for its files."""
        raise NotImplementedError

    def records(self, log: AuditLog, place: Path) -> Sequence[AuditRecord]:
        """Return all records of the log, in order."""
        raise NotImplementedError

    def test_a_record_is_what_was_appended(self, tmp_path: Path) -> None:
        """With its kind, its session, its call and its data, and a time."""
        log = self.open_log(tmp_path)
        data = {"user": "ann", "skill": "naïve \n text", "count": 2, "list": [None, True]}
        made = log.append(AuditEvent(kind="skill.loaded", session_id="s", call_id="c", data=data))
        (found,) = self.records(log, tmp_path)
        for record in (made, found):
            assert (record.kind, record.session_id, record.call_id, record.data) == ("skill.loaded", "s", "c", data)
            assert record.at.endswith("Z")

    def test_writers_at_once_lose_no_record_and_double_none(self, tmp_path: Path) -> None:
        """Each writer's records stay in their order."""
        log = self.open_log(tmp_path)

        def write(writer: int) -> None:
            for number in range(_EVENTS):
                log.append(AuditEvent(kind="x", data={"writer": writer, "number": number}))

        with ThreadPoolExecutor(_WRITERS) as pool:
            list(pool.map(write, range(_WRITERS)))
        found = [(record.data["writer"], record.data["number"]) for record in self.records(log, tmp_path)]
        assert sorted(found, key=str) == sorted(((w, n) for w in range(_WRITERS) for n in range(_EVENTS)), key=str)
        for writer in range(_WRITERS):
            assert [number for one, number in found if one == writer] == list(range(_EVENTS))

    def test_the_logs_own_kinds_and_what_is_no_json_are_refused(self, tmp_path: Path) -> None:
        """So nobody can state that the log was recovered, and nothing is recorded in another form."""
        log = self.open_log(tmp_path)
        for event in (AuditEvent(kind="log.recovered"), AuditEvent(kind="x", data={"text": "\ud800"})):
            with pytest.raises(AuditError):
                log.append(event)
        assert self.records(log, tmp_path) == []
