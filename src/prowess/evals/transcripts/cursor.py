"""Cursor: the lines of `cursor-agent -p --output-format stream-json`, and its JSON lines below `agent-transcripts/`.

Read from public descriptions and samples, not from captured runs. The older transcripts as plain text are not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.evals.transcripts.assembly import Assembly, mapping, rows, text, text_of
from prowess.evals.transcripts.transcript import MAIN_AGENT

if TYPE_CHECKING:
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import TranscriptForm

_TOOLS = {  # the keys of the records `tool_call`, as tools
    "readToolCall": "read_file",
    "shellToolCall": "run_terminal_cmd",
    "skillToolCall": "skill",
}
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_ATTACHED = re.compile(
    r"<(?:manually_attached_skills|attached_skill|skill)\b[^>]*>\s*(?:Skill Name:|<name>)?\s*([\w:-]+)"
)


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of Cursor's, else None."""
    kind = record.get("type")
    if kind == "tool_call":
        return "stream" if type(record.get("tool_call")) is dict else None
    if kind == "thinking":
        return "stream" if "session_id" in record and "subtype" in record else None
    if kind == "system":
        is_init = record.get("subtype") == "init" and "tools" not in record
        return "stream" if is_init and ("permissionMode" in record or "apiKeySource" in record) else None
    if kind in ("user", "assistant") and "session_id" in record and "uuid" not in record:
        message = mapping(record.get("message"))
        return "stream" if "id" not in message and "parent_tool_use_id" not in record and message else None
    if kind == "result":
        return "stream" if "request_id" in record and "total_cost_usd" not in record else None
    if kind is None and record.get("role") in ("user", "assistant"):
        return "session" if type(record.get("message")) is dict else None
    return None


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read a stream or a transcript."""
    run = Assembly(host="cursor", form=form)
    for at, record in records.items:
        kind = record.get("type")
        if form == "session" or kind in ("user", "assistant"):
            _message(run, record, text(record.get("role")) or text(kind), at)
        elif kind == "tool_call":
            _call(run, record, at)
        elif kind == "system":
            run.session, run.directory = text(record.get("session_id")) or None, text(record.get("cwd")) or None
        elif kind == "result":
            is_good = record.get("subtype") == "success" and record.get("is_error") is not True
            run.end("completed" if is_good else "error", text(record.get("result")) if not is_good else "success", at)
        elif kind not in ("thinking", "interaction_query"):
            run.skip(kind)
    return run


def _message(run: Assembly, record: HostRecord, role: str, at: int) -> None:
    content = mapping(record.get("message")).get("content")
    said = text_of(content)
    if role == "user":
        for name in _ATTACHED.findall(said):
            run.activate(name, "user", "attached skill", MAIN_AGENT, at)
        query = _QUERY.search(said)
        run.say("user", query[1] if query is not None else said, MAIN_AGENT, at)
        if run.form == "session":
            run.end("cut", "the last record is a message of the user", at)
        return
    run.say("assistant", said, MAIN_AGENT, at)
    called = False
    for block in rows(content):
        if block.get("type") == "tool_use":
            called = True
            run.call(block.get("id"), block.get("name"), block.get("input"), MAIN_AGENT, at)
    if run.form == "session":
        run.end("cut" if called else "completed", "the last answer calls a tool" if called else None, at)


def _call(run: Assembly, record: HostRecord, at: int) -> None:
    for key, value in mapping(record.get("tool_call")).items():
        told = mapping(value)
        if "args" not in told and "result" not in told:
            continue
        name, arguments = _TOOLS.get(key, key.removesuffix("ToolCall")), told.get("args")
        if key == "mcpToolCall" and (mcp := mapping(arguments)):
            name, arguments = text(mcp.get("toolName")) or text(mcp.get("name")), mcp.get("args")
        call = run.call(record.get("call_id"), name, arguments, MAIN_AGENT, at)
        result = mapping(told.get("result"))
        if not result:
            return
        success = mapping(result.get("success"))
        told = next((one for one in map(mapping, result.values()) if one), success)
        shown = "\n".join(filter(None, (text(told.get(key)) for key in ("content", "stdout", "stderr"))))
        call.failed = "success" not in result or success.get("exitCode", 0) not in (0, None)
        call.refused = "rejected" in result or "permissionDenied" in result
        call.result = shown or text_of(success.get("content")) or ("" if success else str(result))
        return
