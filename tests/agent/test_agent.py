"""Runs of an agent from task to answer: real sessions, real example skills, the real sandbox, a scripted model."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import pytest

from prowess.agent import (
    Agent,
    AssistantMessage,
    Budget,
    ModelError,
    Said,
    ScriptedModel,
    ScriptedTurn,
    SkillActivated,
    TextDelta,
    ToolUse,
    Usage,
    UserMessage,
)
from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError
from prowess.execution import default_sandbox
from prowess.tools.functions.function_tool import FunctionTool
from tests.agent.making import add_skill, calls, error_code, kinds, tool_messages, value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prowess.agent import AgentStep, ModelRequest, Part

EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"


def _sandboxed() -> None:
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)


def _body_is_shown(request: ModelRequest) -> bool:
    return "<active_skills>" in request.instructions and "Run `scripts/report.py FILE`" in request.instructions


@pytest.mark.proves(
    "runtime.prompt.flow",
    "runtime.activate.automatic",
    "runtime.activate.model-decides",
    "governance.persona.unaware",
)
@pytest.mark.anyio
async def test_a_task_that_fits_a_skill_is_done_with_it_though_the_user_names_none(tmp_path: Path) -> None:
    _sandboxed()
    (tmp_path / "march.csv").write_text("region,revenue\nNorth,119.60\nSouth,59.80\n", encoding="utf-8")
    shown: list[bool] = []

    def choose(request: ModelRequest) -> ScriptedTurn:
        assert "<name>csv-report</name>" in request.instructions
        shown.append(_body_is_shown(request))
        return calls(("skills_load", {"names": ["csv-report"]}), text="This is a job for csv-report.")

    def work(request: ModelRequest) -> ScriptedTurn:
        shown.append(_body_is_shown(request))
        arguments: dict[str, object] = {"path": "scripts/report.py", "args": ["march.csv", "--by", "region"]}
        return calls(("skills_read", {"path": "references/NUMBERS.md"}), ("skills_run_script", arguments))

    model = ScriptedModel([choose, work, "North 119.60, South 59.80."])
    agent = Agent(model, catalog=Catalog(EXAMPLES), workspace=tmp_path)
    result = await agent.run("What did each region earn in march.csv?")
    assert result.text == "North 119.60, South 59.80."
    assert (result.ended, result.reason, result.turns) == ("answered", None, 3)
    assert result.skills_used == ("csv-report",)
    # The body comes with the next call, and not before the model chose it.
    assert shown == [False, True]
    assert value(result, 1)["text"].startswith("#")
    assert "| North" in value(result, 2)["stdout"]


@pytest.mark.proves("runtime.activate.no-match")
@pytest.mark.anyio
async def test_without_a_fitting_skill_the_agent_answers_as_any_other() -> None:
    model = ScriptedModel(["Four."])
    result = await Agent(model, catalog=Catalog(EXAMPLES)).run("What is two and two?")
    assert (result.text, result.skills_used, result.turns) == ("Four.", (), 1)
    assert "if none fits, work without one." in model.requests[0].instructions


@pytest.mark.anyio
async def test_without_any_skill_the_agent_works_too(tmp_path: Path) -> None:
    model = ScriptedModel(["Four."])
    result = await Agent(model, catalog=Catalog(tmp_path)).run("What is two and two?")
    assert result.answered
    assert model.requests[0].tools == ()


@pytest.mark.anyio
async def test_the_history_only_grows_and_the_instructions_change() -> None:
    model = ScriptedModel(
        [
            calls(("skills_load", {"names": ["csv-report"]})),
            calls(("skills.load", {"names": ["log-triage"]})),
            "Done.",
        ]
    )
    await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    first, second, third = model.requests
    assert second.messages[: len(first.messages)] == first.messages == (UserMessage(text="Go."),)
    assert third.messages[: len(second.messages)] == second.messages
    assert '<skill name="csv-report">' in second.instructions
    assert '<skill name="csv-report">' not in third.instructions
    assert '<skill name="log-triage">' in third.instructions


@pytest.mark.proves("runtime.events.step", "runtime.events.stream-continues")
@pytest.mark.anyio
async def test_an_activation_is_a_step_of_its_own_after_the_text_that_came_before() -> None:
    model = ScriptedModel(
        [
            calls(("skills_load", {"names": ["csv-report"]}), text="First a piece of text."),
            calls(("skills_unload", {"all": True})),
            "Done.",
        ]
    )
    steps: list[AgentStep] = []
    async with Agent(model, catalog=Catalog(EXAMPLES)).stream("Go.") as stream:
        steps.extend([step async for step in stream])
    assert kinds(steps) == [
        *("TurnStarted", "Said", "CallStarted", "SkillActivating", "CallFinished", "SkillActivated"),
        *("TurnStarted", "CallStarted", "CallFinished", "SkillDeactivated"),
        *("TurnStarted", "Said", "Ended"),
    ]
    assert [step for step in steps if isinstance(step, SkillActivated)] == [
        SkillActivated(skill="csv-report", allowed_tools=("Read", "Glob"))
    ]
    assert "".join(step.text for step in steps if isinstance(step, Said)) == "First a piece of text.Done."
    assert isinstance(model.requests[2].messages[1], AssistantMessage)
    assert model.requests[2].messages[1].text == "First a piece of text."


@pytest.mark.proves("runtime.function.hybrid")
@pytest.mark.anyio
async def test_a_skill_can_lead_to_a_function_whose_value_is_used(tmp_path: Path) -> None:
    def analyze(path: str) -> dict[str, int]:
        """Count the lines of a file."""
        return {"lines": len(path)}

    add_skill(tmp_path, "review", body="Call analyze with the path, then answer with the number of lines.\n")

    def use(request: ModelRequest) -> ScriptedTurn:
        assert "Call analyze with the path" in request.instructions
        assert "analyze" in [spec.name for spec in request.tools]
        return calls(("analyze", {"path": "abc"}))

    def answer(request: ModelRequest) -> str:
        lines = json.loads(request.messages[-1].text)["result"]["lines"]
        return f"It has {lines} lines."

    model = ScriptedModel([calls(("skills_load", {"names": ["review"]})), use, answer])
    agent = Agent(model, catalog=Catalog(tmp_path), extra_tools=[FunctionTool(analyze)])
    assert (await agent.run("Review abc.")).text == "It has 3 lines."


@pytest.mark.anyio
async def test_a_failed_call_is_told_to_the_model_which_goes_on() -> None:
    model = ScriptedModel([calls(("skills_load", {"names": ["csv-raport"]})), "There is none."])
    result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    told = json.loads(tool_messages(result)[0].text)
    assert (told["success"], result.text) == (False, "There is none.")
    assert "csv-report" in told["error"]
    assert list(told) == [
        *("success", "result", "error", "duration_ms", "tokens_used", "cost_usd", "cached", "retry_count")
    ]


class _Unreadable:
    name = "unreadable"

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        if len(request.messages) > 1:
            yield TextDelta(text="Sorry.")
        else:
            yield ToolUse(id="1", name="skills_load", arguments={}, unreadable="Arguments are not JSON: it broke off")


@pytest.mark.anyio
async def test_arguments_that_cannot_be_read_are_a_failed_call() -> None:
    result = await Agent(_Unreadable(), catalog=Catalog(EXAMPLES)).run("Go.")
    assert error_code(result, 0) == "invalid_arguments"
    assert (result.text, result.usage.cost_usd) == ("Sorry.", None)


@pytest.mark.anyio
async def test_the_turns_are_bounded() -> None:
    model = ScriptedModel([calls(("skills_load", {"names": ["csv-report"]}))] * 9)
    result = await Agent(model, catalog=Catalog(EXAMPLES), max_turns=3).run("Go.")
    assert (result.ended, result.turns, result.answered) == ("turn_limit", 3, False)
    assert result.reason == "all 3 turns are used, without an answer"


@pytest.mark.anyio
async def test_the_same_failure_three_times_ends_the_run() -> None:
    model = ScriptedModel([calls(("skills_load", {"names": ["nothing"]}))] * 9)
    result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    assert (result.ended, result.turns) == ("repeated_failure", 3)
    assert "skills_load failed 3 times in a row" in str(result.reason)


@pytest.mark.anyio
async def test_ten_failures_of_any_kind_in_a_row_end_the_run() -> None:
    model = ScriptedModel([calls((f"no_such_tool_{number}", {})) for number in range(12)])
    result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    assert (result.ended, result.turns) == ("repeated_failure", 10)


@pytest.mark.anyio
async def test_a_success_in_between_forgives_the_failures() -> None:
    fails, works = calls(("skills_load", {"names": ["nothing"]})), calls(("skills_load", {"names": ["csv-report"]}))
    model = ScriptedModel([fails, fails, works, fails, fails, "Done."])
    assert (await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")).answered


@pytest.mark.anyio
async def test_an_empty_answer_is_said_to_be_one() -> None:
    result = await Agent(ScriptedModel([" "]), catalog=Catalog(EXAMPLES)).run("Go.")
    assert (result.ended, result.reason) == ("empty_answer", "the model returned neither a text nor a call")


def _spending(usage: Usage) -> ScriptedModel:
    turn = ScriptedTurn(calls=(("skills_load", {"names": ["csv-report"]}),), usage=usage)
    return ScriptedModel([turn] * 9)


@pytest.mark.parametrize(
    ("budget", "usage", "ended", "turns", "reason"),
    [
        (
            Budget(tokens=250),
            Usage(input_tokens=90, output_tokens=10),
            "token_budget",
            3,
            "300 of 250 tokens are used",
        ),
        (Budget(cost_usd=0.5), Usage(cost_usd=0.25), "cost_budget", 2, "0.5000 of 0.5000 US dollars are spent"),
        (Budget(cost_usd=0.0), Usage(cost_usd=0.01), "cost_budget", 1, "0.0100 of 0.0000 US dollars are spent"),
        (Budget(cost_usd=0.5), Usage(input_tokens=1), "cost_budget", 1, "does not report its cost"),
    ],
)
@pytest.mark.anyio
async def test_a_budget_ends_the_run(budget: Budget, usage: Usage, ended: str, turns: int, reason: str) -> None:
    result = await Agent(_spending(usage), catalog=Catalog(EXAMPLES), budget=budget).run("Go.")
    assert (result.ended, result.turns) == (ended, turns)
    assert reason in str(result.reason)
    assert result.usage.input_tokens == usage.input_tokens * turns


class _Sleeping:
    name = "sleeping"

    def __init__(self) -> None:
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        try:
            yield TextDelta(text="Let me think")
            await anyio.sleep(30)
        finally:
            self.closed = True


@pytest.mark.anyio
async def test_the_time_budget_ends_a_model_call_that_is_going_on() -> None:
    model = _Sleeping()
    agent = Agent(model, catalog=Catalog(EXAMPLES), budget=Budget(wall_seconds=0.1))
    result = await agent.run("Go.")
    assert (result.ended, result.reason) == ("time_budget", "the time limit of 0.1 seconds is reached")
    assert model.closed


@pytest.mark.anyio
async def test_a_run_without_any_time_asks_nobody() -> None:
    model = ScriptedModel(["Done."])
    result = await Agent(model, catalog=Catalog(EXAMPLES), budget=Budget(wall_seconds=0)).run("Go.")
    assert (result.ended, model.requests) == ("time_budget", [])


@pytest.mark.anyio
async def test_a_model_that_fails_ends_the_run_with_its_reason() -> None:
    result = await Agent(ScriptedModel([]), catalog=Catalog(EXAMPLES)).run("Go.")
    assert result.ended == "model_failed"
    assert result.reason == str(ModelError("scripted", "its script has only 0 turns"))
    assert result.as_dict()["text"] == ""


@pytest.mark.anyio
async def test_leaving_a_stream_early_cancels_the_run_and_closes_the_session(tmp_path: Path) -> None:
    model = _Sleeping()
    async with Agent(model, catalog=Catalog(EXAMPLES)).stream("Go.") as steps:
        async for step in steps:
            if isinstance(step, Said):
                break
    assert model.closed


@pytest.mark.anyio
async def test_a_fault_of_the_listener_arrives_as_it_is() -> None:
    async def listen() -> None:
        async with Agent(_Sleeping(), catalog=Catalog(EXAMPLES)).stream("Go."):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await listen()


@pytest.mark.anyio
async def test_a_fault_of_a_stream_arrives_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    with pytest.raises(InvalidArgumentsError, match="a transcript needs a new file"):
        async with Agent(ScriptedModel(["Done."]), catalog=Catalog(EXAMPLES)).stream(
            "Go.", transcript=tmp_path / "there"
        ) as steps:
            assert [step async for step in steps] == []


@pytest.mark.anyio
async def test_cancelling_a_run_ends_its_session() -> None:
    log_seen: list[str] = []
    model = _Sleeping()
    agent = Agent(model, catalog=Catalog(EXAMPLES), on_event=lambda step: log_seen.append(type(step).__name__))
    with anyio.move_on_after(0.1) as scope:
        await agent.run("Go.")
    assert scope.cancelled_caught
    assert model.closed
    assert "Ended" not in log_seen


@pytest.mark.anyio
async def test_an_async_listener_is_awaited() -> None:
    seen: list[str] = []

    async def listen(step: AgentStep) -> None:
        await anyio.lowlevel.checkpoint()
        seen.append(type(step).__name__)

    await Agent(ScriptedModel(["Done."]), catalog=Catalog(EXAMPLES), on_event=listen).run("Go.")
    assert seen == ["TurnStarted", "Said", "Ended"]


def test_a_program_without_an_event_loop_runs_a_task_too() -> None:
    assert Agent(ScriptedModel(["Done."]), catalog=Catalog(EXAMPLES)).run_sync("Go.").text == "Done."


@pytest.mark.anyio
async def test_the_transcript_holds_every_message_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    model = ScriptedModel([calls(("skills_load", {"names": ["csv-report"]}), text="I load it."), "Done."])
    await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.", transcript=path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["role"] for line in lines] == ["user", "assistant", "tool", "assistant", "end"]
    assert lines[1]["calls"] == [{"id": "call-1-1", "name": "skills_load", "arguments": {"names": ["csv-report"]}}]
    assert lines[2]["result"]["active_skills"][0]["name"] == "csv-report"
    assert (lines[4]["ended"], lines[4]["turns"]) == ("answered", 2)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.parametrize(("path", "why"), [(".", "exists"), ("no/such/place", "No such file or directory")])
@pytest.mark.anyio
async def test_a_transcript_that_cannot_be_made_stops_the_run_before_it_begins(
    path: str, why: str, tmp_path: Path
) -> None:
    model = ScriptedModel(["Done."])
    with pytest.raises(InvalidArgumentsError, match=why):
        await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.", transcript=tmp_path / path)
    assert model.requests == []


@pytest.mark.anyio
async def test_every_call_of_a_run_is_recorded_under_its_session(tmp_path: Path) -> None:
    log = JsonlAuditLog(str(tmp_path / "audit.jsonl"), fsync="second")
    model = ScriptedModel([calls(("skills_load", {"names": ["csv-report"]})), "Done."])
    result = await Agent(model, catalog=Catalog(EXAMPLES), audit=log).run("Go.")
    records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {record["session_id"] for record in records} == {result.session_id}
    assert [record["kind"] for record in records][:1] == ["tool.started"]


@pytest.mark.anyio
async def test_a_skill_is_followed_with_the_model_that_it_prefers_where_that_is_configured(tmp_path: Path) -> None:
    add_skill(tmp_path, "hard", front="model: strong\n")
    add_skill(tmp_path, "odd", front="model: unknown\n")
    strong = ScriptedModel([calls(("skills_load", {"names": ["odd"], "mode": "replace"}))], name="strong")
    usual = ScriptedModel([calls(("skills_load", {"names": ["hard"]})), "Done."])
    result = await Agent(usual, catalog=Catalog(tmp_path), models={"strong": strong}).run("Go.")
    assert (result.text, len(usual.requests), len(strong.requests)) == ("Done.", 2, 1)


@pytest.mark.anyio
async def test_two_runs_of_one_agent_share_nothing() -> None:
    model = ScriptedModel([calls(("skills_load", {"names": ["csv-report"]})), "One.", "Two."])
    agent = Agent(model, catalog=Catalog(EXAMPLES))
    first, second = await agent.run("One."), await agent.run("Two.")
    assert (first.skills_used, second.skills_used) == (("csv-report",), ())
    assert model.requests[2].messages == (UserMessage(text="Two."),)
    assert first.session_id != second.session_id


@pytest.mark.proves("governance.beyond.chaining")
@pytest.mark.anyio
async def test_a_skill_can_lead_to_the_next_and_the_steps_show_the_order(tmp_path: Path) -> None:
    add_skill(tmp_path, "first", body="Then start second.\n")
    add_skill(tmp_path, "second", body="Then start third.\n")
    add_skill(tmp_path, "third", body="That is all.\n")
    order: list[str] = []

    def follow(request: ModelRequest) -> ScriptedTurn:
        content = json.loads(request.messages[-1].text)["result"]["content"]
        return calls(("skill", {"skill": content.split("start ")[1].split(".")[0]}))

    def back(request: ModelRequest) -> ScriptedTurn:
        assert "That is all." in request.messages[-1].text
        return calls(("skill", {"skill": "first"}))

    model = ScriptedModel([calls(("skill", {"skill": "first"})), follow, follow, back, "Done."])
    agent = Agent(
        model,
        catalog=Catalog(tmp_path),
        exposure="skill",
        on_event=lambda step: order.append(step.skill) if isinstance(step, SkillActivated) else None,
    )
    result = await agent.run("Go.")
    assert (order, result.skills_used) == (["first", "second", "third"], ("first", "second", "third"))
    assert error_code(result, 3) == "activation_cycle"


@pytest.mark.anyio
async def test_tools_that_can_be_listed_once_serve_every_run(tmp_path: Path) -> None:
    def ping() -> str:
        """Answer."""
        return "pong"

    model = ScriptedModel([calls(("ping", {})), "One.", calls(("ping", {})), "Two."])
    agent = Agent(model, catalog=Catalog(tmp_path), extra_tools=iter([FunctionTool(ping)]))
    assert [value(await agent.run("Go."), 0), value(await agent.run("Go."), 0)] == [{"result": "pong"}] * 2


def test_an_agent_takes_at_least_one_turn() -> None:
    with pytest.raises(InvalidArgumentsError, match="the task is blank"):
        Agent(ScriptedModel([]), catalog=Catalog(EXAMPLES)).run_sync(" ")
    with pytest.raises(InvalidArgumentsError, match="max_turns must be at least 1"):
        Agent(ScriptedModel([]), catalog=Catalog(EXAMPLES), max_turns=0)


@pytest.mark.anyio
async def test_a_session_that_is_gone_ends_the_run() -> None:
    class Late:
        name = "late"

        async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
            clock[0] += 100_000
            yield ToolUse(id="1", name="skills_load", arguments={"names": ["csv-report"]})

    clock = [1.0]
    result = await Agent(Late(), catalog=Catalog(EXAMPLES), clock=lambda: clock[0]).run("Go.")
    assert result.ended == "session_failed"
    assert "expired" in str(result.reason)


@pytest.mark.proves("catalog.list.query")
@pytest.mark.parametrize("exposure", ["tools", "skill"])
@pytest.mark.anyio
async def test_a_list_that_leaves_skills_out_shows_those_that_fit_the_task_and_offers_the_search(
    tmp_path: Path, exposure: Literal["tools", "skill"]
) -> None:
    for number in range(700):
        add_skill(tmp_path, f"another-skill-number-{number:03}")
    for name in ("tide-table", "whale-song"):
        add_skill(tmp_path, name)
    model = ScriptedModel([calls(("skills_list", {"query": "whale"})), "Done."])
    agent = Agent(model, catalog=Catalog(tmp_path), exposure=exposure)
    result = await agent.run("Print the table of the tide.")
    request = model.requests[0]
    specs = {spec.wire_name: spec for spec in request.tools}
    listed = specs["skill"].description if exposure == "skill" else request.instructions
    assert ("tide-table" in listed, "whale-song" in listed) == (True, False)
    assert "skills_list" in specs
    assert [skill["name"] for skill in value(result, 0)["skills"]] == ["whale-song"]
