"""Skills through the Messages API with Anthropic's own client: a loop of one's own, streamed too, and our agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess import Catalog, SyncSession
from prowess.agent import Agent
from prowess.tools.shapes.anthropic import read_call, results_message
from tests.adapters.messages_provider import Turn, messages_provider

if TYPE_CHECKING:
    from collections.abc import Callable

anthropic = pytest.importorskip(
    "anthropic", reason="the extra `providers` is not installed; `tools/peers.sh anthropic` installs it and runs this"
)
pytestmark = pytest.mark.filterwarnings("ignore")  # importing the library warns of things that are not ours
EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"
MODEL = "claude-sonnet-4-5"
TURNS: tuple[Turn, ...] = (
    [("skills_load", {"names": ["csv-report"]})],
    [("skills_read", {"path": "references/NUMBERS.md"}), ("skills_read", {"path": "../log-triage/SKILL.md"})],
    "Done.",
)


def _whole(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401 -- the library is not always installed
    return client.messages.create(**request)


def _streamed(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401 -- as above
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("ask", [_whole, _streamed])
def test_a_loop_over_the_messages_api_loads_reads_and_is_told_what_went_wrong(ask: Callable[..., Any]) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Sum up march.csv"}]
    with messages_provider(*TURNS) as running, SyncSession(Catalog(EXAMPLES)) as session:
        client = anthropic.Anthropic(base_url=running.url, api_key="none", max_retries=0)
        while True:
            request = {
                "model": MODEL,
                "max_tokens": 1000,
                "system": session.instructions(),
                "messages": messages,
                "tools": session.tools("anthropic"),
            }
            answer = ask(client, request)
            messages.append({"role": "assistant", "content": answer.content})
            if answer.stop_reason != "tool_use":
                break
            calls = [read_call(block, session.tools()) for block in answer.content if block.type == "tool_use"]
            done = [(session.call(call.name, call.arguments, call.id), call) for call in calls]
            messages.append(results_message(done))
        client.close()
    assert answer.content[0].text == "Done."
    assert len(running.asked) == 3
    assert ["Turn a CSV file into numbers" in running.system(number) for number in range(3)] == [False, True, True]
    ((loaded, text, failed),) = running.results(1)
    assert (loaded, failed, '"csv-report"' in text) == ("toolu_0_0", False, True)
    read, refused = running.results(2)
    assert (read[0], read[2], json.loads(read[1])["path"]) == ("toolu_1_0", False, "references/NUMBERS.md")
    assert (refused[0], refused[2]) == ("toolu_1_1", True)
    assert refused[1].startswith("path '../log-triage/SKILL.md' is refused: ")


@pytest.mark.anyio
async def test_our_agent_does_a_task_through_the_messages_api(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai.models.anthropic", reason="the extra `agent` is not installed")
    with messages_provider(*TURNS) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        result = await Agent(f"anthropic:{MODEL}", catalog=Catalog(EXAMPLES)).run("Sum up march.csv")
    assert (result.text, result.turns, result.skills_used) == ("Done.", 3, ("csv-report",))
    assert (result.usage.input_tokens, result.usage.output_tokens) == (30, 6)
    assert "Turn a CSV file into numbers" in running.system(1)
    assert "Turn a CSV file into numbers" not in running.system(0)
    assert [identity for identity, _, _ in running.results(2)] == ["toolu_1_0", "toolu_1_1"]
