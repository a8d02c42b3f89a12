"""A skill outside the viewer's scope leaves no trace: each answer is the one that is given without the skill."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from prowess.catalog import Catalog
from prowess.cli.dispatch import run
from prowess.mcp_server.server import build_server, open_session
from prowess.runtime import Session
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.proves("catalog.scope.load")]

HIDDEN = "zephyr"
TASK = "pay the zephyr team"


@pytest.fixture(params=["agents: reviewer", "tenants: acme", "environments: production"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    place = tmp_path / "skills"
    write_skill(place, "payroll", description="Pays a team.", files={"notes.md": "Notes.\n"})
    write_skill(place, "zebra", description="Draws a zebra.")
    write_skill(
        place,
        HIDDEN,
        description="Pays the zephyr team. Use when zephyr is to be paid.",
        body="Zephyr only.\n",
        files={"notes.md": "Zephyr notes.\n", "scripts/pay.sh": "echo zephyr\n"},
        extra=f"tags: [zephyr]\nscope:\n  {request.param}\n",
    )
    return place


def _same_without(root: Path, answers: Callable[[], list[Any]]) -> None:
    """Compare the answers with the hidden skill and after it was removed."""
    there = answers()
    assert "Zephyr" not in repr(there)
    shutil.rmtree(root / HIDDEN)
    assert there == answers()


COMMANDS = (
    ["list"],
    ["list", "--json"],
    ["list", HIDDEN],
    ["list", "--tag", HIDDEN],
    ["match", TASK],
    ["match", f"/{HIDDEN}", "--json"],
    ["match", TASK, "--bodies", "--json"],
    ["load", HIDDEN],
    ["load", HIDDEN, "--json"],
    ["load", "zefyr"],
    ["read", HIDDEN, "notes.md"],
    ["run", HIDDEN, "scripts/pay.sh"],
)


@pytest.mark.proves("governance.scope.enforced")
def test_no_command_shows_it(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def answers() -> list[Any]:
        found = []
        for words in COMMANDS:
            code = run([*words, "--root", str(root)])
            found.append((words, code, *capfd.readouterr()))
        return found

    _same_without(root, answers)


@pytest.mark.proves("governance.scope.enforced")
async def test_no_tool_of_a_session_shows_it(root: Path) -> None:
    async def answers() -> list[Any]:
        session = Session(Catalog(root))
        found: list[Any] = [session.instructions(), session.instructions(40), repr(session.tools())]
        for tool, arguments in (
            ("skills.list", {"query": TASK}),
            ("skills.load", {"names": [HIDDEN]}),
            ("skills.load", {"names": ["zefyr"]}),
            ("skills.read", {"skill": HIDDEN, "path": "notes.md"}),
            ("skills.run_script", {"skill": HIDDEN, "path": "scripts/pay.sh"}),
            ("skills.unload", {"names": [HIDDEN]}),
            ("skill", {"skill": HIDDEN}),
        ):
            outcome = await session.call(tool, arguments)
            found.append((tool, outcome.success, _plain(outcome.result), str(outcome.error)))
        found.append(session.completions())
        return found

    there = await answers()
    assert "Zephyr" not in repr(there)
    shutil.rmtree(root / HIDDEN)
    assert there == await answers()


@pytest.mark.proves("governance.scope.enforced")
async def test_no_request_to_the_mcp_server_shows_it(root: Path) -> None:
    async def answers() -> list[Any]:
        session = open_session(Catalog(root))
        await session.refresh()
        found: list[Any] = []
        async with Client(build_server(session), mode="legacy") as client:
            lists = client.list_tools, client.list_prompts, client.list_resources, client.list_resource_templates
            found += [_plain((await listed()).model_dump(mode="json")) for listed in lists]
            for tool, arguments in (
                ("skills_list", {}),
                ("skills_list", {"query": TASK}),
                ("skills_load", {"names": [HIDDEN]}),
                ("skill", {"skill": HIDDEN}),
            ):
                found.append(_plain((await client.call_tool(tool, arguments)).model_dump(mode="json")))
            for uri in (f"skill://{HIDDEN}/SKILL.md", f"skill://{HIDDEN}/notes.md"):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                found.append(str(refused.value))
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(HIDDEN)
            found.append(str(refused.value))
        await session.close()
        return found

    there = await answers()
    assert "Zephyr" not in repr(there)
    shutil.rmtree(root / HIDDEN)
    assert there == await answers()


def _plain(value: object) -> object:
    """Return the value without what differs from one session to the next."""
    return json.loads(json.dumps(value, default=str))


def test_a_viewer_inside_the_scope_has_it(root: Path) -> None:
    inside = Catalog(root, agent="reviewer", tenant="acme", environment="production")
    assert [match.name for match in inside.match(TASK)][:1] == [HIDDEN]
    assert inside.skill(HIDDEN).body == "Zephyr only.\n"
    outside = Catalog(root)
    assert HIDDEN not in [match.name for match in outside.match(f"/{HIDDEN}: {TASK}", bodies=True)]
    assert outside.why(HIDDEN).winner is None
