"""Claude Code, session files: transcripts and their verdicts."""

from __future__ import annotations

from tests.evals.transcripts.written import (
    HERE,
    SKILL,
    Cases,
    E,
    N,
    O,
    P,
    T,
    answer,
    asks,
    lines,
    listing,
    says,
    session,
    skill,
    stopped,
    typed,
    use,
)

CLAUDE_SESSION: Cases = {
    "called": (
        lines(
            typed("Chart it"),
            listing(*HERE),
            stopped(skill(), "tool_use"),
            session(answer()),
            stopped(says(), "end_turn"),
        ),
        T,
    ),
    "called, then compacted": (
        lines(
            typed("Chart it"),
            stopped(skill(), "tool_use"),
            session(answer()),
            session({"type": "system", "subtype": "compact_boundary"}),
            typed("This session is being continued.", isCompactSummary=True),
            stopped(says(), "end_turn"),
        ),
        T,
    ),
    "a summary names the skill": (
        lines(
            {"type": "summary", "summary": f"The {SKILL} skill", "leafUuid": "u"},
            typed(f"Earlier the {SKILL} skill was used.", isCompactSummary=True),
            typed("Go on"),
            stopped(says(), "end_turn"),
        ),
        N,
    ),
    "a command of the user": (
        lines(
            typed(f"<command-message>{SKILL}</command-message>\n<command-name>/{SKILL}</command-name>"),
            typed("# Charts", isMeta=True),
            stopped(says(), "end_turn"),
        ),
        P,
    ),
    "a command, then a call": (
        lines(
            typed(f"<command-name>/{SKILL}</command-name>"),
            stopped(skill(), "tool_use"),
            session(answer()),
            stopped(says(), "end_turn"),
        ),
        P,
    ),
    "a call, then a command": (
        lines(
            typed("Chart it"),
            stopped(skill(), "tool_use"),
            session(answer()),
            stopped(says(), "end_turn"),
            typed(f"<command-name>/{SKILL}</command-name>"),
            stopped(says(), "end_turn"),
        ),
        T,
    ),
    "another command": (
        lines(typed("<command-name>/clear</command-name>"), typed("Chart it"), stopped(says(), "end_turn")),
        N,
    ),
    "the request names the skill": (
        lines(
            typed(f"Use the {SKILL} skill"),
            stopped(skill(), "tool_use"),
            session(answer()),
            stopped(says(), "end_turn"),
        ),
        P,
    ),
    "a reminder names the skill": (
        lines(
            typed(f"Chart it <system-reminder>The {SKILL} skill is there</system-reminder>"),
            stopped(says(), "end_turn"),
        ),
        N,
    ),
    "a sub-agent in the same file": (
        lines(
            typed("Chart it"),
            stopped(use("Task", {"prompt": "x"}, "t0"), "tool_use"),
            stopped(skill(), "tool_use", isSidechain=True),
            session(answer(), isSidechain=True),
            session(answer(id_="t0")),
            stopped(says(), "end_turn"),
        ),
        T,
    ),
    "a sub-agent's progress": (
        lines(
            typed("Chart it"),
            session({"type": "progress", "data": {"type": "agent_progress", "agentId": "a", "message": skill()}}),
            stopped(says(), "end_turn"),
        ),
        T,
    ),
    "older versions have no stop reason": (lines(typed("Chart it"), stopped(says(), None)), N),
    "not in the list": (lines(typed("Chart it"), listing("notes"), stopped(says(), "end_turn")), O),
    "a plugin's skill in the list": (
        lines(typed("Chart it"), listing(f"office:{SKILL}"), stopped(says(), "end_turn")),
        N,
    ),
    "a limit of turns": (
        lines(
            typed("Chart it"),
            stopped(use("Bash", {"command": "ls"}), "tool_use"),
            session(answer("a")),
            session({"type": "attachment", "attachment": {"type": "max_turns_reached"}}),
        ),
        N,
    ),
    "no answer": (lines(typed("Chart it")), E),
    "no answer to the last request": (lines(typed("Chart it"), stopped(says(), "end_turn"), typed("And then?")), E),
    "ends at a call": (lines(typed("Chart it"), stopped(use("Bash", {"command": "ls"}), "tool_use")), E),
    "ends at a result": (
        lines(typed("Chart it"), stopped(use("Bash", {"command": "ls"}), "tool_use"), session(answer("a"))),
        E,
    ),
    "interrupted": (
        lines(typed("Chart it"), stopped(says(), "end_turn"), session(asks("[Request interrupted by user]"))),
        E,
    ),
    "an error of the provider": (
        lines(typed("Chart it"), stopped(says("API Error"), "stop_sequence", isApiErrorMessage=True)),
        E,
    ),
    "an error, then an answer": (
        lines(
            typed("Chart it"),
            stopped(says("API Error"), "stop_sequence", isApiErrorMessage=True),
            typed("Again"),
            stopped(says(), "end_turn"),
        ),
        N,
    ),
}
