"""Copilot CLI: transcripts and their verdicts."""

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
    closes,
    completes,
    copilot,
    lines,
    opens,
    requests,
)

LOADED = copilot(
    "session.skills_loaded", {"skills": [{"name": SKILL, "enabled": True}, {"name": "notes", "enabled": True}]}
)
COPILOT: Cases = {
    "called": (lines(*opens(), requests("skill", {"skill": SKILL}), completes(), *closes()), T),
    "called, with its context": (
        lines(
            *opens(),
            requests("skill", {"skill": SKILL}),
            completes(),
            copilot("skill.invoked", {"name": SKILL, "trigger": "agent-invoked"}),
            copilot("user.message", {"content": "# Charts", "source": f"skill-{SKILL}"}),
            *closes(),
        ),
        T,
    ),
    "called, without a trigger": (
        lines(
            *opens(),
            requests("skill", {"skill": SKILL}),
            completes(),
            copilot("skill.invoked", {"name": SKILL}),
            *closes(),
        ),
        T,
    ),
    "called in a sub-agent": (
        lines(
            *opens(),
            requests("task", {"prompt": "x"}, "c0"),
            requests("skill", {"skill": SKILL}, agentId="a"),
            completes(agentId="a"),
            completes("c0"),
            *closes(),
        ),
        T,
    ),
    "called, and denied": (
        lines(
            *opens(),
            requests("skill", {"skill": SKILL}),
            completes(success=False, content="Denied by rule", code="denied"),
            *closes(),
        ),
        T,
    ),
    "viewed": (
        lines(
            *opens(),
            requests("view", {"path": f"/w/.github/skills/{SKILL}/SKILL.md"}),
            completes(content=BODY),
            *closes(),
        ),
        T,
    ),
    "started without a request": (
        lines(
            *opens(),
            copilot("tool.execution_start", {"toolCallId": "c1", "toolName": "skill", "arguments": {"skill": SKILL}}),
            completes(),
            *closes(),
        ),
        T,
    ),
    "bash": (
        lines(
            *opens(),
            requests("bash", {"command": f"cat .github/skills/{SKILL}/SKILL.md"}),
            completes(content=f"{BODY}<exited with exit code 0>"),
            *closes(),
        ),
        T,
    ),
    "bash that failed": (
        lines(
            *opens(),
            requests("bash", {"command": f"cat skills/{SKILL}/SKILL.md"}),
            completes(content=f"cat: skills/{SKILL}/SKILL.md: No such file or directory\n<exited with exit code 1>"),
            *closes(),
        ),
        N,
    ),
    "a view that failed": (
        lines(
            *opens(),
            requests("view", {"path": f"/w/x/{SKILL}/SKILL.md"}),
            completes(success=False, content="Path does not exist"),
            *closes(),
        ),
        N,
    ),
    "invoked by the user": (
        lines(*opens(), copilot("skill.invoked", {"name": SKILL, "trigger": "user-invoked"}), *closes()),
        P,
    ),
    "loaded with the context": (
        lines(*opens(), copilot("skill.invoked", {"name": SKILL, "trigger": "context-load"}), *closes()),
        P,
    ),
    "put in by the host": (
        lines(*opens(), copilot("user.message", {"content": "# Charts", "source": f"skill-{SKILL}"}), *closes()),
        P,
    ),
    "another one put in": (
        lines(*opens(), copilot("user.message", {"content": "x", "source": "skill-notes"}), *closes()),
        N,
    ),
    "a command of the user": (lines(opens()[0], copilot("user.message", {"content": f"/{SKILL} a.csv"}), *closes()), P),
    "unknown": (
        lines(
            *opens(),
            requests("skill", {"skill": SKILL}),
            completes(success=False, content=f'Skill "{SKILL}" not found'),
            *closes(),
        ),
        O,
    ),
    "not in the list": (
        lines(
            copilot("session.skills_loaded", {"skills": [{"name": "notes", "enabled": True}]}),
            *opens(),
            *closes(),
            {"type": "result", "exitCode": 0},
        ),
        O,
    ),
    "in the list, but not enabled": (
        lines(
            copilot("session.skills_loaded", {"skills": [{"name": SKILL, "enabled": False}]}),
            *opens(),
            *closes(),
            {"type": "result", "exitCode": 0},
        ),
        O,
    ),
    "in the list": (lines(LOADED, *opens(), *closes(), {"type": "result", "exitCode": 0}), N),
    "a second list that is longer": (
        lines(
            copilot("session.skills_loaded", {"skills": []}),
            LOADED,
            *opens(),
            *closes(),
            {"type": "result", "exitCode": 0},
        ),
        N,
    ),
    "documents in a row": (
        b"\n".join(
            json.dumps(row, indent=4).encode()
            for row in [*opens(), requests("skill", {"skill": SKILL}), completes(), *closes()]
        ),
        T,
    ),
    "an exit code": (lines(LOADED, *opens(), *closes(), {"type": "result", "exitCode": 1}), E),
    "an error": (
        lines(
            *opens(),
            copilot("session.error", {"errorType": "query", "message": "x"}),
            copilot("assistant.turn_end", {"turnId": "0"}),
        ),
        E,
    ),
    "an error, then an answer": (
        lines(*opens(), copilot("session.error", {"message": "x"}), copilot("assistant.turn_start"), *closes()),
        N,
    ),
    "aborted": (lines(*opens(), copilot("abort", {"reason": "user_initiated"})), E),
    "a limit": (lines(*opens(), copilot("session_limits_exhausted.requested", {})), N),
    "no end": (lines(*opens()), E),
    "a call of the user": (
        lines(
            *opens(),
            copilot(
                "tool.user_requested",
                {
                    "toolCallId": "c1",
                    "toolName": "bash",
                    "arguments": {"command": f"cat .github/skills/{SKILL}/SKILL.md"},
                },
            ),
            completes(content=BODY),
            *closes(),
        ),
        N,
    ),
}
