"""Records of hosts, written by hand: what captured runs do not have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]
Cases = dict[str, tuple[bytes, str]]  # name: a transcript, and the verdict on `SKILL`
T, N, P, O, E = "triggered", "not_triggered", "polluted", "not_offered", "error"  # noqa: E741 -- a table of verdicts
SKILL = "csv-report"
FILE = f".claude/skills/{SKILL}/SKILL.md"
HERE = [SKILL, "notes"]
DENIED = "Permission to use Skill has been denied because of permission rules."
UNKNOWN = f"<tool_use_error>Unknown skill: {SKILL}</tool_use_error>"
BODY = f"---\nname: {SKILL}\n---\n\n# Charts\n"


def lines(*records: Row) -> bytes:
    """Return JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


# ── Claude Code ──────────────────────────────────────────────────────────────────────────────────────────────


def init(skills: Sequence[str | Row] | None = None, **further: object) -> Row:
    """Return the first record of a stream."""
    listed = {} if skills is None else {"skills": skills}
    return {
        "type": "system",
        "subtype": "init",
        "cwd": "/w",
        "session_id": "s",
        "tools": ["Skill"],
        **listed,
        **further,
    }


def use(name: str, arguments: Row, id_: str = "t1", **further: object) -> Row:
    """Return an assistant's record with one call."""
    content = [{"type": "tool_use", "id": id_, "name": name, "input": arguments}]
    return {"type": "assistant", "message": {"id": f"m{id_}", "content": content}, **_common(), **further}


def skill(name: str = SKILL, id_: str = "t1", **further: object) -> Row:
    """Return a call of the skill tool."""
    return use("Skill", {"skill": name}, id_, **further)


def answer(text: str = "ok", id_: str = "t1", *, failed: bool = False, **further: object) -> Row:
    """Return the record with the result of a call."""
    block = {"type": "tool_result", "tool_use_id": id_, "content": text, **({"is_error": True} if failed else {})}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **_common(), **further}


def says(text: str = "Done.", **further: object) -> Row:
    """Return an assistant's record with text."""
    return {
        "type": "assistant",
        "message": {"id": "mx", "content": [{"type": "text", "text": text}]},
        **_common(),
        **further,
    }


def asks(text: str, **further: object) -> Row:
    """Return a user's record with text."""
    return {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        **_common(),
        **further,
    }


def result(subtype: str = "success", *, is_error: bool = False, **further: object) -> Row:
    """Return the last record of a stream."""
    return {"type": "result", "subtype": subtype, "is_error": is_error, "num_turns": 1, "session_id": "s", **further}


def part(event: Row) -> Row:
    """Return a partial message."""
    return {"type": "stream_event", "event": event, **_common()}


def parts_of_skill(name: str = SKILL, id_: str = "t1") -> list[Row]:
    """Return a call of the skill tool in partial messages: its start, two pieces, its stop."""
    text = json.dumps({"skill": name})
    pieces = [
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}}
        for piece in (text[:7], text[7:])
    ]
    block = {"type": "tool_use", "id": id_, "name": "Skill", "input": {}}
    events = [
        {"type": "content_block_start", "index": 1, "content_block": block},
        *pieces,
        {"type": "content_block_stop", "index": 1},
    ]
    return [part(event) for event in events]


def _common() -> Row:
    return {"session_id": "s", "parent_tool_use_id": None, "uuid": "u"}


def session(record: Row, **further: object) -> Row:
    """Return a record of a stream as one of a session file."""
    kept = {key: value for key, value in record.items() if key not in ("session_id", "parent_tool_use_id")}
    return {"parentUuid": None, "isSidechain": False, "sessionId": "s", "cwd": "/w", **kept, **further}


def stopped(record: Row, reason: str | None, **further: object) -> Row:
    """Return an assistant's record of a session file with its stop reason."""
    return session({**record, "message": {**record["message"], "stop_reason": reason}}, **further)


def typed(text: str, **further: object) -> Row:
    """Return a user's record of a session file whose content is a text."""
    return session({"type": "user", "message": {"role": "user", "content": text}}, **further)


def listing(*names: str) -> Row:
    """Return the list of skills of a session file, as older versions write it."""
    content = "\n".join(f"- {name}: Does {name}: well." for name in names)
    return session({"type": "attachment", "attachment": {"type": "skill_listing", "content": content}})


# ── Codex ────────────────────────────────────────────────────────────────────────────────────────────────────


def started() -> list[Row]:
    """Return the first records of a stream."""
    return [{"type": "thread.started", "thread_id": "s"}, {"type": "turn.started"}]


def ran(command: str, output: str = BODY, code: int = 0, **further: object) -> Row:
    """Return a command that ended."""
    status = "completed" if code == 0 else "failed"
    item = {"id": "i1", "type": "command_execution", "command": command, "aggregated_output": output, "exit_code": code}
    return {"type": "item.completed", "item": {**item, "status": status, **further}}


def turn(kind: str = "completed", **further: object) -> Row:
    """Return the end of a turn."""
    return {"type": f"turn.{kind}", **further}


def rollout(kind: str, **payload: object) -> Row:
    """Return a line of a rollout file."""
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


def item(kind: str, **payload: object) -> Row:
    """Return an item of the model's conversation."""
    return rollout("response_item", type=kind, **payload)


def event(kind: str, **payload: object) -> Row:
    """Return an event of a rollout."""
    return rollout("event_msg", type=kind, **payload)


def message(role: str, text: str) -> Row:
    """Return a message of a rollout."""
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def meta(**further: object) -> Row:
    """Return the first line of a rollout."""
    return rollout("session_meta", id="s", cwd="/w", source="exec", **further)


def function(name: str, arguments: Row, id_: str = "c1") -> Row:
    """Return a call of a rollout."""
    return item("function_call", call_id=id_, name=name, arguments=json.dumps(arguments))


def output(text: object, id_: str = "c1", kind: str = "function_call_output") -> Row:
    """Return the result of a call of a rollout."""
    return item(kind, call_id=id_, output=text)


# ── Copilot CLI ──────────────────────────────────────────────────────────────────────────────────────────────


def copilot(kind: str, data: Row | None = None, **further: object) -> Row:
    """Return an event."""
    return {"type": kind, "data": data or {}, "id": "e", "timestamp": "t", "parentId": None, **further}


def requests(name: str, arguments: Row, id_: str = "c1", **further: object) -> Row:
    """Return an answer with one call."""
    call = {"toolCallId": id_, "name": name, "arguments": arguments, "type": "function"}
    return copilot("assistant.message", {"messageId": "m", "content": "", "toolRequests": [call]}, **further)


def completes(
    id_: str = "c1", *, success: bool = True, content: str = "ok", code: str = "failure", **further: object
) -> Row:
    """Return the end of a call."""
    told = {"result": {"content": content}} if success else {"error": {"message": content, "code": code}}
    return copilot("tool.execution_complete", {"toolCallId": id_, "success": success, **told}, **further)


def opens() -> list[Row]:
    """Return the first events of a run."""
    return [
        copilot("session.start", {"sessionId": "s", "context": {"cwd": "/w"}}),
        copilot("user.message", {"content": "Chart it"}),
        copilot("assistant.turn_start", {"turnId": "0"}),
    ]


def closes() -> list[Row]:
    """Return the last events of a run."""
    return [
        copilot("assistant.message", {"messageId": "n", "content": "Done."}),
        copilot("assistant.turn_end", {"turnId": "0"}),
    ]


# ── Gemini CLI ───────────────────────────────────────────────────────────────────────────────────────────────


def gemini(kind: str, **further: object) -> Row:
    """Return a line of a stream."""
    return {"type": kind, "timestamp": "t", **further}


def gemini_starts() -> list[Row]:
    """Return the first lines of a stream."""
    return [gemini("init", session_id="s", model="m"), gemini("message", role="user", content="Chart it")]


def gemini_call(name: str, arguments: Row, *, status: str = "success", text: str = "ok") -> list[Row]:
    """Return a call and its result."""
    told = {"output": text} if status == "success" else {"output": text, "error": {"type": "x", "message": text}}
    return [
        gemini("tool_use", tool_name=name, tool_id="c1", parameters=arguments),
        gemini("tool_result", tool_id="c1", status=status, **told),
    ]


def gemini_ends(status: str = "success", **further: object) -> Row:
    """Return the last line of a stream."""
    return gemini("result", status=status, **further)


def chat(**further: object) -> Row:
    """Return the first line of a session file."""
    return {"sessionId": "s", "projectHash": "h", "startTime": "t", "lastUpdated": "t", **further}


def said(id_: str, kind: str, text: str = "", calls: list[Row] | None = None) -> Row:
    """Return a message of a session."""
    return {"id": id_, "timestamp": "t", "type": kind, "content": text, **({"toolCalls": calls} if calls else {})}


def tool(name: str, arguments: Row, *, status: str = "success", response: Row | None = None) -> Row:
    """Return a call of a message."""
    told = [{"functionResponse": {"id": "c1", "name": name, "response": response or {"output": "ok"}}}]
    return {"id": "c1", "name": name, "args": arguments, "status": status, "result": told}
