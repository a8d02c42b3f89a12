"""What a skill with 100 KB of references costs a session, level by level, counted in what a model is really sent."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.agent import Agent, ScriptedModel, ScriptedTurn
from prowess.catalog import Catalog
from tests.agent.making import tool_messages

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.agent import AgentResult, ModelRequest

NAME, DESCRIPTION = "aws-deployment", "Deploys services to AWS. Use for requests to deploy to ECS or Lambda."
BODY = (
    "# Deploying\n\nSee [services](references/services.md), [troubleshooting](references/troubleshooting.md) and\n"
    + (
        "[architecture](references/architecture.md).\n\n"
        + "Follow each step in order and stop at the first failure.\n" * 33
    )
)
SIZES = {"services": 50_000, "troubleshooting": 30_000, "architecture": 20_000}
SECTION = "## ECS\n\nGive the service 512 MB.\n\n"


def _skill(root: Path, *, references: bool = True) -> None:
    directory = root / NAME
    (directory / "references").mkdir(parents=True)
    text = f"---\nname: {NAME}\ndescription: {DESCRIPTION}\n---\n{BODY}"
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    for name, size in SIZES.items() if references else {}.items():
        head = f"# The {name}\n\n{SECTION if name == 'services' else ''}## The rest of {name}\n\n"
        line = f"A line about {name} that nobody asked for.\n"
        filled = (head + line * (size // len(line) + 1))[: size - 1] + "\n"
        (directory / "references" / f"{name}.md").write_text(filled, encoding="utf-8")


def _sent(request: ModelRequest) -> str:
    """Everything that the model gets with one call."""
    messages = [getattr(message, "text", "") for message in request.messages]
    return "\n".join([request.instructions, *messages])


async def _session(root: Path, *, read: bool = True) -> tuple[ScriptedModel, AgentResult]:
    turns: list[ScriptedTurn | str] = [ScriptedTurn(calls=(("skills_load", {"names": [NAME]}),))]
    if read:
        arguments: dict[str, object] = {"path": "references/services.md", "section": "ecs"}
        turns.append(ScriptedTurn(calls=(("skills_read", arguments),)))
    model = ScriptedModel([*turns, "512 MB."])
    return model, await Agent(model, catalog=Catalog(root)).run("Deploy our service to AWS ECS")


@pytest.mark.proves("governance.journey.disclosure", "format.disclosure.levels")
@pytest.mark.anyio
async def test_a_recorded_session_costs_the_listing_then_the_body_then_what_was_read(tmp_path: Path) -> None:
    _skill(tmp_path / "with")
    (tmp_path / "without").mkdir()
    model, result = await _session(tmp_path / "with")
    start, loaded, read = map(_sent, model.requests)

    # Level 1: name and description, and nothing else of the skill.
    entry = start[start.index("<skill>") : start.index("</skill>")]
    assert NAME in entry
    assert DESCRIPTION in entry
    level1 = len(NAME) + len(DESCRIPTION)
    assert level1 <= 100
    assert "# Deploying" not in start
    assert "references/" not in entry
    # Level 2: the body, whole, with the call after the load; no reference.
    assert BODY.strip() in loaded
    assert "# The " not in loaded
    level2 = len(loaded) - len(start)
    assert len(BODY) <= level2 <= len(BODY) + 1500, level2
    assert 2000 <= len(BODY) <= 2100
    # Level 3: the one section that was read, of 100 KB.
    assert sum((tmp_path / "with" / NAME / "references" / f"{name}.md").stat().st_size for name in SIZES) == 100_000
    assert json.loads(tool_messages(result)[1].text)["result"]["text"] == SECTION
    level3 = len(read) - len(loaded)
    assert level3 <= len(SECTION) + 1500, level3
    assert "nobody asked for" not in read
    sys.stdout.write(f"bytes: listing {level1}, activation {level2}, one section {level3}, beside 100000 unread\n")


@pytest.mark.proves("governance.persona.references")
@pytest.mark.anyio
async def test_references_cost_nothing_where_they_are_not_read(tmp_path: Path) -> None:
    _skill(tmp_path / "with")
    _skill(tmp_path / "without", references=False)
    costs = []
    for root in (tmp_path / "with", tmp_path / "without"):
        model, result = await _session(root, read=False)
        assert result.answered
        sent = [_sent(request).replace(str(root), "") for request in model.requests]
        costs.append([len(re.sub(r'"duration_ms": \d+', "", text)) for text in sent])
    assert costs[0] == costs[1]
