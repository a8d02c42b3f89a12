"""Gemini CLI: the lines of `-o stream-json`, and sessions as JSON lines or as one JSON document.

In a session of lines a message comes again as soon as its calls have results: the last record of an id counts.
`$set.messages` replaces the history and `$rewindTo` takes messages back; calls that were made before a
replacement were made. Sources: Gemini CLI 0.61.0 and its recording service.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.evals.transcripts.assembly import Assembly, count_of, mapping, rows, text, text_of
from prowess.evals.transcripts.tools import actions_of
from prowess.evals.transcripts.transcript import MAIN_AGENT, FileRead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.transcripts.assembly import OpenCall
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import TranscriptForm

_STREAM = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})
_MESSAGES = frozenset({"user", "gemini", "info", "error", "warning"})
_UNKNOWN_SKILL = re.compile(
    r"must be equal to one of the allowed values|skill\b.{0,200}?\bnot found\b", re.IGNORECASE | re.DOTALL
)
_REFUSAL = re.compile(
    r"denied by policy|not allowed by|user (?:rejected|cancelled|did not allow|denied)|permission", re.IGNORECASE
)
_LIMIT = re.compile(r"max(?:imum)? (?:session )?turns|turn ?limit", re.IGNORECASE)
_HOST_TEXT = re.compile(r"\s*(?:<(?:session_context|hook_context|state_snapshot)|This is the Gemini CLI)")
_SKILL_TOOL = "activate_skill"
_READ_MANY = "read_many_files"
_NOTHING_READ = re.compile(r"No files (?:were read and concatenated|matching the criteria were found)")
_SKIPPED = re.compile(r"^- `([^`\n]+)` \(Reason: ", re.MULTILINE)


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of Gemini's, else None."""
    kind = record.get("type")
    if "sessionId" in record:
        messages = rows(record.get("messages"))
        is_document = bool(messages) and messages[0].get("type") in _MESSAGES and "id" in messages[0]
        return "session" if "projectHash" in record or is_document else None
    if kind == "init":
        return "stream" if "session_id" in record and "model" in record else None
    if kind in ("tool_use", "tool_result"):
        return "stream" if "tool_id" in record else None
    if kind == "message":
        return "stream" if type(record.get("content")) is str and "timestamp" in record else None
    if kind == "result":
        return "stream" if "status" in record else None
    if kind == "error":
        return "stream" if "severity" in record else None
    if kind in ("user", "gemini"):
        return "session" if "id" in record and "content" in record and "message" not in record else None
    return "session" if "$set" in record or "$rewindTo" in record else None


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read a stream or a session."""
    if form == "stream":
        return _read_stream(records)
    return _read_session(records)


# ── the stream ───────────────────────────────────────────────────────────────────────────────────────────────


def _read_stream(records: Records) -> Assembly:
    run = Assembly(host="gemini", form="stream")
    said: list[str] = []
    said_at = 0
    for at, record in records.items:
        kind = record.get("type")
        if kind == "message" and record.get("role") != "user":
            said, said_at = (
                [*said, text(record.get("content"))] if said else [text(record.get("content"))],
                said_at or at,
            )
            continue
        if said:
            run.say("assistant", "".join(said), MAIN_AGENT, said_at)
            said, said_at = [], 0
        _event(run, record, kind, at)
    run.say("assistant", "".join(said), MAIN_AGENT, said_at)
    return run


def _event(run: Assembly, record: HostRecord, kind: object, at: int) -> None:
    if kind == "tool_use":
        run.call(record.get("tool_id"), record.get("tool_name"), record.get("parameters"), MAIN_AGENT, at)
    elif kind == "tool_result":
        if (call := run.find(record.get("tool_id"), MAIN_AGENT)) is not None:
            error = mapping(record.get("error"))
            call.result = text(record.get("output")) or text(error.get("message"))
            call.failed = record.get("status") != "success"
            _judge_failure(call)
    elif kind == "message":
        run.say("user", text(record.get("content")), MAIN_AGENT, at)
    elif kind == "result":
        _end(run, record, at)
    elif kind == "init":
        run.end("cut", "the run has no end", at)
        run.session = text(record.get("session_id")) or None
    elif kind == "error":
        run.end_reason = text(record.get("message"))[:500] or run.end_reason
    else:
        run.skip(kind)


def _end(run: Assembly, record: HostRecord, at: int) -> None:
    error = mapping(record.get("error"))
    message = f"{text(error.get('type'))}: {text(error.get('message'))}".strip(": ")
    if record.get("status") == "success":
        run.end("completed", "success", at)
    elif "TurnLimited" in message or _LIMIT.search(message):
        run.end("limit", message, at)
    else:
        run.end("error", message or run.end_reason, at)
    if stats := mapping(record.get("stats")):
        run.spend(stats.get("input_tokens"), stats.get("output_tokens"))


def _judge_failure(call: OpenCall) -> None:
    if call.name == _READ_MANY and call.result is not None:
        _leave_out_skipped(call)
    if call.failed and call.result is not None:
        call.unknown_skill = call.name == _SKILL_TOOL and _UNKNOWN_SKILL.search(call.result) is not None
        call.refused = not call.unknown_skill and _REFUSAL.search(call.result) is not None


def _leave_out_skipped(call: OpenCall) -> None:
    """Take the files that were not read out of the actions: the call itself succeeds without them."""
    skipped = set(_SKIPPED.findall(call.result or ""))
    call.failed = call.failed or _NOTHING_READ.search(call.result or "") is not None
    if skipped:
        reads = (action for action in actions_of(call.name, call.arguments) if isinstance(action, FileRead))
        left = (tuple(path for path in read.paths if path not in skipped) for read in reads)
        call.actions = tuple(FileRead(paths=paths) for paths in left)


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────


def _read_session(records: Records) -> Assembly:
    run = Assembly(host="gemini", form="session")
    messages: dict[str, tuple[int, HostRecord]] = {}
    before: dict[str, tuple[int, HostRecord]] = {}  # messages with calls that a replacement took away
    agent = MAIN_AGENT
    for at, record in records.items:
        if type(record.get("$rewindTo")) is str:
            _rewind(messages, text(record.get("$rewindTo")))
        elif (changes := mapping(record.get("$set"))) or "$set" in record:
            if type(changes.get("messages")) is list:
                before |= {id_: row for id_, row in messages.items() if rows(row[1].get("toolCalls"))}
                messages = dict(_numbered(changes, at, in_document=False))
        elif "projectHash" in record or "sessionId" in record:
            if run.session is not None and text(record.get("sessionId")) not in ("", run.session):
                before |= {f"{run.session} {id_}": row for id_, row in messages.items()}  # another session follows
                messages = {}
            run.session = text(record.get("sessionId")) or run.session
            if record.get("kind") == "subagent":
                agent = run.session or "sub-agent"
            messages |= dict(_numbered(record, at, in_document=records.is_single))
        elif type(record.get("id")) is str and text(record.get("type")) in _MESSAGES:
            messages[text(record.get("id"))] = (at, record)
        else:
            run.skip(record.get("type"))
    for at, message in {**before, **messages}.values():
        _message(run, message, agent, at)
    _end_session(run, [*messages.values()], torn=records.torn)
    return run


def _numbered(holder: HostRecord, at: int, *, in_document: bool) -> Iterator[tuple[str, tuple[int, HostRecord]]]:
    for place, message in enumerate(rows(holder.get("messages")), start=1):
        yield text(message.get("id")) or f"#{at}.{place}", (place if in_document else at, message)


def _rewind(messages: dict[str, tuple[int, HostRecord]], to: str) -> None:
    """Take back the message `to` and all after it; all messages if it is not there, as the host does."""
    ids = list(messages)
    for id_ in ids[ids.index(to) if to in messages else 0 :]:
        del messages[id_]


def _message(run: Assembly, message: HostRecord, agent: str, at: int) -> None:
    kind, said = message.get("type"), text_of(message.get("content"))
    if kind == "user":
        run.say("host" if _HOST_TEXT.match(said) or agent != MAIN_AGENT else "user", said, agent, at)
        return
    if kind != "gemini":
        return
    run.say("assistant", said, agent, at)
    for row in rows(message.get("toolCalls")):
        call = run.call(row.get("id"), row.get("name"), row.get("args"), agent, at)
        call.result, has_error = _answer(row)
        call.failed = has_error or row.get("status") in ("error", "cancelled")
        _judge_failure(call)
        call.refused = call.refused or row.get("status") == "cancelled"
    if tokens := mapping(message.get("tokens")):
        run.spend(count_of(tokens.get("input")), tokens.get("output"))


def _answer(row: HostRecord) -> tuple[str | None, bool]:
    result = row.get("result")
    for part in rows(result) or [mapping(result)]:
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        if "error" in response:
            return text(response.get("error")) or str(response.get("error")), True
        if "output" in response:
            return text(response.get("output")), False
    return text(result) or text(row.get("resultDisplay")) or None, False


def _end_session(run: Assembly, messages: list[tuple[int, HostRecord]], *, torn: bool) -> None:
    if not messages:
        return
    at, last = messages[-1]
    kind, said = last.get("type"), text_of(last.get("content"))
    if kind == "gemini" and not torn and not rows(last.get("toolCalls")) and (said or last.get("thoughts")):
        run.end("completed", "an answer without calls", at)
    elif (
        kind == "gemini"
        and not torn
        and all(row.get("status") in ("success", "error") for row in rows(last.get("toolCalls")))
    ):
        # The results are written as soon as they are there, and again as a message with the next request. A host that
        # stopped between the two has reached its limit of turns.
        run.end("limit", "no request after the last results", at)
    elif kind in ("error", "info", "warning"):
        run.end("limit" if _LIMIT.search(said) else "error", said, at)
    else:
        run.end("cut", "the last message has no answer", at)
