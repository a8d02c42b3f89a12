"""Records that no captured run has, one case each: Codex."""

from __future__ import annotations

import json

from tests.evals.transcripts.written import (
    BODY,
    SKILL,
    Cases,
    E,
    N,
    P,
    Row,
    T,
    event,
    function,
    item,
    lines,
    message,
    meta,
    output,
    ran,
    started,
    turn,
)

X = f".agents/skills/{SKILL}/SKILL.md"


def old_item(**further: object) -> Row:
    """Return the end of an item."""
    return {"type": "item.completed", "item": {"id": "item_0", **further}}


FURTHER_CODEX: Cases = {
    "codex item_type": (
        lines(
            *started(),
            old_item(
                item_type="command_execution",
                command="bash -lc 'cat " + X + "'",
                aggregated_output=BODY,
                exit_code=0,
                status="completed",
            ),
            turn(),
        ),
        T,
    ),
    "codex second turn same ids": (
        lines(
            *started(),
            ran("cat " + X),
            turn(),
            {"type": "turn.started"},
            ran("cat " + X, "cat: " + X + ": No such file or directory", 1),
            turn(),
        ),
        T,
    ),
    "codex mcp load": (
        lines(
            *started(),
            {
                "type": "item.completed",
                "item": {
                    "id": "i",
                    "type": "mcp_tool_call",
                    "server": "prowess",
                    "tool": "skills_load",
                    "arguments": {"names": [SKILL]},
                    "result": {"content": [{"type": "text", "text": "ok"}]},
                    "status": "completed",
                },
            },
            turn(),
        ),
        T,
    ),
    "codex file_change": (
        lines(
            *started(),
            {
                "type": "item.completed",
                "item": {
                    "id": "i",
                    "type": "file_change",
                    "changes": [{"path": "/w/" + X, "kind": "update"}],
                    "status": "completed",
                },
            },
            turn(),
        ),
        N,
    ),
    "codex error only": (lines(*started(), {"type": "error", "message": "quota"}), E),
    "codex error then failed": (
        lines(*started(), {"type": "error", "message": "quota"}, turn("failed", error={"message": "quota"})),
        E,
    ),
    "codex windows": (
        lines(
            *started(),
            ran(
                '"C:\\\\Program Files\\\\PowerShell\\\\7\\\\pwsh.exe" '
                "-Command 'Get-Content -Raw .agents\\skills\\csv-report\\SKILL.md'"
            ),
            turn(),
        ),
        T,
    ),
    "codex windows2": (
        lines(
            *started(),
            ran("powershell.exe -NoProfile -Command 'Get-Content C:\\Users\\me\\.codex\\skills\\csv-report\\SKILL.md'"),
            turn(),
        ),
        T,
    ),
    "codex windows argv": (
        lines(
            meta(),
            function(
                "shell",
                {
                    "command": [
                        "powershell.exe",
                        "-Command",
                        "Get-Content -Path .agents\\skills\\csv-report\\SKILL.md -Raw",
                    ]
                },
            ),
            output(json.dumps({"output": BODY, "metadata": {"exit_code": 0}})),
            event("task_complete"),
        ),
        T,
    ),
    "codex write_stdin": (
        lines(
            meta(),
            function("exec_command", {"cmd": "bash -i"}),
            output("Process running with session ID 3\nOutput:\n"),
            function("write_stdin", {"session_id": 3, "chars": "cat " + X + "\n"}, "c2"),
            output("Output:\n" + BODY, "c2"),
            event("task_complete"),
        ),
        T,
    ),
    "codex declined rollout": (
        lines(
            meta(),
            function("exec_command", {"cmd": "cat " + X}),
            output("exec_command failed: rejected by user"),
            event("task_complete"),
        ),
        N,
    ),
    "codex shell list": (
        lines(
            meta(),
            function("shell", {"command": ["sed", "-n", "1,80p", X]}),
            output(json.dumps({"output": BODY, "metadata": {"exit_code": 0}})),
            event("task_complete"),
        ),
        T,
    ),
    "codex apply_patch": (
        lines(
            meta(),
            item(
                "custom_tool_call",
                call_id="c1",
                name="apply_patch",
                input="*** Begin Patch\n*** Update File: " + X + "\n@@\n-a\n+cat " + X + "\n*** End Patch",
            ),
            output("Success", kind="custom_tool_call_output"),
            event("task_complete"),
        ),
        N,
    ),
    "codex user_message event only": (
        lines(
            meta(),
            event("user_message", message="Use $csv-report"),
            function("exec_command", {"cmd": "cat " + X}),
            output("Process exited with code 0\nOutput:\n" + BODY),
            event("task_complete"),
        ),
        P,
    ),
    "codex skill block plugin": (
        lines(
            meta(),
            message("user", "x"),
            message("user", f"<skill>\n<name>office:{SKILL}</name>\n<path>/x</path>\nb</skill>"),
            event("task_complete"),
        ),
        P,
    ),
    "codex exec program argv": (
        lines(
            meta(),
            item(
                "custom_tool_call",
                call_id="c1",
                name="exec",
                input='const r = await tools.shell({command: ["cat", "' + X + '"]}); text(r)',
            ),
            output(BODY, kind="custom_tool_call_output"),
            event("task_complete"),
        ),
        T,
    ),
}
