"""Audit records of a session: the records of each call and those that tools add. No other module creates them.

A record contains names, sizes and digests, never a raw argument. Blocking writes run in a worker thread. The end of a
call is recorded even if the call is cancelled: as `tool.finished` if `tool.started` was recorded, else as
`tool.refused`. After a cancellation `tool.started` is no longer recorded. A lock protects the choice between the two
records, because the worker thread may be writing `tool.started` at the moment of the cancellation.

Observers are notified after the record is in the audit log. Observers cannot change the call.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol

import anyio
from anyio import to_thread

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess._internal.text.terminal_text import printable_line
from prowess.audit.caller import SKILL_KEYS
from prowess.audit.record import AuditEvent, is_in_use
from prowess.errors import AuditError
from prowess.policy.rule import typed_name
from prowess.policy.tool_names import PACKAGE_TOOLS, SKILL_ARGUMENTS, USER_TOOL
from prowess.tools.running_call import running_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.audit.record import AuditLog
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.tools.spec import ToolCall

MATCHED_KEYS = ("digests", "sources", "stated_paths", "copies")
_MAX_TEXT = 80  # characters kept of a name that a caller chose
_MAX_NAMES = 64  # limit on the listed argument names, and on the names of one environment
_ENVIRONMENT = "env"  # the names inside this argument are recorded too: which variables a script received matters later


class AuditRecorder:
    """Writes the audit records of one session. If no log is in use, no records are written."""

    def __init__(self, log: AuditLog | None, session_id: str | None = None) -> None:
        self._log, self._session_id = log, session_id

    @property
    def has_log(self) -> bool:
        """Whether records go to a log now: the session's own, or the one that the policy names (`audit.sink`)."""
        return is_in_use(self._log)

    async def record(self, kind: str, call_id: str, data: Mapping[str, object]) -> None:
        """Record an event that happened during a call. Raise AuditError if it is not written."""
        if self.has_log:
            running = running_call()
            of_call = {} if running is None else running.facts
            await to_thread.run_sync(self.write, kind, call_id, {**of_call, **data})

    def write(self, kind: str, call_id: str, data: Mapping[str, object]) -> None:
        """Write one record as `record` does, but block until it is written."""
        log = self._log
        if log is None or not self.has_log:
            return
        try:
            log.append(AuditEvent(kind=kind, session_id=self._session_id, call_id=call_id, data=data))
        except AuditError:
            raise
        except Exception as fault:  # the host's own log may raise any exception, and each means "not recorded"
            while (inner := getattr(log, "wrapped", None)) is not None:
                log = inner
            named = type(log).__name__
            raise AuditError(named, f"failed with {type(fault).__name__}") from fault


class CallAudit:
    """The audit records of one call. `tool` is empty until its name is resolved. `policy_version` may be None."""

    def __init__(self, recorder: AuditRecorder, call_id: str, policy_version: str | None = None) -> None:
        self.tool = ""
        self.rule: str | None = None
        self.skill: str | None = None
        self.allowed_by: str | None = None
        self.about: Mapping[str, object] = {}  # `skill_facts` of the call, once known
        self.call: dict[str, object] = {}  # trigger, rule and approval, once known
        self._recorder, self._call_id = recorder, call_id
        self._decided: dict[str, object] = {} if policy_version is None else {"policy_version": policy_version}
        self._arguments: Mapping[str, object] = {}
        self._begun = self._abandoned = False
        self._lock = threading.Lock()

    def decided(self, facts: Mapping[str, object]) -> None:
        """Add facts about the decision to the records of the call."""
        self._decided.update(facts)

    @property
    def facts(self) -> dict[str, object]:
        """Facts about the call for the records that its tool writes."""
        return {"tool": self.tool, **self.call}

    def measure(self, arguments: object, canonical: bytes) -> None:
        """Remember the names, the sizes in bytes and the digest of the arguments."""
        if not self._recorder.has_log:
            return
        known: dict[str, object] = {"arguments_sha256": sha256_of(canonical), "arguments_bytes": len(canonical)}
        if isinstance(arguments, Mapping):
            known["arguments"] = _sizes(arguments)
            environment = arguments.get(_ENVIRONMENT)
            if isinstance(environment, Mapping):
                known["env"] = [shortened(name) for name in sorted(environment)[:_MAX_NAMES]]
        self._arguments = known

    async def started(self) -> None:
        """Record that the tool is about to run. If this raises AuditError, the tool must not run."""
        if self._recorder.has_log:
            await to_thread.run_sync(self._start)

    async def finished(
        self, duration_ms: int, code: str | None, approved_by: str | None = None, tokens: int = 0
    ) -> None:
        """Record how the run ended. `code` is None for a success. AuditError if it is not recorded.

        `approved_by` is the person who approved a part of the run, if the tool itself had to ask. `tokens` were used by
        models that the tool called.
        """
        outcome: dict[str, object] = {"outcome": "success"} if code is None else {"outcome": "failure", "code": code}
        if approved_by is not None:
            outcome["approved_by"] = shortened(approved_by)
        if tokens:
            outcome["tokens"] = tokens
        await self._write_shielded("tool.finished", {**outcome, "duration_ms": duration_ms})

    async def refused(self, code: str) -> None:
        """Record that the call was refused. AuditError if it is not recorded."""
        by = {"rule": self.rule, "skill": self.skill}
        known = {name: shortened(text) for name, text in by.items() if text is not None}
        await self._write_shielded("tool.refused", {**self._arguments, "code": code, **self._decided, **known})

    async def cancelled(self, duration_ms: int) -> None:
        """Record that the caller cancelled the call. AuditError is ignored, because the caller is gone."""
        if self._recorder.has_log:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._cancel, duration_ms)

    async def _write_shielded(self, kind: str, data: Mapping[str, object]) -> None:
        if self._recorder.has_log:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._write, kind, data)

    def _start(self) -> None:
        with self._lock:
            if not self._abandoned:
                by = {} if self.allowed_by is None else {"allowed_by": shortened(self.allowed_by)}
                self._write("tool.started", {**self._arguments, **by, **self._decided})
                self._begun = True

    def _cancel(self, duration_ms: int) -> None:
        with self._lock:
            self._abandoned = True
            try:
                if self._begun:
                    end = {"outcome": "cancelled", "code": "cancelled", "duration_ms": duration_ms}
                    self._write("tool.finished", end)
                else:
                    self._write("tool.refused", {**self._arguments, "code": "cancelled", **self._decided})
            except AuditError:
                return

    def _write(self, kind: str, data: Mapping[str, object]) -> None:
        # If another skill refuses, record that skill instead of the skill that the call is about.
        about = self.about
        if "skill" in data and data["skill"] != about.get("skill"):
            about, data = {}, {key: value for key, value in data.items() if key not in MATCHED_KEYS}
        self._recorder.write(kind, self._call_id, {**self.facts, **about, **data})


def skill_facts(call: ToolCall) -> dict[str, object]:
    """Return facts for the call's records about the skills that it names, else about the skill loaded last."""
    return _columns([_row(skill) for skill in _subjects(call)], SKILL_KEYS)


def matched_facts(call: ToolCall) -> dict[str, object]:
    """Return the further facts that rules match, for the record of the decision: none that `skill_facts` has.

    `digests` and `sources` are the other digests and sources of the skill; the directories above a path are left out.
    `stated_paths` and `copies` are as in `SkillIdentity`. `named` are the names as the caller spelled them, if they are
    not those of the skills. `active_skills` are the other skills that the call is about. Empty values are left out.
    """
    subjects = _subjects(call)
    found: dict[str, object] = {}
    if len(subjects) <= _MAX_NAMES:
        found = {key: value for key, value in _columns(list(map(_further, subjects)), MATCHED_KEYS).items() if value}
    if len(subjects) == 1 and (named := _named(call)) is not None and named != [subjects[0].name]:
        found["named"] = [shortened(name) for name in named]
    if others := [skill for skill in call.skills or () if skill not in subjects]:
        found["active_skills"] = [{**_row(skill), **_further(skill)} for skill in others[:_MAX_NAMES]]
    return found


def _subjects(call: ToolCall) -> Sequence[SkillIdentity]:
    skills = call.skills or ()
    return skills if call.name in SKILL_ARGUMENTS or call.name in PACKAGE_TOOLS else skills[-1:]


def _named(call: ToolCall) -> list[str] | None:
    value = call.arguments.get(SKILL_ARGUMENTS.get(call.name, ""))
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list):
        return None
    return [
        typed_name(str(name)) if call.name == USER_TOOL else str(name) for name in names
    ]  # without the arguments that a user typed


def _row(skill: SkillIdentity) -> dict[str, object]:
    return {
        "layer": skill.layer,
        "source": None if skill.sources is None else skill.sources[0],
        "skill": None if skill.name is None else shortened(skill.name),
        "digest": skill.digests[0] if skill.digests else None,
        "publisher": shortened(skill.publisher) if skill.publisher else None,
    }


def _further(skill: SkillIdentity) -> dict[str, object]:
    digests, sources = skill.digests[1:], (skill.sources or ())[1:]
    deepest = [path for path in sources if not any(other.startswith(f"{path}/") for other in sources)]
    stated = [path for path in sorted(skill.stated_paths) if path not in sources[:1]]
    found = {
        "digests": list(digests),
        "sources": [path for path in deepest if path not in (skill.sources or ())[:1]],
        "stated_paths": stated,
        "copies": list(skill.copies),
    }
    return {key: values[:_MAX_NAMES] for key, values in found.items() if values}


def _columns(rows: Sequence[Mapping[str, object]], keys: Sequence[str]) -> dict[str, object]:
    """Return each key with its value or, if there are several rows, with a list of values."""
    if len(rows) == 1:
        return {key: rows[0].get(key) for key in keys}
    columns = {key: [row.get(key) for row in rows] for key in keys} if rows else {}
    return {key: values for key, values in columns.items() if key in SKILL_KEYS or any(values)}


def _sizes(arguments: Mapping[str, object]) -> dict[str, object]:
    names = sorted(arguments)
    sizes: dict[str, object] = {shortened(name): len(canonical_json(arguments[name])) for name in names[:_MAX_NAMES]}
    return sizes if len(names) <= _MAX_NAMES else {**sizes, "…": len(names) - _MAX_NAMES}


def shortened(text: str) -> str:
    """Return a name or identifier from a caller as a short, printable text that every log can store."""
    if len(text) <= _MAX_TEXT and text.isascii() and text.isprintable():
        return text
    shown = printable_line(text[:_MAX_TEXT])
    return shown if len(text) <= _MAX_TEXT else f"{shown}…"


Outcome = Literal["success", "failure", "cancelled"]


class CallObserver(Protocol):
    """Notified of one call: either once `started` and once `finished`, or once `refused`. Raises only cancellations.

    `tool` is the canonical name; for a tool that does not exist it is the caller's spelling, shortened.
    """

    @property
    def wanted(self) -> bool:
        """Whether the observer wants notifications now. Checked before each method below."""

    async def started(self, call: ToolCall) -> None:
        """Called when the call has passed every gate and is about to run."""

    async def finished(
        self, call: ToolCall, outcome: Outcome, code: str | None, duration_ms: int, result: Mapping[str, object] | None
    ) -> None:
        """Called when the tool has ended. `result` is the caller's result; None for an error or a cancellation."""

    async def refused(self, tool: str, call_id: str, code: str, rule: str | None, skill: str | None) -> None:
        """Called when the call has ended before its tool could run."""
