"""Every case of argument-cases.json, asked of a real `prowess session` over its standard streams."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import prowess

_CASES = json.loads((Path(__file__).parent / "argument-cases.json").read_text(encoding="utf-8"))["cases"]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The result of each case by its reason, which is unique."""
    place = tmp_path_factory.mktemp("arguments")
    for number, case in enumerate(_CASES):
        directory = place / f"skills/case-{number}"
        directory.mkdir(parents=True)
        declared = f"arguments: {case['arguments']}\n" if "arguments" in case else ""
        text = f"---\nname: case-{number}\ndescription: Case.\n{declared}---\n{case['body']}\n"
        (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return {**_asked(place, 0), **_asked(place, 1)}


def _asked(place: Path, first_argument: int) -> dict[str, dict[str, Any]]:
    asked = {
        case["why"]: {"skill": f"case-{number}", "args": case["args"]}
        for number, case in enumerate(_CASES)
        if case.get("first_argument", 0) == first_argument
    }
    lines = []
    for why, arguments in asked.items():
        lines.append({"id": why, "method": "invoke", "arguments": arguments})
        lines.append({"id": None, "tool": "skills.unload", "arguments": {"all": True}})
    done = subprocess.run(
        [
            *(prowess(), "session", "--root", place / "skills"),
            *("--first-argument", str(first_argument)),
        ],
        input="".join(f"{json.dumps(line)}\n" for line in lines).encode(),
        env={**os.environ, "PROWESS_HOME": str(place / "home"), "HOME": str(place)},
        cwd=place,
        capture_output=True,
        check=True,
    )
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines()) if answer["id"] is not None}


@pytest.mark.proves(
    "runtime.activate.arguments.zero",
    "runtime.activate.arguments.money",
    "runtime.activate.arguments.appended",
    "runtime.activate.arguments.quotes",
)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["why"])
def test_arguments_come_into_the_body_as_the_suite_states(
    answers: dict[str, dict[str, Any]], case: dict[str, Any]
) -> None:
    answer = answers[case["why"]]
    assert answer["success"], answer
    content = answer["result"]["content"].partition(">\n")[2]
    assert content.partition("\n\nDirectory of this skill: ")[0].strip() == case["text"].strip()
