"""Skills as prompts, over the official client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import types
from mcp.shared.exceptions import MCPError

from prowess.mcp_server.prompts import _word
from prowess.runtime.activation.substitution import words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio

SKILLS = {
    "hidden": ("user-invocable: false\n", "For models.\n"),
    "deploy": ("disable-model-invocation: true\nargument-hint: '[where]'\n", "Deploy to $ARGUMENTS now.\n"),
    "rename": (
        "arguments: [{name: old, required: true, description: The name now.}, {name: new, default: other}, why]\n",
        "From $old to $new because $2.\n",
    ),
}


@pytest.fixture
def with_commands(skills: Path) -> Path:
    for name, (front, body) in SKILLS.items():
        (skills / name).mkdir()
        (skills / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n{front}---\n{body}")
    return skills


async def _text(client: Any, name: str, arguments: dict[str, str] | None = None) -> str:  # noqa: ANN401 -- the SDK's client
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    return str(message.content.text)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_skill_that_people_may_start_is_a_prompt(
    in_process: Callable[..., Any], with_commands: Path, mode: str
) -> None:
    async with in_process(mode=mode) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert list(prompts) == ["alpha", "beta", "deploy", "rename"]
        assert prompts["alpha"].description == "First. Use when A."
        assert [(one.name, one.description) for one in prompts["deploy"].arguments] == [("arguments", "[where]")]
        assert [(one.name, one.description, one.required) for one in prompts["rename"].arguments] == [
            ("old", "The name now.", True),
            ("new", None, False),
            ("why", None, False),
        ]


async def test_a_prompt_gives_the_instructions_and_brings_the_skill_into_force_beside_others(
    in_process: Callable[..., Any],
) -> None:
    async with in_process() as client:
        await client.call_tool("skills_load", {"names": ["beta"]})
        assert (await _text(client, "alpha")).partition(">\n")[2].startswith("# alpha\n\nDo alpha.\n")
        listed = (await client.call_tool("skills_list", {})).structured_content["skills"]
        assert [one["active"] for one in listed] == [True, True]
        assert (await _text(client, "alpha")).startswith("<skill_content"), "a second time as well"


async def test_arguments_take_their_places(in_process: Callable[..., Any], with_commands: Path) -> None:
    async with in_process() as client:
        assert "Deploy to a b 'c now." in await _text(client, "deploy", {"arguments": "a b 'c"})
        text = await _text(client, "rename", {"old": "the old one", "why": "$old"})
        assert "From the old one to other because $old." in text
        assert "From x'y to z because" in await _text(client, "rename", {"old": "x'y", "new": "z"})


@pytest.mark.proves("runtime.activate.arguments.appended")
async def test_arguments_without_a_place_follow_the_instructions(in_process: Callable[..., Any]) -> None:
    async with in_process() as client:
        text = await _text(client, "alpha", {"arguments": "don't </skill_content> $0"})
        assert "Do alpha.\n\nARGUMENTS: don't &lt;/skill_content> $0\n" in text
        assert "ARGUMENTS" not in await _text(client, "alpha", {"arguments": ""})


@pytest.mark.proves("runtime.activate.arguments.quotes")
@pytest.mark.parametrize("old", ["\"'", "a' \"b\" 'c", "it's", "'", '"', "two\nlines 'n' \"more\"", "$new", "\\", ""])
async def test_a_value_with_any_quotes_is_one_argument(
    in_process: Callable[..., Any], with_commands: Path, old: str
) -> None:
    async with in_process() as client:
        text = await _text(client, "rename", {"old": old, "new": 'it\'s "new"', "why": "x"})
        assert f'From {old} to it\'s "new" because x.' in text


@given(st.lists(st.text(st.sampled_from("ab \n'\"\\$"), max_size=8), min_size=1, max_size=4))
def test_every_list_of_values_survives_as_one_text(values: list[str]) -> None:
    assert words(" ".join(_word(value) for value in values)) == tuple(values)


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("gamma", {}, "gamma"),
        ("hidden", {}, "cannot be invoked by a person"),
        ("rename", {}, "Missing required argument: old"),
        ("rename", {"old": "a", "older": "b"}, "Unknown argument: older; rename takes old, new, why"),
        ("deploy", {"arguments": "x" * 70_000}, "more than 65536 bytes"),
    ],
)
async def test_what_cannot_be_started_is_refused_in_a_sentence(
    in_process: Callable[..., Any], with_commands: Path, name: str, arguments: dict[str, str], sentence: str
) -> None:
    async with in_process() as client:
        with pytest.raises(MCPError, match=sentence) as raised:
            await client.get_prompt(name, arguments)
        assert raised.value.error.code == types.INVALID_PARAMS
        assert (await client.list_tools()).tools, "the server goes on"
