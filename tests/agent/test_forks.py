"""Skills with `context: fork` in sub-agents: what they see, what they may do, what comes back, where they end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.agent import Agent, Budget, ModelSettings, ScriptedModel, ScriptedTurn, Usage
from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.runtime.forks import AgentType
from prowess.tools.functions.function_tool import FunctionTool
from tests.agent.making import add_skill, calls, error_code, tool_messages, value

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.agent import ModelRequest

SECRET = "swordfish-7"
FORK = "context: fork\n"


def _fork(name: str, args: str | None = None) -> ScriptedTurn:
    return calls(("skill", {"skill": name} if args is None else {"skill": name, "args": args}))


@pytest.mark.proves("runtime.fork.subagent", "runtime.fork.input", "runtime.fork.output", "client.context.delegate")
@pytest.mark.anyio
async def test_a_fork_gets_the_skill_and_the_input_and_gives_back_its_answer(tmp_path: Path) -> None:
    add_skill(tmp_path, "digest", front=FORK, body="Read the input twice, then answer in one line.\n")
    seen: list[ModelRequest] = []

    def work(request: ModelRequest) -> ScriptedTurn:
        seen.append(request)
        return calls(("skills_read", {"path": "SKILL.md"}), text="Thinking aloud, for myself.")

    model = ScriptedModel([_fork("digest", "Three short lines."), work, "In short: three lines.", "Told."])
    result = await Agent(model, catalog=Catalog(tmp_path)).run("Sum it up.")
    assert [message.text for message in seen[0].messages] == ["Three short lines."]
    assert "Read the input twice" in seen[0].instructions
    returned = value(result, 0)
    assert (returned["skill_name"], returned["output"], returned["turns"]) == ("digest", "In short: three lines.", 2)
    # Nothing else of the run is left with the parent.
    assert "Thinking aloud" not in json.dumps([message.text for message in result.transcript])
    assert len(tool_messages(result)) == 1
    assert result.skills_used == ("digest",)
    assert returned["child_session_id"] != result.session_id


@pytest.mark.proves("runtime.fork.isolation")
@pytest.mark.anyio
async def test_a_secret_of_the_parent_is_out_of_reach_for_a_fork_that_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)
    monkeypatch.setenv("PARENT_SECRET", SECRET)
    work = tmp_path / "work"
    work.mkdir()
    (work / "secret.txt").write_text(SECRET, encoding="utf-8")
    skills = tmp_path / "skills"
    add_skill(skills, "keeper", body=f"The password is {SECRET}.\n", leave=f"echo {SECRET} > $OUT/left.txt\n")
    look = "env; pwd; ls -R . /workspace /out /tmp 2>&1; cat secret.txt /workspace/secret.txt 2>&1; exit 0\n"
    add_skill(skills, "spy", front=FORK, body="Find the password.\n", look=look)
    seen: list[ModelRequest] = []

    def spy(request: ModelRequest) -> ScriptedTurn:
        seen.append(request)
        return calls(
            ("skills_run_script", {"path": "scripts/look.sh"}),
            ("skills_read", {"skill": "keeper", "path": "SKILL.md"}),
            ("skills_read", {"artifact": "left.txt"}),
            ("skills_read", {"path": "../keeper/SKILL.md"}),
            ("skills_read", {"path": str(work / "secret.txt")}),
            ("remember", {"key": "password"}),
        )

    def give_up(request: ModelRequest) -> str:
        seen.append(request)
        return "Nothing found."

    def remember(key: str) -> str:
        """Look something up."""
        return {"password": SECRET}[key]

    model = ScriptedModel(
        [
            calls(("skills_load", {"names": ["keeper"]}), ("skills_run_script", {"path": "scripts/leave.sh"})),
            _fork("spy", "Look around."),
            spy,
            give_up,
            "Done.",
        ]
    )
    agent = Agent(
        model,
        catalog=Catalog(skills),
        workspace=work,
        write=True,
        extra_tools=[FunctionTool(remember)],
    )
    result = await agent.run(f"The password is {SECRET}; keep it.")
    assert result.answered
    for request in seen:
        everything = request.instructions + "".join(message.text for message in request.messages)
        assert SECRET not in everything
        assert "remember" not in [spec.name for spec in request.tools]
    looked = seen[1].messages[-6:]
    assert [json.loads(message.text)["success"] for message in looked] == [True, False, False, False, False, False]
    assert json.loads(looked[0].text)["result"]["exit_code"] == 0


@pytest.mark.proves("runtime.fork.restriction")
@pytest.mark.anyio
async def test_a_fork_may_use_what_both_its_skill_and_its_parent_permit(tmp_path: Path) -> None:
    def note(text: str) -> str:
        """Note a text."""
        return text

    def shout(text: str) -> str:
        """Shout a text."""
        return text.upper()

    tools = (FunctionTool(note), FunctionTool(shout))
    add_skill(tmp_path, "outer", front="allowed-tools: note Read\n")
    add_skill(tmp_path, "inner", front=f"{FORK}agent: worker\nallowed-tools: note shout\n")
    results: list[str] = []

    def look(request: ModelRequest) -> str:
        results.extend(message.text for message in request.messages[-2:])
        return "Done inside."

    both = calls(("note", {"text": "a"}), ("shout", {"text": "a"}))
    model = ScriptedModel([calls(("skills_load", {"names": ["outer"]})), _fork("inner", "Go."), both, look, "Done."])
    agent = Agent(model, catalog=Catalog(tmp_path), agent_types=[AgentType(name="worker", tools=tools)])
    assert (await agent.run("Go.")).answered
    permitted, refused = (json.loads(text) for text in results)
    assert permitted["success"] is True
    assert refused["success"] is False
    assert "not allowed by active skill 'outer'" in refused["error"]


@pytest.mark.proves("runtime.fork.bounded")
@pytest.mark.anyio
async def test_the_turns_of_a_fork_are_bounded(tmp_path: Path) -> None:
    add_skill(tmp_path, "endless", front=FORK)
    turns = [calls(("skills_read", {"path": "SKILL.md"}))] * 20
    model = ScriptedModel([_fork("endless", "Go."), *turns, "It gave up."])
    result = await Agent(model, catalog=Catalog(tmp_path)).run("Go.")
    assert (result.text, error_code(result, 0)) == ("It gave up.", "limit_exceeded")
    assert len(model.requests) == 22


@pytest.mark.proves("runtime.fork.bounded")
@pytest.mark.anyio
async def test_forks_nest_five_deep_and_no_deeper(tmp_path: Path) -> None:
    for number in range(1, 7):
        add_skill(tmp_path, f"level-{number}", front=FORK)
    deepest: list[str] = []

    def refused(request: ModelRequest) -> str:
        deepest.append(json.loads(request.messages[-1].text)["error"])
        return "Too deep."

    down = [_fork(f"level-{number}", "Deeper.") for number in range(1, 7)]
    model = ScriptedModel([*down, refused, "Up.", "Up.", "Up.", "Up.", "Top."])
    assert (await Agent(model, catalog=Catalog(tmp_path)).run("Go.")).text == "Top."
    assert "nested activations: 6 is over the limit of 5" in deepest[0]


@pytest.mark.anyio
async def test_a_fork_of_itself_is_a_cycle(tmp_path: Path) -> None:
    add_skill(tmp_path, "mirror", front=FORK)
    told: list[str] = []

    def refused(request: ModelRequest) -> str:
        told.append(json.loads(request.messages[-1].text)["error"])
        return "Enough."

    model = ScriptedModel([_fork("mirror", "Go."), _fork("mirror", "Again."), refused, "Done."])
    assert (await Agent(model, catalog=Catalog(tmp_path)).run("Go.")).answered
    assert "mirror → mirror" in told[0]


@pytest.mark.proves("runtime.fork.agent")
@pytest.mark.anyio
async def test_the_agent_type_is_the_one_that_the_skill_names(tmp_path: Path) -> None:
    add_skill(tmp_path, "known", front=f"{FORK}agent: careful\n")
    add_skill(tmp_path, "unknown", front=f"{FORK}agent: nobody\n")
    careful = AgentType(name="careful", instructions="Think twice.", model="strong")
    strong = ScriptedModel(["Inside."], name="strong")
    model = ScriptedModel([_fork("unknown", "Go."), _fork("known", "Go."), "Done."])
    agent = Agent(model, catalog=Catalog(tmp_path), agent_types=[careful], models={"strong": strong})
    result = await agent.run("Go.")
    assert error_code(result, 0) == "fork_unavailable"
    assert "'nobody' is not registered; registered types: careful" in str(tool_messages(result)[0].result.error)
    assert value(result, 1)["output"] == "Inside."
    assert "Think twice." in strong.requests[0].instructions


@pytest.mark.proves("runtime.fork.model")
@pytest.mark.anyio
async def test_the_model_of_a_fork_is_the_one_that_the_skill_names_else_the_agents_own(tmp_path: Path) -> None:
    add_skill(tmp_path, "choosy", front=f"{FORK}model: small\n")
    add_skill(tmp_path, "content", front=FORK)
    add_skill(tmp_path, "lost", front=f"{FORK}model: absent\n")
    small = ScriptedModel(["Small."], name="small")
    own = ScriptedModel([_fork("choosy", "Go."), _fork("content", "Go."), "Own.", _fork("lost", "Go."), "Done."])
    result = await Agent(own, catalog=Catalog(tmp_path), models={"small": small}).run("Go.")
    assert [value(result, number)["output"] for number in (0, 1)] == ["Small.", "Own."]
    assert error_code(result, 2) == "fork_unavailable"
    assert "model 'absent' is not configured; configured models: small" in str(tool_messages(result)[2].result.error)


@pytest.mark.anyio
async def test_what_a_fork_uses_counts_for_the_call_and_for_the_run(tmp_path: Path) -> None:
    add_skill(tmp_path, "costly", front=FORK)
    inside = ScriptedTurn(text="Done.", usage=Usage(input_tokens=70, output_tokens=30, cost_usd=0.5))
    model = ScriptedModel([_fork("costly", "Go."), inside, "Done."])
    result = await Agent(model, catalog=Catalog(tmp_path)).run("Go.")
    told = tool_messages(result)[0].result
    assert (told.tokens_used, told.cost_usd) == (100, 0.5)
    assert (result.usage.tokens, result.usage.cost_usd) == (100, 0.5)


@pytest.mark.anyio
async def test_a_fork_without_an_answer_fails_with_the_reason(tmp_path: Path) -> None:
    add_skill(tmp_path, "silent", front=FORK)
    model = ScriptedModel([_fork("silent", "Go."), "", "Done."])
    result = await Agent(model, catalog=Catalog(tmp_path), budget=Budget(tokens=10**6)).run("Go.")
    assert error_code(result, 0) == "unavailable"
    assert "gave no answer: the model returned neither" in str(tool_messages(result)[0].result.error)


@pytest.mark.anyio
async def test_a_fork_is_offered_its_files_and_scripts_but_no_other_skills(tmp_path: Path) -> None:
    add_skill(tmp_path, "alone", front=FORK, run="echo hi\n")
    add_skill(tmp_path, "other")
    model = ScriptedModel([_fork("alone", "Go."), "Inside.", "Done."])
    await Agent(model, catalog=Catalog(tmp_path)).run("Go.")
    offered = {spec.name for spec in model.requests[1].tools}
    assert "skills.read" in offered
    assert offered.isdisjoint({"skills.load", "skills.unload"})


@pytest.mark.proves("runtime.fork.output")
@pytest.mark.anyio
async def test_the_audit_records_of_a_fork_stay_under_its_own_session(tmp_path: Path) -> None:
    add_skill(tmp_path / "skills", "digest", front=FORK)
    log = JsonlAuditLog(str(tmp_path / "audit.jsonl"), fsync="second")
    model = ScriptedModel([_fork("digest", "Go."), calls(("skills_read", {"path": "SKILL.md"})), "Inside.", "Done."])
    result = await Agent(model, catalog=Catalog(tmp_path / "skills"), audit=log).run("Go.")
    records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    child = value(result, 0)["child_session_id"]
    assert {record["session_id"] for record in records} == {result.session_id, child}
    reads = [record for record in records if record["data"].get("tool") == "skills.read"]
    assert [record["session_id"] for record in reads] == [child, child]


@pytest.mark.anyio
async def test_the_settings_of_an_agent_are_in_every_request_also_in_those_of_its_forks(tmp_path: Path) -> None:
    add_skill(tmp_path, "digest", front=FORK)
    model = ScriptedModel([_fork("digest", "Three short lines."), "In short: three lines.", "Told."])
    settings = ModelSettings(max_output_tokens=400, temperature=0.0, seed=3)
    await Agent(model, catalog=Catalog(tmp_path), settings=settings).run("Sum it up.")
    assert [request.settings for request in model.requests] == [settings] * 3
