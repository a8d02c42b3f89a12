"""OpenCode: the lines of `opencode run --format json`, and the document of `opencode export`.

Read from public descriptions and samples, not from captured runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.evals.transcripts.assembly import Assembly, dollars_of, mapping, rows, text
from prowess.evals.transcripts.transcript import MAIN_AGENT

if TYPE_CHECKING:
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import TranscriptForm

_STREAM = frozenset({"step_start", "step_finish", "tool_use", "text", "reasoning"})
_UNKNOWN_SKILL = re.compile(r"skill\b.{0,200}?\bnot found\b", re.IGNORECASE | re.DOTALL)
_REFUSAL = re.compile(r"rejected permission|permission|not allowed", re.IGNORECASE)


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of OpenCode's, else None."""
    kind = text(record.get("type"))
    if kind in _STREAM:
        return "stream" if "sessionID" in record and type(record.get("part")) is dict else None
    if kind == "error":
        return "stream" if "sessionID" in record else None
    messages = rows(record.get("messages"))
    if type(record.get("info")) is dict and messages:
        return "session" if "parts" in messages[0] else None
    return None


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read a stream or an exported session."""
    run = Assembly(host="opencode", form=form)
    for at, record in records.items:
        if form == "session":
            run.session = text(mapping(record.get("info")).get("id")) or None
            run.directory = text(mapping(record.get("info")).get("directory")) or None
            for place, message in enumerate(rows(record.get("messages")), start=1):
                _message(run, message, place)
        elif record.get("type") == "error":
            error = mapping(record.get("error"))
            run.end("error", text(mapping(error.get("data")).get("message")) or text(error.get("name")), at)
        elif type(part := record.get("part")) is dict:
            run.session = run.session or text(record.get("sessionID")) or None
            _part(run, part, "assistant", at)
        else:
            run.skip(record.get("type"))
    return run


def _message(run: Assembly, message: HostRecord, place: int) -> None:
    info = mapping(message.get("info"))
    role = text(info.get("role"))
    for part in rows(message.get("parts")):
        _part(run, part, role, place)
    if role == "user":
        run.end("cut", "the last record is a message of the user", place)
    elif info.get("error"):
        error = mapping(info.get("error"))
        run.end("error", text(mapping(error.get("data")).get("message")) or text(error.get("name")), place)


def _part(run: Assembly, part: HostRecord, role: str, at: int) -> None:
    match part.get("type"):
        case "text":
            said = text(part.get("text"))
            run.say(
                "host" if part.get("synthetic") is True else "user" if role == "user" else "assistant",
                said,
                MAIN_AGENT,
                at,
            )
        case "tool":
            state = mapping(part.get("state"))
            call = run.call(part.get("callID"), part.get("tool"), state.get("input"), MAIN_AGENT, at)
            exit_code = mapping(state.get("metadata")).get("exit", 0)
            call.failed = state.get("status") == "error" or exit_code not in (0, None)
            if "output" in state or "error" in state:
                call.result = text(state.get("output")) or text(state.get("error"))
            if state.get("status") == "error" and call.result is not None:
                call.unknown_skill = call.name == "skill" and _UNKNOWN_SKILL.search(call.result) is not None
                call.refused = not call.unknown_skill and _REFUSAL.search(call.result) is not None
        case "step-finish":
            _finish(run, part, at)
        case "step-start":
            run.end("cut", "a step has no end", at)


def _finish(run: Assembly, part: HostRecord, at: int) -> None:
    reason, tokens = part.get("reason"), mapping(part.get("tokens"))
    if reason in ("tool-calls", "unknown"):
        run.end("cut", reason, at)
    elif reason == "length":
        run.end("limit", reason, at)
    else:
        run.end("error" if reason == "error" else "completed", reason, at)
    if tokens:
        run.spend(tokens.get("input"), tokens.get("output"))
    if (cost := dollars_of(part.get("cost"))) is not None:
        run.cost_usd = (run.cost_usd or 0.0) + cost
