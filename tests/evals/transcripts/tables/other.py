"""Our own agent, Cursor, OpenCode, and files of no host: transcripts and their verdicts."""

from __future__ import annotations

import json
from typing import Any

from tests.evals.transcripts.written import (
    BODY,
    SKILL,
    Cases,
    E,
    N,
    O,
    T,
    lines,
)


def own(*calls: dict[str, Any], ended: str = "answered", success: bool = True, **told: object) -> bytes:
    """Return a transcript of our own agent."""
    listed = [
        {"id": f"c{place}", "name": call["name"], "arguments": call["arguments"]} for place, call in enumerate(calls)
    ]
    results = [
        {"role": "tool", "id": one["id"], "name": one["name"], "success": success, "duration_ms": 1, **told}
        for one in listed
    ]
    return lines(
        {"role": "user", "text": "Chart it"},
        {"role": "assistant", "text": "", "calls": listed},
        *results,
        {"role": "assistant", "text": "Done.", "calls": []},
        {"role": "end", "ended": ended, "usage": {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5}},
    )


def cursor(key: str, arguments: object, told: object, *, ends: bool = True) -> bytes:
    """Return a stream of Cursor with one call."""
    first = {
        "type": "system",
        "subtype": "init",
        "apiKeySource": "login",
        "cwd": "/w",
        "session_id": "s",
        "model": "Auto",
        "permissionMode": "default",
    }
    call = {"type": "tool_call", "call_id": "c1", "session_id": "s"}
    last = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Done.",
        "session_id": "s",
        "request_id": "r",
    }
    return lines(
        first,
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": "Chart it"}]},
            "session_id": "s",
        },
        {**call, "subtype": "started", "tool_call": {key: {"args": arguments}}},
        {**call, "subtype": "completed", "tool_call": {key: {"args": arguments, "result": told}}},
        *([last] if ends else []),
    )


def opencode(
    name: str, arguments: object, *, status: str = "completed", told: str = "ok", reason: str = "stop"
) -> bytes:
    """Return a stream of OpenCode with one call."""
    state = {"status": status, "input": arguments, ("output" if status == "completed" else "error"): told}
    parts = [
        ("step_start", {"type": "step-start"}),
        ("tool_use", {"type": "tool", "callID": "c1", "tool": name, "state": state}),
        ("step_finish", {"type": "step-finish", "reason": reason, "cost": 0.1, "tokens": {"input": 1, "output": 2}}),
    ]
    return lines(*({"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": part} for kind, part in parts))


OTHERS: Cases = {
    "own: loaded": (own({"name": "skills_load", "arguments": {"names": [SKILL]}}), T),
    "own: the single skill tool": (own({"name": "skill", "arguments": {"skill": SKILL}}), T),
    "own: read": (
        own({"name": "skills.read", "arguments": {"skill": SKILL, "path": "SKILL.md"}}, result={"text": BODY}),
        T,
    ),
    "own: a reference": (
        own({"name": "skills.read", "arguments": {"skill": SKILL, "path": "references/a.md"}}, result={"text": "a"}),
        N,
    ),
    "own: a script": (own({"name": "skills_run_script", "arguments": {"skill": SKILL, "path": "scripts/a.py"}}), T),
    "own: unknown": (
        own(
            {"name": "skills_load", "arguments": {"names": [SKILL]}},
            success=False,
            error="no such skill",
            error_detail={"code": "skill_not_found"},
        ),
        O,
    ),
    "own: denied": (
        own(
            {"name": "skills_load", "arguments": {"names": [SKILL]}},
            success=False,
            error="denied",
            error_detail={"code": "policy_denied"},
        ),
        T,
    ),
    "own: a script that was denied": (
        own(
            {"name": "skills_run_script", "arguments": {"skill": SKILL, "path": "scripts/a.py"}},
            success=False,
            error="denied",
            error_detail={"code": "policy_denied"},
        ),
        N,
    ),
    "own: another": (own({"name": "skills_load", "arguments": {"names": ["notes"]}}), N),
    "own: a limit": (own(ended="turn_limit"), N),
    "own: an error": (own(ended="model_failed"), E),
    "own: interrupted": (own(ended="interrupted"), E),
    "cursor: read": (
        cursor("readToolCall", {"path": f"/w/.cursor/skills/{SKILL}/SKILL.md"}, {"success": {"content": BODY}}),
        T,
    ),
    "cursor: a shell": (
        cursor(
            "shellToolCall",
            {"command": f"cat .cursor/skills/{SKILL}/SKILL.md"},
            {"success": {"exitCode": 0, "stdout": BODY}},
        ),
        T,
    ),
    "cursor: a failed read": (
        cursor("readToolCall", {"path": f"/w/x/{SKILL}/SKILL.md"}, {"error": {"errorMessage": "File not found"}}),
        N,
    ),
    "cursor: a search": (
        cursor("grepToolCall", {"pattern": "x", "path": f".cursor/skills/{SKILL}/SKILL.md"}, {"success": {}}),
        N,
    ),
    "cursor: no end": (cursor("lsToolCall", {"path": "/w"}, {"success": {}}, ends=False), E),
    "cursor: a transcript": (
        lines(
            {
                "role": "user",
                "message": {"content": [{"type": "text", "text": "<user_query>\nChart it\n</user_query>"}]},
            },
            {
                "role": "assistant",
                "message": {
                    "content": [
                        {"type": "tool_use", "name": "Read", "input": {"path": f"/w/.cursor/skills/{SKILL}/SKILL.md"}}
                    ]
                },
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        ),
        T,
    ),
    "opencode: called": (opencode("skill", {"name": SKILL}), T),
    "opencode: read": (opencode("read", {"filePath": f"/w/.opencode/skills/{SKILL}/SKILL.md"}, told=BODY), T),
    "opencode: a shell": (opencode("bash", {"command": f"cat .opencode/skills/{SKILL}/SKILL.md"}, told=BODY), T),
    "opencode: unknown": (
        opencode("skill", {"name": SKILL}, status="error", told=f'Skill "{SKILL}" not found. Available skills: notes'),
        O,
    ),
    "opencode: refused": (
        opencode("skill", {"name": SKILL}, status="error", told="The user rejected permission to use this tool"),
        T,
    ),
    "opencode: nothing": (opencode("glob", {"pattern": "**/SKILL.md"}), N),
    "opencode: no end": (opencode("glob", {"pattern": "*"}, reason="tool-calls"), E),
    "opencode: exported": (
        json.dumps(
            {
                "info": {"id": "ses_1", "directory": "/w"},
                "messages": [
                    {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Chart it"}]},
                    {
                        "info": {"role": "assistant"},
                        "parts": [
                            {"type": "step-start"},
                            {
                                "type": "tool",
                                "callID": "c1",
                                "tool": "skill",
                                "state": {"status": "completed", "input": {"name": SKILL}, "output": "x"},
                            },
                            {"type": "step-finish", "reason": "stop"},
                        ],
                    },
                ],
            }
        ).encode(),
        T,
    ),
    "nothing": (b"", E),
    "blanks": (b"\n \r\n", E),
    "text": (b"Error: rate limit\n", E),
    "a page": (b"<html><body>502 Bad Gateway</body></html>", E),
    "JSON of something else": (b'{"name": "x"}\n[1]\n7\nnull\n"a"\n', E),
    "deep": (b"[" * 100_000, E),
    "bytes": (bytes(range(256)) * 9, E),
}
