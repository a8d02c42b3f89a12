"""Ends of runs, lists, answers and choices that were not free, in the records of four hosts.

The verdicts follow from their description alone; the records are those that the hosts write.
"""

from __future__ import annotations

import json

from tests.evals.transcripts.written import (
    BODY,
    FILE,
    HERE,
    SKILL,
    UNKNOWN,
    Cases,
    E,
    N,
    O,
    P,
    Row,
    T,
    answer,
    asks,
    chat,
    closes,
    completes,
    copilot,
    event,
    function,
    gemini,
    gemini_call,
    gemini_ends,
    gemini_starts,
    init,
    item,
    lines,
    listing,
    message,
    meta,
    opens,
    output,
    parts_of_skill,
    ran,
    requests,
    result,
    said,
    says,
    session,
    skill,
    started,
    stopped,
    tool,
    turn,
    typed,
    use,
)

X = f".agents/skills/{SKILL}/SKILL.md"
OTHERS = ["notes", "pdf"]
BLOCK = f"<skill>\n<name>{SKILL}</name>\n<path>/w/{X}</path>\n# Charts\n</skill>"
MAX_TURNS = "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns."


def listed(*names: str) -> Row:
    """Return the developer's message of a rollout with the list of skills."""
    rows = "\n".join(f"- {name}: Does it. (file: /w/.agents/skills/{name}/SKILL.md)" for name in names)
    return message("developer", f"## Skills\n### Available skills\n{rows}\n")


def rolled(*rows: Row, names: tuple[str, ...] = (SKILL,), ends: bool = True) -> bytes:
    """Return a rollout."""
    last = [event("task_complete", last_agent_message="Done.")] if ends else []
    return lines(meta(), event("task_started"), listed(*names), message("user", "Chart it"), *rows, *last)


def loaded(*names: str) -> Row:
    """Return the list of skills of a stream of Copilot CLI."""
    skills = [{"name": name, "enabled": True, "source": "project"} for name in names]
    return copilot("session.skills_loaded", {"skills": skills}, ephemeral=True)


def exits(code: int) -> Row:
    """Return the last line of a stream of Copilot CLI."""
    return {"type": "result", "sessionId": "s", "exitCode": code}


def fails_gemini(kind: str, text: str) -> Row:
    """Return the last line of a stream of Gemini CLI that ended badly."""
    return gemini_ends("error", error={"type": kind, "message": text})


REPLY = item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
LS = function("exec_command", {"cmd": "ls"})
LS_TOLD = output("Chunk ID: 1\nProcess exited with code 0\nOutput:\na.csv\n")
CAT = function("exec_command", {"cmd": f"cat {X}"})
CAT_TOLD = output(f"Chunk ID: 1\nProcess exited with code 0\nOutput:\n{BODY}")
BASH = use("Bash", {"command": "ls"}, "t9")
TWINS = {
    "4f2a9": N,
    "4f2a91": P,
    "4f2a91b": P,
    "4F2A91": P,
    "4f2a9g": N,
    "4f2a91-x": N,
    "skill-4f2a9": N,
    "skill-4f2a91": P,
    "skills-4f2a91": N,
    "654321": P,
    "2024": N,
    "report": N,
}

ENDS: Cases = {
    "claude turns": (lines(init(HERE), BASH, answer("a", "t9"), result("error_max_turns", is_error=True)), N),
    "claude turns after choice": (lines(init(HERE), skill(), answer(), result("error_max_turns", is_error=True)), T),
    "claude turns, not listed": (lines(init(OTHERS), BASH, result("error_max_turns", is_error=True)), O),
    "claude error": (lines(init(HERE), BASH, result("error_during_execution", is_error=True)), E),
    "claude error after choice": (lines(init(HERE), skill(), result("error_during_execution", is_error=True)), T),
    "claude api error as success": (lines(init(HERE), says("API Error: 529"), result(is_error=True)), E),
    "claude no result": (lines(init(HERE), says()), E),
    "claude init alone": (lines(init(HERE)), E),
    "claude cut, not listed": (lines(init(OTHERS)), O),
    "claude cut after choice": (lines(init(HERE), skill()), T),
    "claude cut in a piece of a choice": (lines(init(HERE), *parts_of_skill()[:2]), E),
    "claude torn": (lines(init(HERE), says()) + b'{"type":"result","subt', E),
    "claude session ends": (lines(typed("Chart it"), listing(*HERE), stopped(says(), "end_turn")), N),
    "claude session pending": (lines(typed("Chart it"), listing(*HERE), stopped(BASH, "tool_use")), E),
    "claude session no answer": (lines(typed("Chart it"), listing(*HERE)), E),
    "claude session pending choice": (lines(typed("Chart it"), listing(*HERE), stopped(skill(), "tool_use")), T),
    "codex no end": (lines(*started(), ran("ls", "a")), E),
    "codex failed": (lines(*started(), turn("failed", error={"message": "stream disconnected"})), E),
    "codex failed after read": (lines(*started(), ran(f"cat {X}"), turn("failed", error={"message": "x"})), T),
    "codex no end after read": (lines(*started(), ran(f"cat {X}")), T),
    "codex start alone": (lines(started()[0]), E),
    "codex ends": (lines(*started(), ran("ls", "a"), turn()), N),
    "rollout aborted": (rolled(LS, LS_TOLD, event("turn_aborted", reason="interrupted"), ends=False), E),
    "rollout aborted after read": (rolled(CAT, CAT_TOLD, event("turn_aborted", reason="interrupted"), ends=False), T),
    "rollout no end": (rolled(LS, ends=False), E),
    "rollout no end, not listed": (rolled(LS, names=("notes",), ends=False), O),
    "rollout read without output": (rolled(CAT, ends=False), E),
    "copilot no end": (lines(loaded(*HERE), *opens()), E),
    "copilot exit 1": (lines(loaded(*HERE), *opens(), copilot("session.error", {"message": "x"}), exits(1)), E),
    "copilot exit 1 after choice": (
        lines(loaded(*HERE), *opens(), requests("skill", {"skill": SKILL}), completes(), exits(1)),
        T,
    ),
    "copilot abort": (lines(*opens(), copilot("abort", {"reason": "user"})), E),
    "copilot ends": (lines(*opens(), *closes()), N),
    "gemini turns": (lines(*gemini_starts(), fails_gemini("FatalTurnLimitedError", MAX_TURNS)), N),
    "gemini turns after choice": (
        lines(
            *gemini_starts(),
            *gemini_call("activate_skill", {"name": SKILL}),
            fails_gemini("FatalTurnLimitedError", MAX_TURNS),
        ),
        T,
    ),
    "gemini error": (lines(*gemini_starts(), fails_gemini("ApiError", "quota")), E),
    "gemini no end": (lines(*gemini_starts(), gemini("message", role="assistant", content="I", delta=True)), E),
    "gemini no end after choice": (lines(*gemini_starts(), *gemini_call("activate_skill", {"name": SKILL})), T),
    "gemini session no answer": (lines(chat(), said("1", "user", "Chart it")), E),
    "gemini session ends": (lines(chat(), said("1", "user", "Chart it"), said("2", "gemini", "Done.")), N),
    "gemini session error": (lines(chat(), said("1", "user", "Chart it"), said("2", "error", "[API Error: x]")), E),
    "gemini document, no messages": (json.dumps({**chat(), "messages": []}).encode(), E),
    "empty": (b"", E),
    "line breaks alone": (b"\n\r\n\n", E),
    "mark alone": (b"\xef\xbb\xbf", E),
    "empty object": (b"{}\n", E),
    "empty list": (b"[]", E),
    "words": (b"error: not logged in\n", E),
}
OFFERS: Cases = {
    "claude list": (lines(init(OTHERS), says(), result()), O),
    "claude empty list": (lines(init([]), says(), result()), O),
    "claude list of plugins": (lines(init([f"office:{SKILL}"]), says(), result()), N),
    "claude list in capitals": (lines(init([SKILL.upper()]), says(), result()), N),
    "claude answer": (lines(init(), skill(), answer(UNKNOWN, failed=True), says(), result()), O),
    "claude answer, then error": (
        lines(init(), skill(), answer(UNKNOWN, failed=True), result("error_during_execution", is_error=True)),
        O,
    ),
    "claude answer, then a read": (
        lines(
            init(),
            skill(),
            answer(UNKNOWN, failed=True),
            use("Read", {"file_path": FILE}, "t2"),
            answer(BODY, "t2"),
            result(),
        ),
        T,
    ),
    "claude answer on another": (
        lines(
            init(), skill("pdf"), answer("<tool_use_error>Unknown skill: pdf</tool_use_error>", failed=True), result()
        ),
        N,
    ),
    "claude session list": (lines(typed("Chart it"), listing(*OTHERS), stopped(says(), "end_turn")), O),
    "rollout list": (rolled(REPLY, names=("notes",)), O),
    "rollout list has it": (rolled(REPLY, names=("notes", SKILL)), N),
    "rollout read of what is not listed": (rolled(CAT, CAT_TOLD, names=("notes",)), T),
    "copilot list": (lines(loaded(*OTHERS), *opens(), *closes(), exits(0)), O),
    "copilot answer": (
        lines(
            *opens(),
            requests("skill", {"skill": SKILL}),
            completes(success=False, content=f"Skill not found: {SKILL}"),
            *closes(),
        ),
        O,
    ),
    "gemini answer": (
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
    "gemini session answer": (
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
                        response={"error": f'Skill "{SKILL}" not found. Available skills are: notes'},
                    )
                ],
            ),
            said("3", "gemini", "Done."),
        ),
        O,
    ),
}
NOT_FREE: Cases = {
    **{
        f"claude twin {end}": (lines(init([*HERE, f"{SKILL}-{end}"]), says(), result()), expected)
        for end, expected in TWINS.items()
    },
    **{
        f"rollout twin {end}": (rolled(REPLY, names=(SKILL, f"{SKILL}-{end}")), expected)
        for end, expected in TWINS.items()
    },
    **{
        f"copilot twin {end}": (lines(loaded(*HERE, f"{SKILL}-{end}"), *opens(), *closes(), exits(0)), expected)
        for end, expected in TWINS.items()
    },
    "claude twin alone": (lines(init([f"{SKILL}-4f2a91"]), says(), result()), P),
    "claude twin of a plugin": (lines(init([*HERE, f"office:{SKILL}-4f2a91"]), says(), result()), P),
    "claude twin as a command": (lines(init(HERE, slash_commands=[f"{SKILL}-4f2a91"]), says(), result()), P),
    "claude twin of another": (lines(init([*HERE, "notes-4f2a91"]), says(), result()), N),
    "claude twin chosen": (lines(init([*HERE, f"{SKILL}-4f2a91"]), skill(f"{SKILL}-4f2a91"), answer(), result()), P),
    "claude twin, cut": (lines(init([*HERE, f"{SKILL}-4f2a91"])), P),
    "gemini twin chosen": (
        lines(*gemini_starts(), *gemini_call("activate_skill", {"name": f"{SKILL}-4f2a91"}), gemini_ends()),
        P,
    ),
    "claude command": (
        lines(
            typed(f"<command-message>{SKILL}</command-message>\n<command-name>/{SKILL}</command-name>"),
            stopped(says(), "end_turn"),
        ),
        P,
    ),
    "claude session names it": (lines(typed(f"Use {SKILL}"), stopped(skill(), "tool_use")), P),
    "claude session names another": (lines(typed("Use /notes"), stopped(says(), "end_turn")), N),
    "claude block in the request": (
        lines(init(HERE), asks(f'<skill name="{SKILL}">Do it</skill>'), says(), result()),
        P,
    ),
    "claude block in a file": (
        lines(init(HERE), use("Read", {"file_path": "a.md"}), answer(BLOCK), says(), result()),
        N,
    ),
    "claude block in an answer": (lines(init(HERE), says(BLOCK), result()), N),
    "claude sub-agent's request names it": (
        lines(
            init(HERE),
            use("Task", {"prompt": f"Use {SKILL}"}),
            asks(f"Use {SKILL}", parent_tool_use_id="t1"),
            answer(),
            result(),
        ),
        N,
    ),
    "claude session context": (
        lines(
            typed("Chart it"),
            typed(f'<skill_context name="{SKILL}">\n# Charts</skill_context>', isMeta=True),
            session(stopped(says(), "end_turn")),
        ),
        P,
    ),
    "rollout block": (rolled(message("user", BLOCK), REPLY), P),
    "rollout block of another": (rolled(message("user", BLOCK.replace(SKILL, "notes")), REPLY), N),
    "rollout block before the read": (rolled(message("user", BLOCK), CAT, CAT_TOLD), P),
    "rollout block after the read": (rolled(CAT, CAT_TOLD, message("user", BLOCK)), T),
    "rollout block in an output": (rolled(LS, output(f"Process exited with code 0\nOutput:\n{BLOCK}")), N),
    "rollout names it": (lines(meta(), listed(SKILL), message("user", f"${SKILL} go"), event("task_complete")), P),
    "copilot names it": (lines(copilot("user.message", {"content": f"/{SKILL} a"}), *opens()[2:], *closes()), P),
    "copilot context-load": (
        lines(*opens(), copilot("skill.invoked", {"name": SKILL, "trigger": "context-load"}), *closes()),
        P,
    ),
    "copilot context-load, then chosen": (
        lines(
            *opens(),
            copilot("skill.invoked", {"name": SKILL, "trigger": "context-load"}),
            requests("skill", {"skill": SKILL}),
            completes(),
            *closes(),
        ),
        P,
    ),
    "copilot chosen, then context-load": (
        lines(
            *opens(),
            requests("skill", {"skill": SKILL}),
            copilot("skill.invoked", {"name": SKILL, "trigger": "context-load"}),
            completes(),
            *closes(),
        ),
        T,
    ),
    "copilot context-load of another": (
        lines(*opens(), copilot("skill.invoked", {"name": "notes", "trigger": "context-load"}), *closes()),
        N,
    ),
    "copilot context": (
        lines(
            *opens(),
            copilot("user.message", {"content": f'<skill-context name="{SKILL}">', "source": f"skill-{SKILL}"}),
            *closes(),
        ),
        P,
    ),
    "gemini names it": (
        lines(
            gemini("init", session_id="s", model="m"),
            gemini("message", role="user", content=f"@{SKILL} a"),
            gemini_ends(),
        ),
        P,
    ),
    "gemini session names it": (lines(chat(), said("1", "user", f"with {SKILL}"), said("2", "gemini", "Done.")), P),
    "gemini activated by the user": (
        lines(chat(), said("1", "user", f'<activated_skill name="{SKILL}">\n# Charts'), said("2", "gemini", "Done.")),
        P,
    ),
}
ENDS_AND_CHOICES: Cases = {**ENDS, **OFFERS, **NOT_FREE}
