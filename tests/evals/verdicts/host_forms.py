"""One run of an agent in the records of each host: the same calls, as each host writes them down."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from tests.evals.transcripts import written as w

if TYPE_CHECKING:
    from collections.abc import Callable

Call = tuple[str, Any, str, bool]  # the kind, its argument, the text of the result, whether it failed
Row = dict[str, Any]
Form = "Callable[[str, list[Call]], bytes]"
ID = "call_{}"


def shell(command: str, output: str = w.BODY, code: int = 0) -> Call:
    """Return a call of the host's shell tool."""
    return ("shell", (command, code), output, code != 0)


def read(path: str, text: str = w.BODY, *, failed: bool = False) -> Call:
    """Return a call of the host's reading tool."""
    return ("read", path, text, failed)


def skill(name: str, text: str = "ok", *, failed: bool = False) -> Call:
    """Return a call of the host's skill tool."""
    return ("skill", name, text, failed)


def _named(call: Call, names: dict[str, tuple[str, str]]) -> tuple[str, Row]:
    kind, argument, _, _ = call
    name, key = names[kind]
    return name, {key: argument[0] if kind == "shell" else argument}


# ── Claude Code ──────────────────────────────────────────────────────────────────────────────────────────────

CLAUDE = {"shell": ("Bash", "command"), "read": ("Read", "file_path"), "skill": ("Skill", "skill")}


def _claude(calls: list[Call]) -> list[Row]:
    rows: list[Row] = []
    for place, call in enumerate(calls):
        kind, argument, text, failed = call
        name, arguments = _named(call, CLAUDE)
        told = f"Exit code {argument[1]}\n{text}" if kind == "shell" and failed else text
        rows += [w.use(name, arguments, ID.format(place)), w.answer(told, ID.format(place), failed=failed)]
    return rows


def claude_stream(_query: str, calls: list[Call]) -> bytes:
    """Return the lines of a stream."""
    return w.lines(w.init(w.HERE), *_claude(calls), w.says(), w.result())


def claude_session(query: str, calls: list[Call]) -> bytes:
    """Return the lines of a session file."""
    rows = [
        w.stopped(row, "tool_use") if row["type"] == "assistant" else w.session(row, toolUseResult="x")
        for row in _claude(calls)
    ]
    return w.lines(w.typed(query), w.listing(*w.HERE), *rows, w.stopped(w.says(), "end_turn"))


# ── Codex ────────────────────────────────────────────────────────────────────────────────────────────────────


def codex_stream(_query: str, calls: list[Call]) -> bytes:
    """Return the lines of `codex exec --json`."""
    rows: list[Row] = []
    for place, (kind, argument, text, _) in enumerate(calls):
        assert kind == "shell"
        command, code = argument
        row = w.ran(shlex.join(["/bin/bash", "-lc", command]), text, code)
        row["item"]["id"] = f"item_{place}"
        begun = {**row["item"], "aggregated_output": "", "exit_code": None, "status": "in_progress"}
        rows += [{"type": "item.started", "item": begun}, row]
    last = {"type": "item.completed", "item": {"id": "item_x", "type": "agent_message", "text": "Done."}}
    return w.lines(*w.started(), *rows, last, w.turn(usage={"input_tokens": 3, "output_tokens": 4}))


def codex_rollout(query: str, calls: list[Call]) -> bytes:
    """Return a rollout with `exec_command`."""
    rows: list[Row] = []
    for place, (kind, argument, text, _) in enumerate(calls):
        assert kind == "shell"
        command, code = argument
        told = (
            f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {code}\nOriginal token count: 9\nOutput:\n"
        )
        rows += [
            w.function("exec_command", {"cmd": command}, ID.format(place)),
            w.output(told + text, ID.format(place)),
        ]
    return _rollout(query, rows)


def codex_rollout_words(query: str, calls: list[Call]) -> bytes:
    """Return a rollout with `shell`, whose command is a list of words."""
    rows: list[Row] = []
    for place, (kind, argument, text, _) in enumerate(calls):
        assert kind == "shell"
        command, code = argument
        told = json.dumps({"output": text, "metadata": {"exit_code": code, "duration_seconds": 0.1}})
        arguments = {"command": ["bash", "-lc", command], "workdir": "/w"}
        rows += [w.function("shell", arguments, ID.format(place)), w.output(told, ID.format(place))]
    return _rollout(query, rows)


def _rollout(query: str, rows: list[Row]) -> bytes:
    listed = f"## Skills\n### Available skills\n- {w.SKILL}: Charts. (file: /w/.agents/skills/{w.SKILL}/SKILL.md)\n"
    first = [w.meta(), w.event("task_started"), w.message("developer", listed), w.message("user", query)]
    last = w.item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    return w.lines(*first, *rows, last, w.event("task_complete", last_agent_message="Done."))


# ── Copilot CLI ──────────────────────────────────────────────────────────────────────────────────────────────

COPILOT = {"shell": ("bash", "command"), "read": ("view", "path"), "skill": ("skill", "skill")}


def copilot_events(query: str, calls: list[Call]) -> bytes:
    """Return the lines of `events.jsonl`."""
    rows: list[Row] = [
        w.copilot("session.start", {"sessionId": "s", "context": {"cwd": "/w"}}),
        w.copilot("user.message", {"content": query}),
    ]
    for place, call in enumerate(calls):
        kind, argument, text, failed = call
        name, arguments = _named(call, COPILOT)
        rows.append(w.copilot("assistant.turn_start", {"turnId": str(place)}))
        rows.append(w.requests(name, arguments, ID.format(place)))
        started = {"toolCallId": ID.format(place), "toolName": name, "arguments": arguments}
        rows.append(w.copilot("tool.execution_start", started))
        if kind == "shell":
            ending = f"{text}\n<shellId: 0 completed with exit code {argument[1]}>"
            row = w.completes(ID.format(place), content=ending)
            row["data"]["shellExecution"] = {"exitCode": argument[1]}
        else:
            row = w.completes(ID.format(place), success=not failed, content=text)
        rows += [row, w.copilot("assistant.turn_end", {"turnId": str(place)})]
    return w.lines(*rows, w.copilot("assistant.turn_start", {"turnId": "z"}), *w.closes())


def copilot_stream(query: str, calls: list[Call]) -> bytes:
    """Return the lines of `--output-format json`."""
    skills = [{"name": name, "enabled": True, "source": "project"} for name in w.HERE]
    first = w.lines(w.copilot("session.skills_loaded", {"skills": skills}, ephemeral=True))
    return first + copilot_events(query, calls) + w.lines({"type": "result", "sessionId": "s", "exitCode": 0})


# ── Gemini CLI ───────────────────────────────────────────────────────────────────────────────────────────────

GEMINI = {
    "shell": ("run_shell_command", "command"),
    "read": ("read_file", "file_path"),
    "skill": ("activate_skill", "name"),
}


def gemini_stream(query: str, calls: list[Call]) -> bytes:
    """Return the lines of `-o stream-json`."""
    rows: list[Row] = [w.gemini("init", session_id="s", model="m"), w.gemini("message", role="user", content=query)]
    for place, call in enumerate(calls):
        kind, _, text, failed = call
        name, arguments = _named(call, GEMINI)
        is_error = failed and kind != "shell"
        told = {"status": "error", "error": {"type": "x", "message": text}} if is_error else {"status": "success"}
        rows.append(w.gemini("tool_use", tool_name=name, tool_id=ID.format(place), parameters=arguments))
        rows.append(w.gemini("tool_result", tool_id=ID.format(place), output=text, **told))
    return w.lines(*rows, w.gemini("message", role="assistant", content="Done.", delta=True), w.gemini_ends())


def _gemini_messages(query: str, calls: list[Call]) -> list[Row]:
    rows = [w.said("u", "user", query)]
    for place, call in enumerate(calls):
        kind, argument, text, failed = call
        name, arguments = _named(call, GEMINI)
        told = {"error": text} if failed and kind != "shell" else {"output": text}
        if kind == "shell":
            told = {
                "output": f"Output: {text}\nProcess Group PGID: 7" + (f"\nExit Code: {argument[1]}" if failed else "")
            }
        row = w.tool(name, arguments, status="error" if failed and kind != "shell" else "success", response=told)
        rows.append(w.said(f"m{place}", "gemini", "", [{**row, "id": ID.format(place)}]))
    return [*rows, w.said("z", "gemini", "Done.")]


def gemini_lines(query: str, calls: list[Call]) -> bytes:
    """Return the lines of a session file."""
    return w.lines(w.chat(kind="main"), *_gemini_messages(query, calls))


def gemini_document(query: str, calls: list[Call]) -> bytes:
    """Return a session file of older versions: one document."""
    return json.dumps({**w.chat(), "messages": _gemini_messages(query, calls)}, indent=2).encode()


# ── Cursor, OpenCode ─────────────────────────────────────────────────────────────────────────────────────────


def cursor_stream(query: str, calls: list[Call]) -> bytes:
    """Return the lines of `--output-format stream-json`."""
    user = {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": query}]},
        "session_id": "s",
    }
    first = {"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/w", "session_id": "s"}
    rows: list[Row] = [{**first, "model": "Auto", "permissionMode": "default"}, user]
    for place, (kind, argument, text, failed) in enumerate(calls):
        key, arguments, told = "readToolCall", {"path": argument}, {"success": {"content": text}}
        if kind == "shell":
            key, arguments = "shellToolCall", {"command": argument[0], "workingDirectory": ""}
            told = {("failure" if failed else "success"): {"exitCode": argument[1], "stdout": text, "stderr": ""}}
        elif failed:
            told = {"error": {"errorMessage": text}}
        row = {"type": "tool_call", "call_id": ID.format(place), "session_id": "s"}
        rows.append({**row, "subtype": "started", "tool_call": {key: {"args": arguments}}})
        rows.append({**row, "subtype": "completed", "tool_call": {key: {"args": arguments, "result": told}}})
    return w.lines(*rows, {**w.result(), "result": "Done.", "request_id": "r"})


OPENCODE = {"shell": ("bash", "command"), "read": ("read", "filePath"), "skill": ("skill", "name")}


def _opencode(calls: list[Call]) -> list[Row]:
    parts: list[Row] = []
    for place, call in enumerate(calls):
        kind, argument, text, failed = call
        name, arguments = _named(call, OPENCODE)
        state: Row = {"status": "completed", "input": arguments, "output": text, "metadata": {}}
        if kind == "shell":
            state["metadata"] = {"output": text, "exit": argument[1]}
        elif failed:
            state = {"status": "error", "input": arguments, "error": text}
        parts.append({"type": "tool", "callID": ID.format(place), "tool": name, "state": state})
    return parts


def opencode_stream(_query: str, calls: list[Call]) -> bytes:
    """Return the lines of `run --format json`."""
    rows = [("step_start", {"type": "step-start"}), *(("tool_use", part) for part in _opencode(calls))]
    rows += [("step_finish", {"type": "step-finish", "reason": "tool-calls"}), ("step_start", {"type": "step-start"})]
    rows += [("text", {"type": "text", "text": "Done."}), ("step_finish", {"type": "step-finish", "reason": "stop"})]
    return w.lines(*({"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": part} for kind, part in rows))


def opencode_export(query: str, calls: list[Call]) -> bytes:
    """Return the document of `export`."""
    user = {"info": {"role": "user", "id": "a"}, "parts": [{"type": "text", "text": query}]}
    parts = [{"type": "step-start"}, *_opencode(calls), {"type": "text", "text": "Done."}]
    answer = {"info": {"role": "assistant", "id": "b"}, "parts": [*parts, {"type": "step-finish", "reason": "stop"}]}
    return json.dumps({"info": {"id": "ses_1", "directory": "/w"}, "messages": [user, answer]}, indent=2).encode()


FORMS: dict[str, Callable[[str, list[Call]], bytes]] = {
    "claude stream": claude_stream,
    "claude session": claude_session,
    "codex stream": codex_stream,
    "codex rollout": codex_rollout,
    "codex rollout, words": codex_rollout_words,
    "copilot stream": copilot_stream,
    "copilot events": copilot_events,
    "gemini stream": gemini_stream,
    "gemini lines": gemini_lines,
    "gemini document": gemini_document,
    "cursor": cursor_stream,
    "opencode stream": opencode_stream,
    "opencode export": opencode_export,
}
WITHOUT_TOOLS = {"codex stream", "codex rollout", "codex rollout, words"}  # a shell is all that they have
WITHOUT_SKILL_TOOL = {*WITHOUT_TOOLS, "cursor"}
