"""Copilot CLI: the lines of `--output-format json`, and `events.jsonl` of a session.

Both hold the same events `{type, data, agentId?}`; the stream has further, transient ones and ends with `result`. A
file ends with the end of a turn, or with `session.shutdown`. Sources: Copilot CLI 1.0.102, its published event types,
public samples.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.evals.transcripts.assembly import Assembly, count_of, mapping, rows, text
from prowess.evals.transcripts.transcript import MAIN_AGENT

if TYPE_CHECKING:
    from prowess.evals.transcripts.assembly import OpenCall
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import TranscriptForm

_ROOMS = frozenset(
    {"session", "user", "assistant", "tool", "skill", "subagent", "system", "model", "permission", "hook"}
)
_COMMAND = re.compile(r"\s*/([^\s/]+)(?:\s|$)")
_UNKNOWN_SKILL = re.compile(r"skill\b.{0,200}?\bnot found\b|unknown skill|no skill named", re.IGNORECASE | re.DOTALL)
_REFUSALS = frozenset({"denied", "rejected", "permission_denied", "user_rejected"})


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of Copilot's, else None."""
    kind = record.get("type")
    if type(kind) is not str:
        return None
    if kind == "result":
        return "stream" if "exitCode" in record else None
    if kind.partition(".")[0] not in _ROOMS or type(record.get("data")) is not dict or "." not in kind:
        return None
    return "stream" if record.get("ephemeral") is True or kind == "session.skills_loaded" else "session"


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read the events of a run."""
    run = _Reading(form)
    for at, record in records.items:
        run.event(record, at)
    return run.assembly


class _Reading:
    def __init__(self, form: TranscriptForm) -> None:
        self.assembly = Assembly(host="copilot", form=form)
        self._failed: str | None = None
        self._open: list[OpenCall] = []  # calls of the main agent that may have no result yet
        self._preloaded: set[str] = set()

    def event(self, record: HostRecord, at: int) -> None:
        kind, data = record.get("type"), mapping(record.get("data"))
        run, agent = self.assembly, text(record.get("agentId")) or text(data.get("parentToolCallId")) or MAIN_AGENT
        if record.get("ephemeral") is True or kind == "result":
            run.form = "stream"
        match kind:
            case "assistant.message":
                self._assistant(data, agent, at)
            case "tool.execution_start":
                self._call(data, data.get("toolName"), agent, at)
            case "tool.execution_complete":
                self._complete(data, agent)
            case "tool.user_requested":
                run.call(data.get("toolCallId"), data.get("toolName"), data.get("arguments"), agent, at).dropped = True
            case "user.message":
                self._user(data, agent, at)
            case "skill.invoked":
                self._invoked(data, agent, at)
            case "skill.context_delivered_ref":
                self._delivered(data, agent, at)
            case "session.skills_loaded":
                listed = [row for row in rows(data.get("skills")) if row.get("enabled") is not False]
                run.offer(
                    (row.get("name") for row in listed),
                    {text(row.get("name")): text(row.get("path")) for row in listed},
                )
            case "session.start" | "session.resume":
                run.session = run.session or text(data.get("sessionId")) or None
                run.directory = run.directory or text(mapping(data.get("context")).get("cwd")) or None
            case _:
                self._ending(kind, record, data, agent, at)

    def _ending(self, kind: object, record: HostRecord, data: HostRecord, agent: str, at: int) -> None:
        run = self.assembly
        if type(kind) is not str or (kind != "result" and "." not in kind and kind != "abort"):
            run.skip(kind)
        elif kind == "result":
            self._result(record, at)
        elif kind == "assistant.usage":
            run.spend(data.get("inputTokens"), data.get("outputTokens"))
        elif kind.startswith("session_limits_exhausted."):
            run.end("limit", kind, at)
        elif kind in ("abort", "session.shutdown") or agent == MAIN_AGENT:
            self._ending_of_main(kind, data, at)

    def _ending_of_main(self, kind: str, data: HostRecord, at: int) -> None:
        run = self.assembly
        match kind:
            case "assistant.turn_start":
                run.end("cut", "a turn has no end", at)
                self._failed = None
            case "assistant.turn_end" if self._failed is None:
                self._open = [call for call in self._open if call.result is None]
                pending = bool(self._open)
                run.end("cut" if pending else "completed", "a call has no result" if pending else kind, at)
            case "session.error":
                self._failed = text(data.get("message")) or kind
                run.end("error", self._failed, at)
            case "abort":
                self._failed = text(data.get("reason")) or kind
                run.end("error", self._failed, at)
            case "session.shutdown" if data.get("shutdownType") == "error":
                run.end("error", text(data.get("errorReason")) or "shutdown", at)
            case _:
                pass

    def _result(self, record: HostRecord, at: int) -> None:
        run, code = self.assembly, record.get("exitCode")
        run.session = run.session or text(record.get("sessionId")) or None
        if code == 0:
            run.end("completed", "exit code 0", at)
        elif run.ended not in ("error", "limit"):
            run.end("error", self._failed or f"exit code {code}", at)
        else:
            run.end_at = at

    def _assistant(self, data: HostRecord, agent: str, at: int) -> None:
        run = self.assembly
        run.say("assistant", text(data.get("content")), agent, at)
        for request in rows(data.get("toolRequests")):
            self._call(request, request.get("name"), agent, at)
        if (tokens := count_of(data.get("outputTokens"))) and run.form != "stream":
            run.spend(0, tokens)

    def _call(self, told: HostRecord, name: object, agent: str, at: int) -> None:
        count = len(self.assembly.calls)
        call = self.assembly.call(told.get("toolCallId"), name, told.get("arguments"), agent, at)
        if agent == MAIN_AGENT and len(self.assembly.calls) > count:
            self._open.append(call)

    def _complete(self, data: HostRecord, agent: str) -> None:
        call = self.assembly.find(data.get("toolCallId"), agent)
        if call is None:
            return
        error, result = mapping(data.get("error")), mapping(data.get("result"))
        call.failed = data.get("success") is False
        call.result = text(result.get("content")) or text(error.get("message")) or text(data.get("result"))
        call.refused = call.failed and text(error.get("code")) in _REFUSALS
        call.unknown_skill = call.failed and _UNKNOWN_SKILL.search(call.result) is not None

    def _user(self, data: HostRecord, agent: str, at: int) -> None:
        run, content, source = self.assembly, text(data.get("content")), text(data.get("source"))
        if source.startswith("skill-"):
            self._preload(source.removeprefix("skill-"), "skill context", agent, at)
            run.say("host", content, agent, at)
            return
        is_typed = agent == MAIN_AGENT and source in ("", "user") and data.get("isAutopilotContinuation") is not True
        run.say("user" if is_typed else "host", content, agent, at)
        if is_typed and (command := _COMMAND.match(content)) is not None:
            run.activate(command[1], "user", "command", agent, at)
        if is_typed:
            run.end("cut", "the last record is a message of the user", at)

    def _invoked(self, data: HostRecord, agent: str, at: int) -> None:
        run, name, trigger = self.assembly, text(data.get("name")), data.get("trigger")
        if trigger == "user-invoked":
            run.activate(name, "user", "user-invoked", agent, at)
        elif trigger == "context-load":
            self._preload(name, "context-load", agent, at)
        elif trigger == "agent-invoked" and name.casefold() not in run.asked:
            run.call(None, "skill", {"skill": name}, agent, at).result = "loaded"  # the request itself was not kept
        elif trigger != "agent-invoked":
            self._preload(name, "skill.invoked", agent, at)

    def _delivered(self, data: HostRecord, agent: str, at: int) -> None:
        if (source := text(data.get("source"))).startswith("skill-"):
            self._preload(source.removeprefix("skill-"), "skill context", agent, at)

    def _preload(self, name: str, how: str, agent: str, at: int) -> None:
        """Note that the host put a skill in, unless the model had called for it."""
        run = self.assembly
        if name.casefold() not in run.asked and name not in self._preloaded:
            self._preloaded.add(name)
            run.activate(name, "host", how, agent, at)
