"""Agents over real skills, for the tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.agent import ScriptedTurn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from prowess.agent import AgentResult, AgentStep, ToolMessage


def calls(*asked: tuple[str, dict[str, object]], text: str = "") -> ScriptedTurn:
    """Return a turn that asks for these calls."""
    return ScriptedTurn(text=text, calls=asked)


def tool_messages(result: AgentResult) -> list[ToolMessage]:
    """Return the messages of a run that carry results of tools."""
    # By name and not by class: the tests import this module under a name of its own.
    return [message for message in result.transcript if type(message).__name__ == "ToolMessage"]  # type: ignore[misc]


def value(result: AgentResult, number: int) -> dict[str, Any]:
    """Return the result of the call of this number, which must have succeeded."""
    message = tool_messages(result)[number]
    assert message.result.success, message.result.error
    return dict(message.result.result or {})


def error_code(result: AgentResult, number: int) -> object:
    """Return the error code of the call of this number, which must have failed."""
    detail = tool_messages(result)[number].result.error_detail
    assert detail is not None
    return detail["code"]


def kinds(steps: Iterable[AgentStep]) -> list[str]:
    """Return the kinds of steps in order, pieces of one text as one."""
    found: list[str] = []
    for step in steps:
        name = type(step).__name__
        if name != "Said" or found[-1:] != ["Said"]:
            found.append(name)
    return found


def add_skill(root: Path, name: str, *, front: str = "", body: str = "Do it.\n", **files: str) -> None:
    """Write a skill; `front` is further front matter, `files` are scripts by name without the ending `.sh`."""
    directory = root / name
    (directory / "scripts").mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: Does {name}.\n{front}---\n{body}"
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    for script, source in files.items():
        (directory / "scripts" / f"{script}.sh").write_text(source, encoding="utf-8")
