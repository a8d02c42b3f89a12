"""Records that no captured run has, one case each: the other hosts."""

from __future__ import annotations

from tests.evals.transcripts.tables.other import cursor, opencode, own
from tests.evals.transcripts.written import (
    BODY,
    SKILL,
    Cases,
    E,
    N,
    P,
    T,
    chat,
    closes,
    completes,
    copilot,
    gemini,
    gemini_call,
    gemini_ends,
    gemini_starts,
    lines,
    opens,
    requests,
    said,
    tool,
)

X = f".agents/skills/{SKILL}/SKILL.md"

FURTHER_OTHERS: Cases = {
    "copilot agent-invoked alone": (
        lines(*opens(), copilot("skill.invoked", {"name": SKILL, "trigger": "agent-invoked"}), *closes()),
        T,
    ),
    "copilot powershell": (
        lines(
            *opens(),
            requests("powershell", {"command": "Get-Content .github\\skills\\csv-report\\SKILL.md"}),
            completes(content=BODY),
            *closes(),
        ),
        T,
    ),
    "copilot powershell type failing": (
        lines(
            *opens(),
            requests("powershell", {"command": "Get-Content x\\csv-report\\SKILL.md"}),
            completes(
                content="Get-Content : Cannot find path 'C:\\w\\x\\csv-report\\SKILL.md' because it does not exist.\n"
                "At line:1 char:1\n+ Get-Content x\\csv-report\\SKILL.md\n+ ~~~~~~~\n"
                "    + CategoryInfo          : ObjectNotFound: (C:\\w\\x:String) [Get-Content], ItemNotFoundException\n"
                "    + FullyQualifiedErrorId : PathNotFound\n<exited with exit code 1>"
            ),
            *closes(),
        ),
        N,
    ),
    "copilot powershell coloured failing": (
        lines(
            *opens(),
            requests("powershell", {"command": "Get-Content x\\csv-report\\SKILL.md"}),
            completes(
                content="\x1b[31;1mGet-Content: \x1b[31;1mCannot find path 'C:\\w\\x\\csv-report\\SKILL.md' "
                "because it does not exist.\x1b[0m"
            ),
            *closes(),
        ),
        N,
    ),
    "copilot write_bash": (
        lines(
            *opens(),
            requests("write_bash", {"shellId": "a", "input": "cat .github/skills/csv-report/SKILL.md{enter}"}),
            completes(content=BODY),
            *closes(),
        ),
        T,
    ),
    "copilot context-load sub": (
        lines(*opens(), copilot("skill.invoked", {"name": SKILL, "trigger": "context-load"}, agentId="a"), *closes()),
        P,
    ),
    "copilot user skill context": (
        lines(
            *opens(),
            copilot(
                "user.message", {"content": f'<skill-context name="{SKILL}">\nbody</skill-context>', "source": "x"}
            ),
            *closes(),
        ),
        P,
    ),
    "copilot skill_context": (
        lines(
            *opens(),
            copilot("user.message", {"content": f'<skill_context name="{SKILL}">\nbody</skill_context>'}),
            *closes(),
        ),
        P,
    ),
    "copilot twin listed": (
        lines(
            copilot(
                "session.skills_loaded",
                {"skills": [{"name": SKILL, "enabled": True}, {"name": SKILL + "-skill-abcdef01", "enabled": True}]},
            ),
            *opens(),
            *closes(),
            {"type": "result", "exitCode": 0},
        ),
        P,
    ),
    "copilot twin disabled": (
        lines(
            copilot(
                "session.skills_loaded",
                {"skills": [{"name": SKILL, "enabled": True}, {"name": SKILL + "-skill-abcdef01", "enabled": False}]},
            ),
            *opens(),
            *closes(),
            {"type": "result", "exitCode": 0},
        ),
        N,
    ),
    "gemini many none": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "read_many_files",
                {"include": ["x/csv-report/SKILL.md"]},
                text="### ReadManyFiles Result (Target Dir: `/w`)\n\n"
                "No files were read and concatenated based on the criteria.\n",
            ),
            gemini_ends(),
        ),
        N,
    ),
    "gemini many none session": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said(
                "2",
                "gemini",
                "",
                [
                    tool(
                        "read_many_files",
                        {"include": ["x/csv-report/SKILL.md"]},
                        response={"output": "No files matching the criteria were found or all were skipped."},
                    )
                ],
            ),
            said("3", "gemini", "Done."),
        ),
        N,
    ),
    "gemini many skipped": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "read_many_files",
                {"include": ["README.md", "x/csv-report/SKILL.md"]},
                text="### ReadManyFiles Result\n\nSuccessfully read and concatenated content from **1 file(s)**.\n\n"
                "**Processed Files:**\n- `README.md`\n\n**Skipped 1 item(s):**\n"
                "- `x/csv-report/SKILL.md` (Reason: Read error: no)",
            ),
            gemini_ends(),
        ),
        N,
    ),
    "gemini many glob win": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "read_many_files",
                {"include": ["**/SKILL.md"]},
                text="--- C:\\w\\.agents\\skills\\csv-report\\SKILL.md ---\n\n" + BODY,
            ),
            gemini_ends(),
        ),
        T,
    ),
    "gemini many paths key": (
        lines(*gemini_starts(), *gemini_call("read_many_files", {"paths": [X]}, text=BODY), gemini_ends()),
        T,
    ),
    "gemini absolute_path": (
        lines(*gemini_starts(), *gemini_call("read_file", {"absolute_path": "/w/" + X}, text=BODY), gemini_ends()),
        T,
    ),
    "gemini shell fail": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "run_shell_command",
                {"command": "cat x/csv-report/SKILL.md"},
                text="cat: x/csv-report/SKILL.md: No such file or directory",
            ),
            gemini_ends(),
        ),
        N,
    ),
    "gemini dir_path": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "run_shell_command",
                {"command": "python scripts/run.py", "directory": ".agents/skills/csv-report"},
                text="ok",
            ),
            gemini_ends(),
        ),
        T,
    ),
    "gemini severity error then error": (
        lines(
            *gemini_starts(),
            gemini("error", severity="error", message="Maximum session turns exceeded"),
            gemini_ends(
                "error",
                error={
                    "type": "FatalTurnLimitedError",
                    "message": "Reached max session turns for this session.",
                },
            ),
        ),
        N,
    ),
    "gemini glob": (
        lines(*gemini_starts(), *gemini_call("glob", {"pattern": "**/csv-report/SKILL.md"}, text=X), gemini_ends()),
        N,
    ),
    "gemini search": (
        lines(
            *gemini_starts(),
            *gemini_call("search_file_content", {"pattern": "x", "include": X}, text=BODY),
            gemini_ends(),
        ),
        N,
    ),
    "gemini grep_search": (
        lines(
            *gemini_starts(), *gemini_call("grep_search", {"pattern": "x", "dir_path": "."}, text=BODY), gemini_ends()
        ),
        N,
    ),
    "gemini write": (
        lines(*gemini_starts(), *gemini_call("write_file", {"file_path": X, "content": BODY}), gemini_ends()),
        N,
    ),
    "gemini replace": (
        lines(*gemini_starts(), *gemini_call("replace", {"file_path": X, "old_string": "a"}), gemini_ends()),
        N,
    ),
    "cursor rejected": (cursor("readToolCall", {"path": "/w/" + X}, {"rejected": {"reason": "no"}}), N),
    "cursor shell rejected": (cursor("shellToolCall", {"command": "cat " + X}, {"rejected": {"command": "x"}}), N),
    "cursor glob": (cursor("globToolCall", {"globPattern": "**/SKILL.md"}, {"success": {"files": [X]}}), N),
    "cursor session": (
        lines(
            {
                "role": "user",
                "message": {"content": [{"type": "text", "text": "<user_query>\nUse csv-report\n</user_query>"}]},
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        ),
        P,
    ),
    "cursor session shell": (
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nChart\n</user_query>"}]}},
            {
                "role": "assistant",
                "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {"command": "cat " + X}}]},
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        ),
        T,
    ),
    "cursor session grep": (
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": "Chart"}]}},
            {
                "role": "assistant",
                "message": {"content": [{"type": "tool_use", "name": "Grep", "input": {"pattern": "x", "path": X}}]},
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        ),
        N,
    ),
    "cursor session perl": (
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": "Chart"}]}},
            {
                "role": "assistant",
                "message": {
                    "content": [
                        {
                            "type": "tool_use",
                            "name": "Shell",
                            "input": {"command": "python -c \"print(open('" + X + "').read())\""},
                        }
                    ]
                },
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        ),
        T,
    ),
    "cursor session py exists": (
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": "Chart"}]}},
            {
                "role": "assistant",
                "message": {
                    "content": [
                        {
                            "type": "tool_use",
                            "name": "Shell",
                            "input": {"command": "python -c \"import os; print(os.path.exists('" + X + "'))\""},
                        }
                    ]
                },
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        ),
        N,
    ),
    "opencode pending": (
        lines(
            *(
                {
                    "type": "tool_use",
                    "timestamp": 1,
                    "sessionID": "s",
                    "part": {
                        "type": "tool",
                        "callID": "c",
                        "tool": "read",
                        "state": {"status": "running", "input": {"filePath": X}},
                    },
                },
            )
        ),
        E,
    ),
    "opencode read dir": (
        opencode(
            "read",
            {"filePath": "/w/.opencode/skills/csv-report"},
            told="<path>x</path>\n<entries>\nSKILL.md\n</entries>",
        ),
        N,
    ),
    "opencode error": (
        lines(
            {"type": "step_start", "timestamp": 1, "sessionID": "s", "part": {"type": "step-start"}},
            {
                "type": "error",
                "timestamp": 1,
                "sessionID": "s",
                "error": {"name": "APIError", "data": {"message": "x"}},
            },
        ),
        E,
    ),
    "own script": (own({"name": "skills_run_script", "arguments": {"skill": SKILL, "path": "scripts/a.py"}}), T),
}
