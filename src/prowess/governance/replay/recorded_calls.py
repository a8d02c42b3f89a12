"""Reads recorded calls from a log in a file or a store, which is verified, or from JSON lines, which are not.

A call counts once: by its record `tool.started` or `tool.refused`. Its records `tool.finished` and `skill.loaded` count
only if the beginning of the call is not among the records.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

from msgspec import DecodeError, Raw, Struct, ValidationError, convert
from msgspec.json import Decoder

from prowess.audit.record import MAX_LINE_BYTES, open_log
from prowess.audit.transparency.log_walk import LogWalk
from prowess.audit.verification import verify_log
from prowess.errors import AuditReadError
from prowess.governance.replay.recorded_facts import RecordedFacts
from prowess.governance.replay.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.audit.record import AuditRecord
    from prowess.governance.replay.replay import CallGroup, Replayed
    from prowess.policy.policy import Policy
    from prowess.policy.rule import Effect
    from prowess.store.shared.audit_rows import SharedAuditRows

_REFUSED = "tool.refused"
_BEGINNINGS = frozenset({"tool.started", _REFUSED})
_FURTHER = frozenset({"tool.finished", "skill.loaded"})
_MOST_OPEN = 65_536  # calls that have begun and not finished
_MOST_KNOWN = 32_768  # different data in memory
_ONE_DOCUMENT = "this is a document and not JSON lines; write each element of `records` on a line of its own"


class _Line(Struct, gc=False):
    kind: str
    data: Raw
    sequence: int | None = None
    at: str = ""
    session_id: str | None = None
    call_id: str | None = None


class _Outcome(Struct, gc=False):
    code: object = None
    rule: object = None
    approval: object = None


def replay_log(policy: Policy, path: str, *, since: str | None = None, until: str | None = None) -> Replayed:
    """Decide the calls of a log again. `verified` is false if the log has a fault.

    `since` and `until` are compared with the time of each record; `until` is exclusive.

    Raises:
        AuditReadError: there is no log, or it cannot be read.
    """
    replay, begun = Replay(policy), _Begun()

    def take(record: AuditRecord) -> None:
        if (since is not None and record.at < since) or (until is not None and record.at >= until):
            return
        if not begun.counts(record.kind, record.session_id, record.call_id):
            return
        try:
            facts: RecordedFacts | None = convert(record.data, RecordedFacts)
        except ValidationError:
            facts = None
        replay.take(record.sequence, facts, _recorded(record.kind, convert(record.data, _Outcome)))

    verdict = verify_log(path, seen=take)
    return replay.result(verified=verdict.ok)


def replay_records(policy: Policy, path: str, *, since: str | None = None, until: str | None = None) -> Replayed:
    """Decide the calls of a file again that has one record on each line. `since` and `until` as in `replay_log`.

    Raises:
        AuditReadError: the file cannot be read, or a line is not a record; names the line.
    """
    lines_of = _Lines(Replay(policy), since, until)
    whole = os.path.abspath(path)
    number = 0
    try:
        with open_log(whole) as stream:
            lines = iter(partial(stream.readline, MAX_LINE_BYTES + 1), b"")
            for number, text in enumerate(lines, start=1):
                if len(text) > MAX_LINE_BYTES:
                    raise AuditReadError(whole, f"line {number} is longer than {MAX_LINE_BYTES} bytes")
                if not text.isspace():
                    lines_of.take(text, number)
    except DecodeError as fault:
        first = _ONE_DOCUMENT if number == 1 and text.lstrip().startswith((b"{", b"[")) else f"is not a record: {fault}"
        raise AuditReadError(whole, f"line {number}: {first}") from None
    except FileNotFoundError:
        raise AuditReadError(whole, "there is no such file") from None
    except OSError as fault:
        raise AuditReadError(whole, f"cannot be read: {fault.strerror or fault}") from fault
    return lines_of.replay.result(verified=False)


def replay_store(
    policy: Policy,
    logs: Sequence[SharedAuditRows],
    *,
    since: str | None = None,
    until: str | None = None,
    check: Callable[[], None] | None = None,
) -> Replayed:
    """Decide the calls in the logs of tenants of a store again. `since` and `until` as in `replay_log`.

    `verified` is false if the records of a log are not those of its last signed checkpoint. `check` is called again and
    again, and may raise to end the replay.

    Raises:
        StoreError: the store cannot be used.
    """
    replay = Replay(policy, {pseudonym: user for rows in logs for pseudonym, user in rows.people().items()}, check)
    verified = True
    for rows in logs:
        lines_of, walk = _Lines(replay, since, until), LogWalk(rows, since=since, until=until, check=check)
        for body, number in walk:
            try:
                lines_of.take(body, number)
            except DecodeError:
                verified = False
        verified &= walk.is_unchanged
    return replay.result(verified=verified)


class _Lines:
    """Takes the lines of records. The facts of data that came before are not decoded again."""

    def __init__(self, replay: Replay, since: str | None, until: str | None) -> None:
        self.replay, self._since, self._until = replay, since, until
        self._begun = _Begun()
        self._known: dict[bytes, tuple[CallGroup, Effect | None, Effect | None]] = {}

    def take(self, text: bytes, number: int) -> None:
        """Take one line; `number` is the one of a record without a number. Raises DecodeError if it is no record."""
        line = _line(text)
        if (self._since is not None and line.at < self._since) or (self._until is not None and line.at >= self._until):
            return
        if not self._begun.counts(line.kind, line.session_id, line.call_id):
            return
        group, refused, other = self._known.get(data := bytes(line.data)) or self._decoded(data)
        recorded = refused if line.kind == _REFUSED else other
        group.add(number if line.sequence is None else line.sequence, recorded)

    def _decoded(self, data: bytes) -> tuple[CallGroup, Effect | None, Effect | None]:
        """Return the group of a call by its data, and the effect on it: if it was refused, and if not."""
        try:
            facts: RecordedFacts | None = _facts(data)
        except ValidationError:
            facts = None
        settled, group = self.replay.settled, self.replay.group_of(facts)
        if len(self._known) >= _MOST_KNOWN or settled != self.replay.settled:
            self._known.clear()
        outcome = _outcome(data)
        found = self._known[data] = (group, _recorded(_REFUSED, outcome), _recorded("", outcome))
        return found


_line, _facts, _outcome = Decoder(_Line).decode, Decoder(RecordedFacts).decode, Decoder(_Outcome).decode


class _Begun:
    """The calls whose beginning was counted and whose end has not come yet."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str | None, str], None] = OrderedDict()

    def counts(self, kind: str, session: str | None, call: str | None) -> bool:
        """Return whether this record counts as a call."""
        if kind in _BEGINNINGS:
            if kind == "tool.started" and call is not None:
                self._open[session, call] = None
                if len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
            return True
        if kind not in _FURTHER:
            return False
        if call is None:
            return True
        if kind == "tool.finished" and (session, call) in self._open:
            del self._open[session, call]
            return False
        return (session, call) not in self._open


def _recorded(kind: str, outcome: _Outcome) -> Effect | None:
    """Return the effect that the policy had on a call, None if the call was refused before or for another reason."""
    if outcome.code == "approval_required" or outcome.approval is not None or outcome.rule == "approval":
        return "ask"
    if kind != _REFUSED:
        return "allow"
    return "deny" if outcome.code in {"policy_denied", "policy_invalid", None} else None
