"""Samples that are cut down to what they show: without ids of sessions, lists of tools or outputs."""

from __future__ import annotations

import json

from tests.evals.transcripts.written import (
    BODY,
    SKILL,
    Cases,
    E,
    N,
    O,
    Row,
    T,
    chat,
    gemini_ends,
    gemini_starts,
    lines,
    ran,
    said,
    started,
    tool,
    turn,
)

X = f".agents/skills/{SKILL}/SKILL.md"
END: Row = {"type": "result", "subtype": "success", "is_error": False, "result": "Done."}
INIT: Row = {"type": "system", "subtype": "init", "session_id": "a"}


def calls(name: str, arguments: Row, **further: object) -> Row:
    """Return an assistant's record with one call."""
    block = {"type": "tool_use", "id": "t1", "name": name, "input": arguments}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}, **further}


def tells(text: str, **further: object) -> Row:
    """Return an assistant's record with text."""
    return {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        **further,
    }


def gets(text: str = "ok", **further: object) -> Row:
    """Return the record with the result of the call."""
    block = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **further}


FILE: Row = {"parentUuid": None, "isSidechain": False, "uuid": "u"}
ASKED: Row = {"type": "user", "message": {"role": "user", "content": "Chart it"}, **FILE}
ITEM: Row = {"type": "command_execution", "command": f"bash -lc 'cat {X}'", "exit_code": 0, "status": "completed"}
CHAT = [said("1", "user", "Chart it"), said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})])]

MINIMAL: Cases = {
    "claude: called": (lines(calls("Skill", {"skill": SKILL}), gets(), END), T),
    "claude: nothing": (lines(INIT, tells("x"), END), N),
    "claude: read": (
        lines(
            {**INIT, "skills": [SKILL], "permissionMode": "default"}, calls("Read", {"file_path": X}), gets(BODY), END
        ),
        T,
    ),
    "claude: not in the list": (lines({**INIT, "skills": ["notes"], "permissionMode": "default"}, tells("x"), END), O),
    "claude: cut": (lines(INIT, calls("Bash", {"command": "ls"})), E),
    "claude: an error": (lines(INIT, {**END, "subtype": "error_during_execution", "is_error": True}), E),
    "claude: a limit": (lines(tells("x"), {**END, "subtype": "error_max_turns", "is_error": True}), N),
    "claude session: called": (
        lines(ASKED, calls("Skill", {"skill": SKILL}, **FILE), gets(**FILE), tells("Done.", **FILE)),
        T,
    ),
    "claude session: nothing": (lines(ASKED, tells("Done.", **FILE)), N),
    "claude session: a sub-agent": (
        lines(ASKED, calls("Skill", {"skill": SKILL}, **{**FILE, "isSidechain": True}), tells("Done.", **FILE)),
        T,
    ),
    "codex: no output": (lines(*started(), {"type": "item.completed", "item": {"id": "i", **ITEM}}, turn()), T),
    "codex: an empty output": (lines(*started(), ran(f"bash -lc 'sed -n 1,200p {X}'", ""), turn()), T),
    "codex: an empty output of a failure": (lines(*started(), ran(f"bash -lc 'cat {X}'", "", 1), turn()), N),
    "codex: an output that is thrown away": (
        lines(*started(), ran(f"bash -lc 'cat {X} 2>/dev/null | head'", ""), turn()),
        N,
    ),
    "codex: an empty output of ls": (lines(*started(), ran(f"bash -lc 'ls {X}'", ""), turn()), N),
    "gemini: a document without a hash": (
        json.dumps({"sessionId": "s", "messages": [*CHAT, said("3", "gemini", "Done.")]}).encode(),
        T,
    ),
    "gemini: nothing": (
        json.dumps({"sessionId": "s", "messages": [CHAT[0], said("3", "gemini", "Done.")]}).encode(),
        N,
    ),
    "claude: a second run is cut": (lines(INIT, tells("x"), END, {**INIT, "session_id": "b"}, tells("y")), E),
    "gemini: a second run is cut": (lines(*gemini_starts(), gemini_ends(), *gemini_starts()), E),
    "gemini: a second session with the same ids of messages": (
        lines(
            *(chat(), *CHAT, said("3", "gemini", "Done.")),
            *(chat(sessionId="t"), CHAT[0], said("2", "gemini", "Done.")),
        ),
        T,
    ),
}
