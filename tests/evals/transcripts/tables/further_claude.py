"""Records that no captured run has, one case each: Claude Code."""

from __future__ import annotations

from tests.evals.transcripts.written import (
    BODY,
    HERE,
    SKILL,
    Cases,
    E,
    N,
    P,
    T,
    answer,
    asks,
    init,
    lines,
    result,
    says,
    session,
    stopped,
    typed,
    use,
)

X = f".agents/skills/{SKILL}/SKILL.md"

FURTHER_CLAUDE: Cases = {
    "claude skills as objects": (
        lines(init([{"name": SKILL, "description": "x"}]), use("Skill", {"skill": SKILL}), answer(), result()),
        T,
    ),
    "claude skills as objects, none used": (lines(init([{"name": SKILL}]), says(), result()), N),
    "claude skill with args": (
        lines(init(HERE), use("Skill", {"skill": SKILL, "args": "a.csv"}), answer(), result()),
        T,
    ),
    "claude Skill other with args naming": (
        lines(init(HERE), use("Skill", {"skill": "notes", "args": SKILL}), answer(), result()),
        N,
    ),
    "forked": (
        lines(
            init(HERE),
            use("Skill", {"skill": SKILL}),
            answer(tool_use_result={"success": True, "commandName": SKILL, "status": "forked"}),
            result(),
        ),
        T,
    ),
    "interrupted at skill": (
        lines(
            typed("Chart it"),
            stopped(use("Skill", {"skill": SKILL}), "tool_use"),
            session(answer("The user doesn't want to proceed with this tool use.", failed=True)),
            session(asks("[Request interrupted by user for tool use]")),
        ),
        T,
    ),
    "loading message": (
        lines(
            typed("Chart it"),
            stopped(use("Skill", {"skill": SKILL}), "tool_use"),
            session(answer(f"Launching skill: {SKILL}")),
            typed(
                f'<command-message>The "{SKILL}" skill is loading</command-message>\n'
                f"<command-name>{SKILL}</command-name>"
            ),
            typed(
                "Base directory for this skill: /w/.claude/skills/csv-report\n\n# Charts",
                isMeta=True,
                sourceToolUseID="t1",
            ),
            stopped(says(), "end_turn"),
        ),
        T,
    ),
    "command w message first": (
        lines(
            typed(
                f"<command-message>{SKILL} is running…</command-message>\n<command-name>/{SKILL}</command-name>\n"
                "<command-args>a.csv</command-args>"
            ),
            stopped(says(), "end_turn"),
        ),
        P,
    ),
    "plugin command": (
        lines(
            typed(f"<command-message>x</command-message>\n<command-name>/office:{SKILL}</command-name>"),
            stopped(says(), "end_turn"),
        ),
        P,
    ),
    "user bash": (
        lines(
            typed("<bash-input>cat .claude/skills/csv-report/SKILL.md</bash-input>"),
            typed("<bash-stdout>---\nname: csv-report</bash-stdout>"),
            typed("Chart"),
            stopped(says(), "end_turn"),
        ),
        N,
    ),
    "replayed user message": (lines(init(HERE), asks("Use csv-report", isReplay=True), says(), result()), P),
    "task prompt names it; sub calls": (
        lines(
            init(HERE),
            use("Task", {"prompt": f"Use the {SKILL} skill"}, "t0"),
            asks(f"Use the {SKILL} skill", parent_tool_use_id="t0"),
            use("Skill", {"skill": SKILL}, "t2", parent_tool_use_id="t0"),
            answer(id_="t2", parent_tool_use_id="t0"),
            answer(id_="t0"),
            result(),
        ),
        T,
    ),
    "task prompt names it; not called": (
        lines(
            init(HERE),
            use("Task", {"prompt": f"Use the {SKILL} skill"}, "t0"),
            asks(f"Use the {SKILL} skill", parent_tool_use_id="t0"),
            answer(id_="t0"),
            result(),
        ),
        N,
    ),
    "sub reads": (
        lines(
            init(HERE),
            use("Task", {"prompt": "x"}, "t0"),
            use("Read", {"file_path": "/w/" + X}, "t2", parent_tool_use_id="t0"),
            answer(BODY, id_="t2", parent_tool_use_id="t0"),
            answer(id_="t0"),
            result(),
        ),
        T,
    ),
    "struct retries": (lines(init(HERE), says(), result("error_max_structured_output_retries", is_error=True)), E),
    "two runs in a file": (
        lines(
            init(HERE),
            says(),
            result(),
            {**init(HERE), "session_id": "s2"},
            use("Skill", {"skill": SKILL}),
            answer(),
            result(),
        ),
        T,
    ),
    "two runs: first cut": (lines(init(HERE), use("Bash", {"command": "ls"}), init(HERE), says(), result()), N),
    "mcp resource": (
        lines(
            init(HERE),
            use("ReadMcpResourceTool", {"server": "s", "uri": f"skill://{SKILL}/SKILL.md"}),
            answer(BODY),
            result(),
        ),
        T,
    ),
    "mcp read multiple": (
        lines(
            init(HERE), use("mcp__fs__read_multiple_files", {"paths": ["/w/a.md", "/w/" + X]}), answer(BODY), result()
        ),
        T,
    ),
    "powershell tool": (
        lines(
            init(HERE),
            use("PowerShell", {"command": "Get-Content .claude\\skills\\csv-report\\SKILL.md"}),
            answer(BODY),
            result(),
        ),
        T,
    ),
    "str_replace_based_edit_tool view": (
        lines(
            init(HERE),
            use("str_replace_based_edit_tool", {"command": "view", "path": "/w/" + X}),
            answer(BODY),
            result(),
        ),
        T,
    ),
    "str_replace create": (
        lines(
            init(HERE),
            use("str_replace_based_edit_tool", {"command": "create", "path": "/w/" + X, "file_text": BODY}),
            answer("ok"),
            result(),
        ),
        N,
    ),
    "LS": (lines(init(HERE), use("LS", {"path": "/w/.claude/skills/csv-report"}), answer("SKILL.md"), result()), N),
    "MultiEdit": (
        lines(init(HERE), use("MultiEdit", {"file_path": "/w/" + X, "edits": []}), answer("ok"), result()),
        N,
    ),
    "cd then cat": (
        lines(
            init(HERE),
            use("Bash", {"command": "cd .claude/skills/csv-report"}),
            answer(""),
            use("Bash", {"command": "cat SKILL.md"}, "t2"),
            answer(BODY, "t2"),
            result(),
        ),
        T,
    ),
    "cd then script": (
        lines(
            init(HERE),
            use("Bash", {"command": "cd .claude/skills/csv-report"}),
            answer(""),
            use("Bash", {"command": "python scripts/run.py"}, "t2"),
            answer("ok", "t2"),
            result(),
        ),
        T,
    ),
    "cd away then cat": (
        lines(
            init(HERE),
            use("Bash", {"command": "cd .claude/skills/csv-report"}),
            answer(""),
            use("Bash", {"command": "cd /w/docs && cat SKILL.md"}, "t2"),
            answer("# D", "t2"),
            result(),
        ),
        N,
    ),
    "copy then Read": (
        lines(
            init(HERE),
            use("Bash", {"command": "cp .claude/skills/csv-report/SKILL.md /tmp/a.md"}),
            answer(""),
            use("Read", {"file_path": "/tmp/a.md"}, "t2"),
            answer(BODY, "t2"),
            result(),
        ),
        T,
    ),
    "copy then cat": (
        lines(
            init(HERE),
            use("Bash", {"command": "cp .claude/skills/csv-report/SKILL.md /tmp/a.md"}),
            answer(""),
            use("Bash", {"command": "cat /tmp/a.md"}, "t2"),
            answer(BODY, "t2"),
            result(),
        ),
        T,
    ),
    "copy then other": (
        lines(
            init(HERE),
            use("Bash", {"command": "cp .claude/skills/csv-report/SKILL.md /tmp/a.md"}),
            answer(""),
            use("Read", {"file_path": "/tmp/b.md"}, "t2"),
            answer("# B", "t2"),
            result(),
        ),
        N,
    ),
}
