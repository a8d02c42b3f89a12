"""A model of a script: what a file may say, and what is said of a file that says something else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.agent import ModelRequest, ScriptedModel, TextDelta, ToolUse, Usage
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ModelRequest(instructions="", messages=(), tools=())


@pytest.mark.anyio
async def test_a_script_is_said_in_order_text_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    usage = {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5}
    call = {"name": "skills_load", "arguments": {"names": ["a"]}}
    path.write_text(json.dumps([{"text": "x" * 20, "calls": [call], "usage": usage}, {}]), encoding="utf-8")
    model = ScriptedModel.from_file(path)
    assert [part async for part in model.stream(ASKED)] == [
        TextDelta(text="x" * 16),
        TextDelta(text="x" * 4),
        ToolUse(id="call-1-1", name="skills_load", arguments={"names": ["a"]}),
        Usage(input_tokens=3, output_tokens=4, cost_usd=0.5),
    ]
    assert [part async for part in model.stream(ASKED)] == [Usage(cost_usd=0.0)]
    assert model.name == f"scripted:{path}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting property name"),
        ("{}", "the script must be a list"),
        ("[1]", "a turn must be an object"),
        ('[{"txt": "a"}]', "a turn has text, calls and usage, not 'txt'"),
        ('[{"text": 1}]', "text must be a text"),
        ('[{"calls": {}}]', "calls must be a list"),
        ('[{"calls": [{"arguments": {}}]}]', "the name of a call must be a text"),
        ('[{"calls": [{"name": "a", "arguments": []}]}]', "the arguments of a call must be an object"),
        ('[{"usage": {"cost_usd": true}}]', "cost_usd must be a number of at least 0"),
        ('[{"usage": {"input_tokens": -1}}]', "input_tokens must be a number of at least 0"),
    ],
)
def test_a_file_that_is_no_script_says_why(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgumentsError, match="is not a script of turns") as raised:
        ScriptedModel.from_file(path)
    assert why in str(raised.value)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="No such file or directory"):
        ScriptedModel.from_file(tmp_path / "none.json")
