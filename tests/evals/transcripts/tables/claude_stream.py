"""Claude Code, the lines of a stream: transcripts and their verdicts."""

from __future__ import annotations

import json

from tests.evals.transcripts.written import (
    BODY,
    DENIED,
    FILE,
    HERE,
    SKILL,
    UNKNOWN,
    Cases,
    E,
    N,
    O,
    P,
    T,
    answer,
    asks,
    init,
    lines,
    parts_of_skill,
    result,
    says,
    skill,
    use,
)

CLAUDE_STREAM: Cases = {
    "called": (lines(init(HERE), skill(), answer(), says(), result()), T),
    "called with the key of older versions": (lines(init(), use("Skill", {"command": SKILL}), answer(), result()), T),
    "called in another case": (lines(init(HERE), skill("CSV-Report"), answer(), result()), T),
    "called with a leading slash": (lines(init(HERE), skill(f"/{SKILL}"), answer(), result()), T),
    "called as a plugin's": (lines(init([f"office:{SKILL}"]), skill(f"office:{SKILL}"), answer(), result()), T),
    "called as a slash command": (
        lines(init(), use("SlashCommand", {"command": f"/{SKILL} a.csv"}), answer(), result()),
        T,
    ),
    "called after other tools": (
        lines(init(HERE), use("Bash", {"command": "ls"}), answer(), skill(id_="t2"), answer(id_="t2"), result()),
        T,
    ),
    "called beside another skill": (
        lines(init(HERE), skill("notes"), answer(), skill(id_="t2"), answer(id_="t2"), result()),
        T,
    ),
    "called in a sub-agent": (
        lines(
            init(HERE),
            use("Task", {"prompt": "x"}, "t0"),
            skill(parent_tool_use_id="t0"),
            answer(parent_tool_use_id="t0"),
            answer(id_="t0"),
            result(),
        ),
        T,
    ),
    "called in parts and whole": (lines(init(HERE), *parts_of_skill(), skill(), answer(), result()), T),
    "called in parts, then cut": (lines(init(HERE), *parts_of_skill()), T),
    "cut in the middle of a call": (lines(init(HERE), *parts_of_skill()[:2]), E),
    "another skill in parts, then cut": (lines(init(HERE), *parts_of_skill("notes")), E),
    "called, then an error": (lines(init(HERE), skill(), answer(), result("error_during_execution", is_error=True)), T),
    "called, then cut": (lines(init(HERE), skill()), T),
    "called, and refused": (lines(init(HERE), skill(), answer(DENIED, failed=True), result()), T),
    "called, refused in the list of denials": (
        lines(init(HERE), skill(), result(permission_denials=[{"tool_name": "Skill", "tool_use_id": "t1"}])),
        T,
    ),
    "called after the first result": (lines(init(HERE), says(), result(), init(HERE), skill(), answer(), result()), T),
    "read": (lines(init(HERE), use("Read", {"file_path": f"/w/{FILE}"}), answer(BODY), result()), T),
    "read by a relative path": (lines(init(HERE), use("Read", {"file_path": FILE}), answer(BODY), result()), T),
    "read by a Windows path": (
        lines(
            init(HERE), use("Read", {"file_path": f"C:\\p\\.claude\\skills\\{SKILL}\\SKILL.md"}), answer(BODY), result()
        ),
        T,
    ),
    "read through an MCP server": (
        lines(init(HERE), use("mcp__files__read_text_file", {"path": f"/w/{FILE}"}), answer(BODY), result()),
        T,
    ),
    "loaded through our MCP server": (
        lines(init(), use("mcp__prowess__skills_load", {"names": ["notes", SKILL]}), answer(), result()),
        T,
    ),
    "nothing done": (lines(init(HERE), says(), result()), N),
    "another skill": (lines(init(HERE), skill("notes"), answer(), result()), N),
    "a failed read": (
        lines(
            init(HERE), use("Read", {"file_path": f"/w/{FILE}"}), answer("File does not exist.", failed=True), result()
        ),
        N,
    ),
    "a read that a permission refused": (
        lines(init(HERE), use("Read", {"file_path": f"/w/{FILE}"}), answer(DENIED, failed=True), result()),
        N,
    ),
    "another file of the skill": (
        lines(init(HERE), use("Read", {"file_path": f"/w/{FILE[:-8]}/references/a.md"}), answer("a"), result()),
        N,
    ),
    "searched": (lines(init(HERE), use("Grep", {"pattern": "chart", "path": FILE}), answer(FILE), result()), N),
    "listed": (lines(init(HERE), use("Glob", {"pattern": "**/SKILL.md"}), answer(FILE), result()), N),
    "written": (lines(init(HERE), use("Write", {"file_path": FILE, "content": BODY}), answer(), result()), N),
    "edited": (lines(init(HERE), use("Edit", {"file_path": FILE, "old_string": "a"}), answer(), result()), N),
    "spoken of": (lines(init(HERE), says(f"I could use the {SKILL} skill: Skill({SKILL})"), result()), N),
    "named in a result": (
        lines(init(HERE), use("Bash", {"command": "ls"}), answer(f"Launching skill: {SKILL}"), result()),
        N,
    ),
    "a limit of turns": (lines(init(HERE), says(), result("error_max_turns", is_error=True)), N),
    "a limit of turns by its reason": (lines(init(HERE), says(), result("success", terminal_reason="max_turns")), N),
    "a limit of dollars": (lines(init(HERE), says(), result("error_max_budget_usd", is_error=True)), N),
    "retries, then an answer": (
        lines(init(HERE), {"type": "system", "subtype": "api_retry", "session_id": "s"}, says(), result()),
        N,
    ),
    "a second result that is good": (
        lines(init(HERE), result("error_during_execution", is_error=True), init(HERE), says(), result()),
        N,
    ),
    "two skills of a name, the other's": (
        lines(init([f"a:{SKILL}", f"b:{SKILL}"]), skill(f"b:{SKILL}"), answer(), result()),
        T,
    ),
    "unknown to the host": (lines(init(["notes"]), skill(), answer(UNKNOWN, failed=True), result()), O),
    "unknown to the host, no list": (lines(init(), skill(), answer(UNKNOWN, failed=True), result()), O),
    "not in the list": (lines(init(["notes"]), says(), result()), O),
    "not in an empty list": (lines(init([]), says(), result()), O),
    "not in the list, and an error": (lines(init(["notes"]), says(), result(is_error=True)), O),
    "an error of the provider": (
        lines(init(HERE), says("API Error: 401"), result(is_error=True, result="API Error: 401")),
        E,
    ),
    "an error in execution": (lines(init(HERE), result("error_during_execution", is_error=True)), E),
    "no result": (lines(init(HERE), says()), E),
    "only the result, as of --output-format json": (lines({**result(), "result": "Done.", "total_cost_usd": 0.1}), N),
    "a twin in the list": (lines(init([*HERE, f"{SKILL}-4f2a91"]), says(), result()), P),
    "a twin of the official script": (
        lines(init(["notes"], slash_commands=[f"{SKILL}-skill-0a1b2c3d"]), says(), result()),
        P,
    ),
    "a twin that was called": (lines(init(), skill(f"{SKILL}-deadbeef"), answer(), result()), P),
    "no twin: five digits": (lines(init([*HERE, f"{SKILL}-4f2a9"]), says(), result()), N),
    "no twin: other letters": (lines(init([*HERE, f"{SKILL}-skill-monthly"]), says(), result()), N),
    "no twin: of another skill": (lines(init([*HERE, "notes-4f2a91"]), says(), result()), N),
    "a body that no call asked for": (
        lines(
            init(HERE),
            asks(f"Base directory for this skill: /w/.claude/skills/{SKILL}\n\n# Charts", isSynthetic=True),
            says(),
            result(),
        ),
        P,
    ),
    "the body after a call": (
        lines(
            init(HERE),
            skill(),
            answer(),
            asks(f"Base directory for this skill: /w/.claude/skills/{SKILL}\n\n# Charts", isSynthetic=True),
            result(),
        ),
        T,
    ),
    "ids that come twice": (
        lines(init(HERE), use("Bash", {"command": "ls"}), answer("a"), skill(), answer(), result()),
        T,
    ),
    "one JSON list": (json.dumps([init(HERE), skill(), answer(), result()]).encode(), T),
}
