"""Codex, streams and rollouts: transcripts and their verdicts."""

from __future__ import annotations

import json

from tests.evals.transcripts.written import (
    BODY,
    FILE,
    SKILL,
    Cases,
    E,
    N,
    O,
    P,
    T,
    event,
    function,
    item,
    lines,
    message,
    meta,
    output,
    ran,
    rollout,
    started,
    turn,
)

LISTED = (
    "<skills_instructions>\n## Skills\n### Available skills\n"
    f"- {SKILL}: Charts. (file: /w/.agents/skills/{SKILL}/SKILL.md)\n"
)
SED = f"sed -n 1,9p .agents/skills/{SKILL}/SKILL.md"
PROGRAM = (
    f'const r = await tools.exec_command({{"cmd": "cat .agents/skills/{SKILL}/SKILL.md", "workdir": "/w"}});\n'
    "text(r.output);"
)

CODEX_STREAM: Cases = {
    "cat": (lines(*started(), ran(f"/bin/bash -lc 'cat .agents/skills/{SKILL}/SKILL.md'"), turn()), T),
    "double quotes": (
        lines(*started(), ran(f"bash -lc \"sed -n '1,80p' .agents/skills/{SKILL}/SKILL.md\""), turn()),
        T,
    ),
    "without a shell around": (lines(*started(), ran(f"cat /home/u/.codex/skills/{SKILL}/SKILL.md"), turn()), T),
    "started, ended": (
        lines(
            *started(),
            {
                "type": "item.started",
                "item": {
                    "id": "i1",
                    "type": "command_execution",
                    "command": SED,
                    "aggregated_output": "",
                    "exit_code": None,
                    "status": "in_progress",
                },
            },
            ran(SED),
            turn(),
        ),
        T,
    ),
    "started, then cut": (
        lines(
            *started(),
            {
                "type": "item.started",
                "item": {
                    "id": "i1",
                    "type": "command_execution",
                    "command": SED,
                    "aggregated_output": "",
                    "exit_code": None,
                    "status": "in_progress",
                },
            },
        ),
        E,
    ),
    "read, then failed": (lines(*started(), ran(SED), turn("failed", error={"message": "x"})), T),
    "declined": (lines(*started(), ran(SED, "", 1, status="declined"), turn()), N),
    "nothing done": (lines(*started(), turn()), N),
    "retries, then an answer": (lines(*started(), {"type": "error", "message": "Reconnecting... 1/5"}, turn()), N),
    "a script": (
        lines(*started(), ran(f"/bin/bash -lc 'python3 .agents/skills/{SKILL}/scripts/a.py'", "a"), turn()),
        T,
    ),
    "a missing file in the host's folder": (
        lines(
            *started(),
            ran(
                f"/bin/bash -lc 'cat .agents/skills/{SKILL}/SKILL.md'",
                f"cat: .agents/skills/{SKILL}/SKILL.md: No such file or directory\n",
                1,
            ),
            turn(),
        ),
        O,
    ),
    "a missing file elsewhere": (
        lines(
            *started(),
            ran(
                f"/bin/bash -lc 'cat skills/{SKILL}/SKILL.md'",
                f"cat: skills/{SKILL}/SKILL.md: No such file or directory\n",
                1,
            ),
            turn(),
        ),
        N,
    ),
    "a missing file, then the right one": (
        lines(
            *started(),
            ran(
                f"cat .codex/skills/{SKILL}/SKILL.md",
                f"cat: .codex/skills/{SKILL}/SKILL.md: No such file or directory\n",
                1,
            ),
            {**ran(SED), "item": {**ran(SED)["item"], "id": "i2"}},
            turn(),
        ),
        T,
    ),
    "failed": (lines(*started(), turn("failed", error={"message": "stream disconnected"})), E),
    "no end": (lines(*started()), E),
    "a second turn without an end": (lines(*started(), turn(), {"type": "turn.started"}), E),
}
CODEX_ROLLOUT: Cases = {
    "exec_command": (
        lines(
            meta(),
            message("developer", LISTED),
            message("user", "Chart it"),
            function("exec_command", {"cmd": SED}),
            output(f"Process exited with code 0\nOutput:\n{BODY}"),
            event("task_complete"),
        ),
        T,
    ),
    "shell with words": (
        lines(
            meta(),
            function("shell", {"command": ["bash", "-lc", SED]}),
            output(json.dumps({"output": BODY, "metadata": {"exit_code": 0}})),
            event("task_complete"),
        ),
        T,
    ),
    "shell with words, no shell": (
        lines(
            meta(),
            function("shell", {"command": ["cat", f".agents/skills/{SKILL}/SKILL.md"]}),
            output(BODY),
            event("task_complete"),
        ),
        T,
    ),
    "shell_command": (
        lines(
            meta(),
            function("shell_command", {"command": "cat SKILL.md", "workdir": f"/w/.agents/skills/{SKILL}"}),
            output(f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{BODY}"),
            event("task_complete"),
        ),
        T,
    ),
    "local_shell_call": (
        lines(
            meta(),
            item("local_shell_call", call_id="c1", action={"type": "exec", "command": ["bash", "-lc", SED]}),
            output(BODY),
            event("task_complete"),
        ),
        T,
    ),
    "a program": (
        lines(
            meta(),
            item("custom_tool_call", call_id="c1", name="exec", input=PROGRAM),
            output(BODY, kind="custom_tool_call_output"),
            event("task_complete"),
        ),
        T,
    ),
    "a program for another file": (
        lines(
            meta(),
            item("custom_tool_call", call_id="c1", name="exec", input=PROGRAM.replace(SKILL, "notes")),
            output("a", kind="custom_tool_call_output"),
            event("task_complete"),
        ),
        N,
    ),
    "items without an envelope": (
        lines(
            {"id": "s", "timestamp": "t", "instructions": None},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Chart it"}]},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "shell",
                "arguments": json.dumps({"command": ["cat", FILE]}),
            },
            {"type": "function_call_output", "call_id": "c1", "output": BODY},
        ),
        T,
    ),
    "failed by its exit code": (
        lines(
            meta(),
            message("developer", LISTED),
            function("exec_command", {"cmd": SED}),
            output("Process exited with code 2\nOutput:\nsed: can't read x"),
            event("task_complete"),
        ),
        N,
    ),
    "failed by its metadata": (
        lines(
            meta(),
            function("shell", {"command": ["cat", "skills/csv-report/SKILL.md"]}),
            output(json.dumps({"output": "no", "metadata": {"exit_code": 1}})),
            event("task_complete"),
        ),
        N,
    ),
    "an output that speaks of an exit code": (
        lines(
            meta(),
            function("exec_command", {"cmd": SED}),
            output(f"Process exited with code 0\nOutput:\n{BODY}Process exited with code 1\n"),
            event("task_complete"),
        ),
        T,
    ),
    "a mentioned skill": (
        lines(
            meta(),
            message("user", "Chart it"),
            message("user", f"<skill>\n<name>{SKILL}</name>\n<path>/w/x</path>\n# Charts</skill>"),
            event("task_complete"),
        ),
        P,
    ),
    "another mentioned skill": (
        lines(
            meta(),
            message("user", "Chart it"),
            message("user", "<skill>\n<name>notes</name>\nx</skill>"),
            event("task_complete"),
        ),
        N,
    ),
    "AGENTS.md names the skill": (
        lines(
            meta(),
            message("user", f"# AGENTS.md instructions for /w\n\nUse the {SKILL} skill"),
            message("user", f"<environment_context>{SKILL}</environment_context>"),
            message("user", "Chart it"),
            event("task_complete"),
        ),
        N,
    ),
    "the request names the skill": (
        lines(meta(), message("user", f"Chart it with ${SKILL}"), event("task_complete")),
        P,
    ),
    "not in the list": (
        lines(
            meta(),
            message("developer", LISTED.replace(SKILL, "notes")),
            message("user", "Chart it"),
            event("task_complete"),
        ),
        O,
    ),
    "compacted": (
        lines(
            meta(),
            message("user", "Chart it"),
            function("exec_command", {"cmd": SED}),
            output(f"Process exited with code 0\nOutput:\n{BODY}"),
            rollout("compacted", message="x", replacement_history=[]),
            event("task_complete"),
        ),
        T,
    ),
    "a compacted history that names the skill": (
        lines(
            meta(),
            message("user", "Chart it"),
            rollout("compacted", message=f"The {SKILL} skill was read", replacement_history=[]),
            event("task_complete"),
        ),
        N,
    ),
    "an end with an error": (
        lines(meta(), message("user", "Chart it"), event("task_complete", error={"message": "x"})),
        E,
    ),
    "aborted": (
        lines(meta(), message("user", "Chart it"), event("task_started"), event("turn_aborted", reason="interrupted")),
        E,
    ),
    "no end": (lines(meta(), event("task_started"), message("user", "Chart it")), E),
}
