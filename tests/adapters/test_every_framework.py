"""What holds in every framework: real agents and clients, a provider on this machine, and the requests it got."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.audit.log import JsonlAuditLog
from prowess.errors import SessionNotFoundError
from prowess.policy.approval import Approval, ApprovalRequest, Refusal
from prowess.tools.gates import CallbackApprover
from tests.adapters import scenario
from tests.adapters.hosts import HOSTS, Run
from tests.adapters.provider import call_id, provider

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters.provider import Call, Turn

pytestmark = pytest.mark.anyio
everywhere = pytest.mark.parametrize("run", [pytest.param(run, id=name) for name, run in HOSTS.items()])
# What does not depend on the protocol is seen over one of the two that an SDK speaks.
in_every_framework = pytest.mark.parametrize(
    "run", [pytest.param(run, id=name) for name, run in HOSTS.items() if name != "openai-agents, chat"]
)
LOAD: Call = ("skills_load", {"names": ["tally"]})


@everywhere
@pytest.mark.proves("runtime.tools.names.export", "runtime.unload.prompt")
async def test_a_run_loads_reads_runs_and_is_told_what_it_may_not(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)
    with provider(*scenario.TURNS) as running:
        answer = await run(running.url, scene.session)
    assert answer == "42 rows."
    scenario.check(running.asked, scene)


@in_every_framework
async def test_calls_of_one_turn_run_in_its_order_so_the_first_restricts_the_second(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)
    read = ("skills_read", {"path": "references/format.md"})
    with provider([LOAD, ("publish", {"text": "42"}), read, read], "Done.") as running:
        await run(running.url, scene.session)
    results = running.asked[-1].results
    assert "not allowed by active skill 'tally'" in results[call_id(0, 1)]
    assert all("One line, one number." in results[call_id(0, index)] for index in (2, 3))
    assert scene.published == []


@in_every_framework
async def test_a_tool_of_the_frameworks_own_is_held_to_the_restriction_of_active_skills(
    tmp_path: Path, run: Run
) -> None:
    wiped: list[str] = []

    def wipe(path: str) -> str:
        """Remove a file."""
        wiped.append(path)
        return "wiped"

    scene = scenario.scene(tmp_path)
    turns: tuple[Turn, ...] = [("wipe", {"path": "a"})], [LOAD], [("wipe", {"path": "b"})], "Done."
    with provider(*turns) as running:
        await run(running.url, scene.session, own=wipe)
    results = running.asked[-1].results
    assert "wiped" in results[call_id(0, 0)]
    assert "Tool 'wipe' not allowed by active skill 'tally'" in results[call_id(2, 0)]
    assert wiped == ["a"]


@in_every_framework
async def test_what_changes_on_disk_is_in_the_next_call_of_the_model(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)

    @scene.session.function
    def write() -> str:
        """Write a skill."""
        skill = tmp_path / "skills" / "later"
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: later\ndescription: New.\n---\nNow.\n", encoding="utf-8")
        return "written"

    with provider([("write", {})], "Done.") as running:
        await run(running.url, scene.session)
    assert ["<name>later</name>" in request.instructions for request in running.asked] == [False, True]


@in_every_framework
async def test_one_tool_for_all_skills_brings_its_companions_when_it_is_used(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)
    with provider([("skill", {"skill": "tally"})], "Done.") as running:
        await run(running.url, scene.session, exposure="skill")
    first, second = running.asked
    assert "tally" in first.descriptions["skill"]
    assert "<name>tally</name>" not in first.instructions
    assert sorted(first.tools) == ["publish", "skill"]
    assert {"skill", "skills_read", "skills_unload", "publish"} <= set(second.tools)
    assert scenario.BODY in second.results[call_id(0, 0)]


@in_every_framework
async def test_a_person_is_asked_once_a_call_and_a_no_is_a_result(tmp_path: Path, run: Run) -> None:
    asked: list[str] = []

    def ask(request: ApprovalRequest) -> Approval | Refusal:
        asked.append(str(request.arguments["text"]))
        return Approval() if len(asked) == 1 else Refusal()

    scene = scenario.scene(tmp_path, approver=CallbackApprover(ask))
    shouted: list[str] = []

    @scene.session.function(needs_approval="everybody will hear it")
    def shout(text: str) -> str:
        """Say it loudly."""
        shouted.append(text)
        return "heard"

    with provider([("shout", {"text": "one"}), ("shout", {"text": "two"})], "Done.") as running:
        await run(running.url, scene.session)
    assert (asked, shouted) == (["one", "two"], ["one"])
    results = running.asked[-1].results
    assert "heard" in results[call_id(0, 0)]
    assert "heard" not in results[call_id(0, 1)]


@in_every_framework
async def test_cancelling_a_run_cancels_its_call_and_leaves_the_session_usable(tmp_path: Path, run: Run) -> None:
    log = JsonlAuditLog(tmp_path / "audit" / "audit.jsonl")
    scene = scenario.scene(tmp_path, audit=log)
    begun = anyio.Event()
    ended: list[str] = []

    @scene.session.function
    async def wait() -> str:
        """Wait."""
        begun.set()
        try:
            await anyio.sleep(20)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "never"

    with provider([("wait", {}), LOAD], "Done.") as running:
        task = asyncio.create_task(run(running.url, scene.session))
        with anyio.fail_after(20):
            await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError), anyio.fail_after(5):
            await task
    assert ended == ["cancelled"]
    with anyio.fail_after(20):  # some frameworks cancel a call without waiting for its end
        while '"outcome":"cancelled"' not in (tmp_path / "audit" / "audit.jsonl").read_text(encoding="utf-8"):  # noqa: ASYNC110 - the file has no event
            await anyio.sleep(0.01)
    with anyio.fail_after(5):
        await scene.session.load(["tally"])


@in_every_framework
async def test_two_agents_with_a_session_each_do_not_feel_each_other(tmp_path: Path, run: Run) -> None:
    restricted, free = scenario.scene(tmp_path / "one"), scenario.scene(tmp_path / "two")
    publish = ("publish", {"text": "42"})
    with provider([LOAD], [publish], "Done.") as one, provider([publish], [publish], "Done.") as two:
        await asyncio.gather(run(one.url, restricted.session), run(two.url, free.session))
    assert (restricted.published, free.published) == ([], ["42", "42"])
    assert scenario.BODY in one.asked[-1].instructions
    assert all(scenario.BODY not in request.instructions for request in two.asked)


@in_every_framework
async def test_arguments_that_fit_no_schema_are_answered_by_the_door(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)
    strange = {"self": 1, "config": {}, "run_manager": 1, "names": "tally"}
    with provider([("skills_load", strange), ("publish", {})], "Done.") as running:
        await run(running.url, scene.session)
    results = running.asked[-1].results
    assert "Unknown parameter" in results[call_id(0, 0)]
    assert "Missing required parameter: text" in results[call_id(0, 1)]


@in_every_framework
async def test_a_turn_of_nothing_but_malformed_or_unknown_calls_is_answered(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)
    with provider([("skills_load", '{"names": [')], [("skills_lode", {})], [LOAD], "Done.") as running:
        assert await run(running.url, scene.session) == "Done."
    results = running.asked[-1].results
    assert "Arguments are not valid JSON" in results[call_id(0, 0)]
    assert results[call_id(1, 0)]
    assert scenario.BODY in running.asked[-1].instructions


@in_every_framework
async def test_a_session_that_is_gone_ends_the_run_before_the_model_is_asked(tmp_path: Path, run: Run) -> None:
    scene = scenario.scene(tmp_path)
    await scene.session.load(["tally"])
    await scene.session.close()
    with provider("Done.") as running, pytest.raises(SessionNotFoundError):
        await run(running.url, scene.session)
    assert running.asked == []


@in_every_framework
@pytest.mark.parametrize("exposure", ["tools", "skill"])
@pytest.mark.proves("catalog.list.query")
async def test_a_list_that_leaves_skills_out_comes_with_the_search(tmp_path: Path, run: Run, exposure: str) -> None:
    scene = scenario.scene(tmp_path)
    for number in range(200):
        skill = tmp_path / "skills" / f"other-{number:03}"
        skill.mkdir()
        text = "Does something else that nobody asked for."
        (skill / "SKILL.md").write_text(f"---\nname: {skill.name}\ndescription: {text}\n---\nNo.\n", encoding="utf-8")
    with provider([("skills_list", {"query": "how many rows"})], "Done.") as running:
        await run(running.url, scene.session, exposure=exposure, budget=200, task="how many rows")
    first, second = running.asked
    listed = first.descriptions["skill"] if exposure == "skill" else first.instructions
    assert "skills_list" in first.tools
    assert re.search(r"and \d+ more; skills.list with a query", listed)
    assert "tally" in listed
    assert "other-199" not in listed
    assert '"tally"' in second.results[call_id(0, 0)]
