from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from prowess.runtime.tools.list import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


def _more(skills: Path, count: int) -> list[str]:
    names = [f"skill-{number:03}" for number in range(count)]
    for name in names:
        (skills / name).mkdir()
        (skills / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Number. Use when counting.\n---\nX\n")
    return names


async def _pages(client: Any, **arguments: str) -> list[list[str]]:  # noqa: ANN401 -- the client's model
    pages, cursor = [], None
    while True:
        given = arguments | ({} if cursor is None else {"cursor": cursor})
        answer = (await client.call_tool("skills_list", given)).structured_content
        pages.append([skill["name"] for skill in answer["skills"]])
        if (cursor := answer["next_cursor"]) is None:
            return pages


async def test_pages_hold_every_skill_once_in_order(in_process: Callable[..., Any], skills: Path) -> None:
    names = _more(skills, 2 * PAGE)
    async with in_process() as client:
        pages = await _pages(client)
        assert [len(page) for page in pages] == [PAGE, PAGE, 2]
        assert [name for page in pages for name in page] == ["alpha", "beta", *names]
        for number in range(70):
            _more_named(skills, f"tide-{number:02}", "Says when the water of the sea is high.")
        found = await _pages(client, query="high water")
        assert [len(page) for page in found] == [PAGE, 20]
        assert (await _pages(client, query="when is tide 33"))[0][0] == "tide-33"
        assert sorted(name for page in found for name in page) == [f"tide-{number:02}" for number in range(70)]
        assert await _pages(client, query="xylophone") == [[]]


async def test_a_page_that_ends_with_the_list_has_no_next(in_process: Callable[..., Any], skills: Path) -> None:
    _more(skills, PAGE - 2)
    async with in_process() as client:
        assert [len(page) for page in await _pages(client)] == [PAGE]


async def test_a_cursor_stays_right_when_skills_come_and_go(in_process: Callable[..., Any], skills: Path) -> None:
    names = _more(skills, PAGE)
    async with in_process() as client:
        first = (await client.call_tool("skills_list", {})).structured_content
        (skills / first["skills"][-1]["name"] / "SKILL.md").unlink()
        _more_named(skills, "aardvark")
        rest = (await client.call_tool("skills_list", {"cursor": first["next_cursor"]})).structured_content
        assert [skill["name"] for skill in rest["skills"]] == names[-2:]


def _more_named(skills: Path, name: str, description: str = "New. Use when new.") -> None:
    (skills / name).mkdir()
    (skills / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\nX\n")


async def test_a_skill_that_appears_is_listed_and_can_be_loaded(in_process: Callable[..., Any], skills: Path) -> None:
    async with in_process() as client:
        _more_named(skills, "new")
        assert await _pages(client, query="new") == [["new"]]
        assert not (await client.call_tool("skills_load", {"names": ["new"]})).is_error


async def test_places_are_hidden_where_the_host_hides_them(in_process: Callable[..., Any], skills: Path) -> None:
    async with in_process(expose_location=False) as client:
        await client.call_tool("skills_load", {"names": ["alpha"]})
        answer = await client.call_tool("skills_list", {})
        assert {skill["location"] for skill in answer.structured_content["skills"]} == {None}
        assert str(skills) not in answer.content[0].text + (client.instructions or "")
        assert [skill["active"] for skill in answer.structured_content["skills"]] == [True, False]


async def test_without_skills_there_are_no_rules_and_only_the_listing(
    in_process: Callable[..., Any], skills: Path
) -> None:
    for name in ("alpha", "beta"):
        (skills / name / "SKILL.md").unlink()
    async with in_process() as client:
        assert client.instructions is None
        assert [tool.name for tool in (await client.list_tools()).tools] == ["skills_list"]
        assert await _pages(client) == [[]]
