"""The use of skills by their audit records: counts for each skill and version, and skills that are used badly.

The report needs memory for its rows and for the open sessions, not for each record. It contains names, numbers and
codes, and no contents of messages.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping  # noqa: TC003 -- msgspec decodes it
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import asdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.audit.record import AuditRecord

GROUPS = ("skill", "team", "user", "roles", "agent", "tenant", "environment", "client", "host", "layer", "source")
_LEAST = 3  # cases before a skill is listed as often abandoned or refused
_SHARE = 0.5
_MOST_EVIDENCE = 20  # record numbers for one skill
_MOST_SESSIONS = 65_536
_NOT_A_USE = frozenset({"skills.load", "skills.unload", "skills.list", "skill", "skills.invoke"})

_Key = tuple[str | None, ...]


class UsageCounts(Struct, kw_only=True):
    """Counts for one row.

    `activations` are loads of the skill, `success`, `errors` and `cancelled` the ends of calls about it, `refusals` the
    calls about it that were refused, `script_runs` and `script_failures` the runs of its scripts. `duration_ms` is the
    time of the calls in all, `longest_ms` of the longest one. `tokens` are the estimated tokens of the bodies that were
    loaded, and those that tools used. `first` and `last` are the numbers of the first and the last record.
    """

    activations: int = 0
    success: int = 0
    errors: int = 0
    cancelled: int = 0
    refusals: int = 0
    script_runs: int = 0
    script_failures: int = 0
    duration_ms: int = 0
    longest_ms: int = 0
    tokens: int = 0
    first: int = 0
    last: int = 0


class WeakSkill(Struct, frozen=True, kw_only=True):
    """A skill with a problem: how many of how many cases, the error codes, and the numbers of the latest records."""

    skill: str
    cases: int
    of: int
    codes: Mapping[str, int] = field(default_factory=dict)
    records: tuple[int, ...] = ()


class UsageReport(Struct, frozen=True, kw_only=True):
    """The report. `rows` have the keys of `by`, `digest` if they are by skill, and the counts of `UsageCounts`.

    `never_chosen` are listed skills without an activation among these records. `often_abandoned` are skills that were
    unloaded before any call about them succeeded, in at least half of their activations. `often_refused` are skills
    with at least as many refused as other calls. Both need three cases. `records` counts the records that the report
    is about, `first` and `last` are their numbers.
    """

    by: tuple[str, ...]
    records: int
    first: int | None
    last: int | None
    rows: tuple[Mapping[str, object], ...]
    never_chosen: tuple[WeakSkill, ...]
    often_abandoned: tuple[WeakSkill, ...]
    often_refused: tuple[WeakSkill, ...]


class UsageCounter:
    """Counts records for a report by the keys `by`."""

    def __init__(self, by: Sequence[str]) -> None:
        self._by = tuple(by)
        self._keys = tuple(part for key in self._by for part in ((key, "digest") if key == "skill" else (key,)))
        self._rows: dict[_Key, UsageCounts] = {}
        self._cases = _Cases()
        self._count = 0
        self._first: int | None = None
        self._last: int | None = None

    def take(self, record: AuditRecord) -> None:
        """Count a record."""
        self._count += 1
        self._first = record.sequence if self._first is None else self._first
        self._last = record.sequence
        if record.kind not in _COUNTED:
            return
        for facts in _of_each_skill(record.data):
            key = tuple(_text(facts.get(name)) for name in self._keys)
            usage = self._rows.get(key)
            if usage is None:
                usage = self._rows[key] = UsageCounts(first=record.sequence)
            usage.last = record.sequence
            _add(usage, record.kind, record.data)
            if isinstance(name := facts.get("skill"), str):
                self._cases.take(name, record)

    def report(self, listed: Iterable[str] = ()) -> UsageReport:
        """Return the report. `listed` are the names of the skills that could have been chosen."""
        rows = [
            {**dict(zip(self._keys, key, strict=True)), **asdict(usage)}
            for key, usage in sorted(self._rows.items(), key=lambda one: tuple(part or "" for part in one[0]))
        ]
        return UsageReport(
            by=self._by,
            records=self._count,
            first=self._first,
            last=self._last,
            rows=tuple(rows),
            never_chosen=tuple(self._cases.never_chosen(listed, self._count)),
            often_abandoned=tuple(self._cases.abandoned()),
            often_refused=tuple(self._cases.refused()),
        )


_COUNTED = frozenset({"skill.loaded", "skill.unloaded", "tool.finished", "tool.refused", "script.finished"})


def _add(usage: UsageCounts, kind: str, data: Mapping[str, object]) -> None:
    match kind:
        case "skill.loaded":
            usage.activations += 1
        case "tool.refused":
            usage.refusals += 1
        case "script.finished":
            usage.script_runs += 1
            usage.script_failures += data.get("exit_code") != 0
        case "tool.finished":
            outcome, duration = data.get("outcome"), _number(data.get("duration_ms"))
            usage.success += outcome == "success"
            usage.errors += outcome == "failure"
            usage.cancelled += outcome == "cancelled"
            usage.duration_ms += duration
            usage.longest_ms = max(usage.longest_ms, duration)
    usage.tokens += _number(data.get("tokens"))


def _number(value: object) -> int:
    return value if type(value) is int else 0


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or None
    return value if isinstance(value, str) else None


def _of_each_skill(data: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the data of a record for each of its skills: keys of skills have a list if the call is about several."""
    skills = data.get("skill")
    if not isinstance(skills, list):
        yield data
        return
    for place in range(len(skills)):
        yield {**data, **{key: _at(data.get(key), place) for key in ("skill", "digest", "layer", "source")}}


def _at(value: object, place: int) -> object:
    if isinstance(value, list):
        return value[place] if place < len(value) else None
    return value


class _Evidence:
    """Counts the cases of one skill and keeps the numbers of the latest records."""

    __slots__ = ("cases", "codes", "records")

    def __init__(self) -> None:
        self.cases = 0
        self.codes: Counter[str] = Counter()
        self.records: list[int] = []

    def add(self, record: AuditRecord) -> None:
        self.cases += 1
        self.records.append(record.sequence)
        del self.records[:-_MOST_EVIDENCE]
        if isinstance(code := record.data.get("code"), str):
            self.codes[code] += 1


class _Cases:
    """Finds abandoned and refused activations of each skill."""

    def __init__(self) -> None:
        self._activations: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._refused: dict[str, _Evidence] = {}
        self._abandoned: dict[str, _Evidence] = {}
        self._unused: OrderedDict[str | None, set[str]] = (
            OrderedDict()
        )  # skills of each session without a successful call

    def take(self, skill: str, record: AuditRecord) -> None:
        """Count a record about a skill."""
        kind, session = record.kind, record.session_id
        if kind == "skill.loaded":
            self._activations[skill] += 1
            self._unused.setdefault(session, set()).add(skill)
            if len(self._unused) > _MOST_SESSIONS:
                self._unused.popitem(last=False)
        elif kind == "skill.unloaded":
            if self._used(session, skill):
                self._abandoned.setdefault(skill, _Evidence()).add(record)
        elif kind == "tool.refused":
            self._calls[skill] += 1
            self._refused.setdefault(skill, _Evidence()).add(record)
        elif kind == "tool.finished":
            self._calls[skill] += 1
            if record.data.get("outcome") == "success" and record.data.get("tool") not in _NOT_A_USE:
                self._used(session, skill)

    def _used(self, session: str | None, skill: str) -> bool:
        """Mark the skill as used or ended. Return whether it was unused before."""
        waiting = self._unused.get(session)
        if waiting is None or skill not in waiting:
            return False
        waiting.discard(skill)
        if not waiting:
            del self._unused[session]
        return True

    def never_chosen(self, listed: Iterable[str], records: int) -> Iterator[WeakSkill]:
        """Yield the listed skills without an activation, with the refused calls about them as evidence."""
        for name in sorted(set(listed) - self._activations.keys()):
            yield _weak(name, self._refused.get(name, _Evidence()), records)

    def abandoned(self) -> Iterator[WeakSkill]:
        """Yield the skills that are often abandoned."""
        return _often(self._abandoned, self._activations)

    def refused(self) -> Iterator[WeakSkill]:
        """Yield the skills that are often refused."""
        return _often(self._refused, self._calls)


def _often(found: Mapping[str, _Evidence], of: Mapping[str, int]) -> Iterator[WeakSkill]:
    for name, evidence in sorted(found.items(), key=lambda one: (-one[1].cases, one[0])):
        if evidence.cases >= _LEAST and evidence.cases >= _SHARE * of[name]:
            yield _weak(name, evidence, of[name])


def _weak(name: str, evidence: _Evidence, of: int) -> WeakSkill:
    codes = dict(sorted(evidence.codes.items()))
    return WeakSkill(skill=name, cases=evidence.cases, of=of, codes=codes, records=tuple(evidence.records))
