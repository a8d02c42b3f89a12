"""Gemini CLI: transcripts and their verdicts."""

from __future__ import annotations

import json

from tests.evals.transcripts.written import (
    BODY,
    SKILL,
    Cases,
    E,
    N,
    O,
    P,
    T,
    chat,
    gemini,
    gemini_call,
    gemini_ends,
    gemini_starts,
    lines,
    said,
    tool,
)

GEMINI: Cases = {
    "called": (lines(*gemini_starts(), *gemini_call("activate_skill", {"name": SKILL}), gemini_ends()), T),
    "read": (
        lines(
            *gemini_starts(),
            *gemini_call("read_file", {"file_path": f".agents/skills/{SKILL}/SKILL.md"}, text=BODY),
            gemini_ends(),
        ),
        T,
    ),
    "read with others": (
        lines(
            *gemini_starts(),
            *gemini_call("read_many_files", {"include": ["README.md", f".gemini/skills/{SKILL}/SKILL.md"]}, text=BODY),
            gemini_ends(),
        ),
        T,
    ),
    "read by a pattern": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "read_many_files",
                {"include": [".agents/skills/*/SKILL.md"]},
                text=f"--- .agents/skills/{SKILL}/SKILL.md ---\n{BODY}",
            ),
            gemini_ends(),
        ),
        T,
    ),
    "other files by a pattern": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "read_many_files",
                {"include": [".agents/skills/*/SKILL.md"]},
                text="--- .agents/skills/notes/SKILL.md ---\n",
            ),
            gemini_ends(),
        ),
        N,
    ),
    "a shell in a directory": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "run_shell_command", {"command": "cat SKILL.md", "dir_path": f".agents/skills/{SKILL}"}, text=BODY
            ),
            gemini_ends(),
        ),
        T,
    ),
    "refused": (
        lines(
            *gemini_starts(),
            *gemini_call("activate_skill", {"name": SKILL}, status="error", text="Tool execution denied by policy."),
            gemini_ends(),
        ),
        T,
    ),
    "unknown": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "activate_skill",
                {"name": SKILL},
                status="error",
                text='params/name must be equal to one of the allowed values: "notes"',
            ),
            gemini_ends(),
        ),
        O,
    ),
    "not found": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "activate_skill",
                {"name": SKILL},
                status="error",
                text=f'Skill "{SKILL}" not found. Available skills are: notes',
            ),
            gemini_ends(),
        ),
        O,
    ),
    "a failed read": (
        lines(
            *gemini_starts(),
            *gemini_call(
                "read_file", {"file_path": f".agents/skills/{SKILL}/SKILL.md"}, status="error", text="File not found."
            ),
            gemini_ends(),
        ),
        N,
    ),
    "a warning": (
        lines(*gemini_starts(), gemini("error", severity="warning", message="Loop detected"), gemini_ends()),
        N,
    ),
    "a limit of turns": (
        lines(
            *gemini_starts(),
            gemini_ends("error", error={"type": "FatalTurnLimitedError", "message": "Reached max session turns"}),
        ),
        N,
    ),
    "an error": (lines(*gemini_starts(), gemini_ends("error", error={"type": "ApiError", "message": "x"})), E),
    "no end": (lines(*gemini_starts()), E),
    "session: called": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said("2", "gemini"),
            said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})]),
            said("3", "gemini", "Done."),
        ),
        T,
    ),
    "session: the last record of a message counts": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said("2", "gemini", "", [tool("activate_skill", {"name": "notes"})]),
            said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})]),
            said("3", "gemini", "Done."),
        ),
        T,
    ),
    "session: one document": (
        json.dumps(
            {
                **chat(),
                "messages": [
                    said("1", "user", "Chart it"),
                    said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})]),
                    said("3", "gemini", "Done."),
                ],
            },
            indent=2,
        ).encode(),
        T,
    ),
    "session: replaced history": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})]),
            {"$set": {"messages": [said("1", "user", "Chart it"), said("9", "gemini", "So far.")]}},
            said("3", "gemini", "Done."),
        ),
        T,
    ),
    "session: taken back": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})]),
            said("3", "gemini", "Done."),
            {"$rewindTo": "1"},
            said("4", "user", "Count it"),
            said("5", "gemini", "3"),
        ),
        N,
    ),
    "session: taken back to what is not there": (
        lines(
            chat(),
            said("2", "gemini", "", [tool("activate_skill", {"name": SKILL})]),
            {"$rewindTo": "x"},
            said("4", "user", "Count it"),
            said("5", "gemini", "3"),
        ),
        N,
    ),
    "session: unknown": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said(
                "2",
                "gemini",
                "",
                [
                    tool(
                        "activate_skill",
                        {"name": SKILL},
                        status="error",
                        response={"error": "must be equal to one of the allowed values"},
                    )
                ],
            ),
            said("3", "gemini", "No."),
        ),
        O,
    ),
    "session: cancelled": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said(
                "2",
                "gemini",
                "",
                [tool("activate_skill", {"name": SKILL}, status="cancelled", response={"error": "User cancelled"})],
            ),
            said("3", "gemini", "No."),
        ),
        T,
    ),
    "session: the context names the skill": (
        lines(
            chat(),
            said("0", "user", f"<session_context>the {SKILL} skill</session_context>"),
            said("1", "user", "Chart it"),
            said("3", "gemini", "Done."),
        ),
        N,
    ),
    "session: the skill was put in": (
        lines(
            chat(),
            said("1", "user", f'Chart it\n<activated_skill name="{SKILL}">x</activated_skill>'),
            said("3", "gemini", "Done."),
        ),
        P,
    ),
    "session: no answer": (lines(chat(), said("1", "user", "Chart it")), E),
    "session: an error": (lines(chat(), said("1", "user", "Chart it"), said("2", "error", "API Error")), E),
    "session: a call without a result": (
        lines(
            chat(),
            said("1", "user", "Chart it"),
            said("2", "gemini", "", [{"id": "c1", "name": "read_file", "args": {}, "status": "executing"}]),
        ),
        E,
    ),
}
