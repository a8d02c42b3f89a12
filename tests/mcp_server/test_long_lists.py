"""A server of more skills than its lists can show: instructions within the budget, pages, and the search."""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from prowess.mcp_server.served_session import INSTRUCTIONS_BUDGET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio
_COUNT = 600


@pytest.fixture
def many(skills: Path) -> Path:
    """Return a directory of 602 skills."""
    for number in range(_COUNT):
        directory = skills / f"skill-of-a-long-list-{number:03}"
        directory.mkdir()
        text = f"Handles case {number} of a long list of cases. " * 3
        (directory / "SKILL.md").write_text(f"---\nname: {directory.name}\ndescription: {text}\n---\nDo it.\n")
    return skills


@pytest.mark.proves("catalog.list.budget", "catalog.list.query")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_instructions_keep_the_budget_and_the_search_finds_what_they_leave_out(
    in_process: Callable[..., Any], many: Path, mode: str
) -> None:
    async with in_process(mode) as client:
        text = str(client.instructions)
        section = text[text.index("<available_skills>") : text.index("</available_skills>\n") + 20]
        shown = re.findall("<name>([^<]+)</name>", section)
        assert len(section) <= INSTRUCTIONS_BUDGET * 4
        assert 50 < len(shown) < _COUNT
        assert f"\nand {_COUNT + 2 - len(shown)} more; skills_list with a query of a few words finds them\n" in section
        assert "skills_list" in [tool.name for tool in (await client.list_tools()).tools]

        found = (await client.call_tool("skills_list", {"query": "case 577 of the list"})).structured_content
        assert found["skills"][0]["name"] == "skill-of-a-long-list-577" not in shown
        loaded = await client.call_tool("skills_load", {"names": ["skill-of-a-long-list-577"]})
        assert not loaded.is_error


async def test_each_answer_of_the_search_keeps_the_budget(in_process: Callable[..., Any], many: Path) -> None:
    async with in_process() as client:
        seen: list[str] = []
        arguments: dict[str, object] = {}
        while True:
            answer = (await client.call_tool("skills_list", arguments)).structured_content
            assert len(json.dumps(answer)) <= INSTRUCTIONS_BUDGET * 4
            seen += [skill["name"] for skill in answer["skills"]]
            assert answer["left_out"] == _COUNT + 2 - len(seen)
            if answer["next_cursor"] is None:
                break
            arguments = {"cursor": answer["next_cursor"]}
        assert seen == sorted(os.listdir(many))


async def test_prompts_and_resources_come_in_pages_with_every_skill_once(
    in_process: Callable[..., Any], many: Path
) -> None:
    async with in_process() as client:
        for ask, kind in ((client.list_prompts, "prompts"), (client.list_resources, "resources")):
            names: list[str] = []
            cursor = None
            while True:
                page = await ask(cursor=cursor)
                listed = getattr(page, kind)
                assert len(listed) <= 200
                names += [one.name for one in listed if one.name != "index.json"]
                if (cursor := page.next_cursor) is None:
                    break
            assert names == sorted(os.listdir(many))


@pytest.mark.parametrize("kind", ["prompts", "resources"])
async def test_no_page_skips_or_repeats_an_entry_if_others_come_and_go(
    in_process: Callable[..., Any], many: Path, kind: str
) -> None:
    async with in_process() as client:
        ask = getattr(client, f"list_{kind}")
        first = await ask()
        last = getattr(first, kind)[-1].name
        shutil.rmtree(many / last)
        for name in ("aa", "ab"):
            (many / name).mkdir()
            (many / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Handles {name}.\n---\nDo it.\n")
        await client.call_tool("skills_list", {})  # looks at the directory
        second = await ask(cursor=first.next_cursor)
        names = sorted(name for name in os.listdir(many) if name > last)
        assert [one.name for one in getattr(second, kind)] == names[:200]


async def test_a_rule_that_is_written_later_takes_a_skill_out_of_every_list(
    in_process: Callable[..., Any], skills: Path
) -> None:
    home = os.environ["PROWESS_HOME"]
    os.makedirs(home, mode=0o700, exist_ok=True)
    file = os.path.join(home, "policy.toml")

    async def names(client: Any) -> list[list[str]]:  # noqa: ANN401 -- the client of a server in this process
        found = (await client.call_tool("skills_list", {})).structured_content["skills"]
        entries = [one.name for one in (await client.list_resources()).resources if one.name != "index.json"]
        prompts = [one.name for one in (await client.list_prompts()).prompts]
        return [[skill["name"] for skill in found], entries, prompts]

    async with in_process() as client:
        assert await names(client) == [["alpha", "beta"]] * 3
        rules = (f'[[rule]]\neffect = "deny"\ntool = "{tool}"\n{match}' for tool, match in _DENY_ALPHA.items())
        _write(file, 'default = "allow"\n' + "".join(rules))
        assert await names(client) == [["beta"]] * 3
        os.remove(file)
        assert await names(client) == [["alpha", "beta"]] * 3


_DENY_ALPHA = {
    "skills.load": 'match = { names = "alpha" }\n',
    "skills.invoke": 'match = { skill = "alpha" }\n',
}


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
