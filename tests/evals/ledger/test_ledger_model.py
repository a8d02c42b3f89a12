"""Agents whose model is booked in a ledger: real runs, resumed and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.agent import (
    Agent,
    ModelError,
    ModelRequest,
    ModelSettings,
    Opaque,
    ScriptedModel,
    ScriptedTurn,
    TextDelta,
    Usage,
    UserMessage,
)
from prowess.catalog import Catalog
from prowess.evals.ledger import ledger_model
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JOURNAL, Journal, StartedCall
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.ledger_model import LedgerModel
from prowess.evals.ledger.prices import FREE, price_of
from prowess.evals.ledger.recorded_calls import RecordedCalls
from prowess.execution import default_sandbox
from tests.agent.making import add_skill, calls
from tests.evals.ledger.asking import DOLLAR, HEADER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prowess.agent import AgentResult, Part

EXAMPLES = Path(__file__).parents[3] / "examples" / "skills"
USED = Usage(input_tokens=100, output_tokens=10, cost_usd=0.0001)
ASKED = ModelRequest(instructions="", messages=(UserMessage(text="Go."),), tools=())


def _script() -> ScriptedModel:
    load = ScriptedTurn(text="I load it.", calls=(("skills_load", {"names": ["csv-report"]}),), usage=USED)
    run = {"path": "scripts/report.py", "args": ["march.csv", "--by", "region"]}
    work = ScriptedTurn(calls=(("skills_run_script", run), ("nonsense", {"value": "\ud800", "n": 1e400})), usage=USED)
    return ScriptedModel([load, work, ScriptedTurn(text="North 119.60.", usage=USED)])


async def _run(model: LedgerModel, workspace: Path) -> AgentResult:
    return await Agent(model, catalog=Catalog(EXAMPLES), workspace=workspace).run("What did each region earn?")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "march.csv").write_text("region,revenue\nNorth,119.60\n", encoding="utf-8")
    return tmp_path


@pytest.mark.anyio
async def test_a_run_with_a_script_is_replayed_whole_elsewhere_and_costs_nothing(workspace: Path) -> None:
    """Durations, session ids and the places of artifacts differ in what the model reads; nothing else does."""
    path = workspace / JOURNAL
    with Ledger(path, HEADER, Caps()) as ledger:
        live = await _run(LedgerModel(_script(), ledger, "one", price=FREE), workspace / "first")
        assert ledger.spent.calls == 3
    with Ledger(path, HEADER, Caps()) as ledger:
        silent = ScriptedModel([])
        resumed = await _run(LedgerModel(silent, ledger, "one", price=FREE), workspace / "second")
        assert (ledger.spent.calls, silent.requests) == (3, [])
        assert ledger.unit_spent("one").replayed_calls == 3
        assert ["Run `scripts/report.py FILE`" in str(form) for form in ledger.recorded_forms("one")] == [
            False,
            True,
            True,
        ]
    with RecordedCalls(path) as replay:
        replayed = await _run(LedgerModel(None, replay, "one", name="scripted"), workspace / "second")
        assert (replay.unit_spent("one").replayed_calls, replay.spent.calls) == (3, 0)
    for again in (resumed, replayed):
        assert (again.text, again.ended, again.usage) == (live.text, "answered", live.usage)
        assert [type(message) for message in again.transcript] == [type(message) for message in live.transcript]


@pytest.mark.anyio
async def test_a_replay_names_the_difference_of_a_request_that_was_not_recorded(tmp_path: Path) -> None:
    add_skill(tmp_path / "skills", "csv-report", body="Sum up.\n")

    async def run(model: LedgerModel) -> AgentResult:
        return await Agent(model, catalog=Catalog(tmp_path / "skills"), skills=["csv-report"]).run("Go.")

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await run(LedgerModel(ScriptedModel(["Done."]), ledger, "one"))
    (tmp_path / "skills/csv-report/SKILL.md").write_text(
        "---\nname: csv-report\ndescription: Does csv-report.\n---\nSum up\x1b[2J twice.\n", encoding="utf-8"
    )
    with RecordedCalls(tmp_path / JOURNAL) as replay:
        result = await run(LedgerModel(None, replay, "one", name="scripted"))
    drift = result.reason
    assert result.ended == "session_failed"
    assert "request 1 of one is not the recorded one" in str(drift)
    assert "-Sum up." in str(drift)
    assert "twice." in str(drift)
    assert "\x1b" not in str(drift)


@pytest.mark.anyio
async def test_a_fork_that_meets_a_cap_ends_the_unit_though_the_parent_would_go_on(tmp_path: Path) -> None:
    add_skill(tmp_path / "skills", "digest", front="context: fork\n")
    model = ScriptedModel([calls(("skill", {"skill": "digest", "args": "x"})), "In short.", "Told."])
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(calls=1)) as ledger:
        result = await Agent(LedgerModel(model, ledger, "one"), catalog=Catalog(tmp_path / "skills")).run("Go.")
        assert (len(model.requests), ledger.spent.calls) == (1, 1)
    assert not result.answered


class _Flaky:
    """A model that fails with these statuses before it answers, with data of its own in the answer."""

    name = "flaky"

    def __init__(self, *statuses: int | None) -> None:
        self._left = list(statuses)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        self.requests.append(request)
        if self._left:
            raise ModelError(self.name, "busy", self._left.pop(0))
        yield TextDelta(text="Done.")
        yield Opaque(value={"signature": "s" * 5000})
        yield Usage(input_tokens=5, output_tokens=2)


@pytest.mark.anyio
async def test_a_busy_provider_is_asked_again_and_each_time_is_a_call_of_its_own(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        model = _Flaky(429, 503)
        paid = LedgerModel(model, ledger, "one", price=DOLLAR, pause_seconds=0.001)
        parts = [part async for part in paid.stream(ASKED)]
        assert parts[0] == TextDelta(text="Done.")
        assert (ledger.spent.calls, len(model.requests)) == (3, 3)
        assert 0 < ledger.spent.in_doubt_usd < 0.01  # the 503, but not the 429
        settings = model.requests[0].settings
        assert (settings.max_output_tokens, settings.client_retries) == (4096, 0)
        ledger.begin("one")
        again = [part async for part in paid.stream(ASKED)]
        assert (again, len(model.requests)) == (parts, 3)
        warmer = replace(ASKED, settings=ModelSettings(temperature=0.5))  # another request
        assert (len([part async for part in paid.stream(warmer)]), len(model.requests)) == (3, 4)
        for statuses in ((401,), (None,), (503, 503, 503)):
            refused = LedgerModel(_Flaky(*statuses), ledger, "two", price=DOLLAR, pause_seconds=0.001)
            with pytest.raises(ModelError, match="busy"):
                [part async for part in refused.stream(ASKED)]
        assert ledger.spent.calls == 3 + 1 + 1 + 1 + 3


@pytest.mark.anyio
async def test_data_that_a_model_needs_back_is_part_of_the_bound_of_the_next_request(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(tokens=100_000)) as ledger:
        agent = Agent(LedgerModel(_Flaky(), ledger, "one"), catalog=Catalog(EXAMPLES), settings=ModelSettings(seed=1))
        first = await agent.run("Go.")
        longer = Agent(LedgerModel(_Flaky(), ledger, "two"), catalog=Catalog(EXAMPLES), history=first.transcript)
        await longer.run("Go on.")
    with Journal(str(tmp_path / JOURNAL), writable=False) as journal:
        journal.header()
        bounds = [line.reserved.input_tokens for line, _ in journal.added() if isinstance(line, StartedCall)]
    assert bounds[1] - bounds[0] > 5000


def test_models_of_this_process_are_free_and_unknown_ones_have_no_price() -> None:
    assert price_of(ScriptedModel([])) == FREE
    assert price_of(_Flaky()) is None


@pytest.mark.parametrize("content", ["{}", "[1]", '[{"unknown": 1}]', '[{"call": {"id": 1}}]', "[" * 5000, "x"])
@pytest.mark.anyio
async def test_an_answer_that_was_changed_in_the_journal_is_a_failure_of_the_model(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / JOURNAL
    with Ledger(path, HEADER, Caps()) as ledger:
        await Agent(LedgerModel(ScriptedModel(["Done."]), ledger, "one"), catalog=Catalog(EXAMPLES)).run("Go.")
    text = path.read_text(encoding="utf-8")
    begin = text.index('"text":"[')
    end = text.index('","data"')
    escaped = content.replace('"', '\\"')
    path.write_text(f'{text[:begin]}"text":"{escaped}{text[end:]}', encoding="utf-8")
    with RecordedCalls(path) as replay:
        model = LedgerModel(None, replay, "one", name="scripted")
        result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    assert (result.ended, "a kept answer cannot be read" in str(result.reason)) == ("model_failed", True)


@pytest.mark.anyio
async def test_an_answer_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless:
        name = "endless"

        async def stream(self, _: ModelRequest) -> AsyncIterator[Part]:
            while True:
                yield TextDelta(text="x" * 1000)

    monkeypatch.setattr(ledger_model, "_MOST_ANSWER_BYTES", 1 << 20)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        model = LedgerModel(Endless(), ledger, "unit", price=DOLLAR)
        with pytest.raises(ModelError, match="more than 1 MiB"):
            _ = [part async for part in model.stream(ASKED)]
        assert ledger.spent.in_doubt_usd > 0
