"""Skills on disk and sessions over them, for the tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.runtime import LoadResult
from prowess.runtime.disclosure import model_texts
from prowess.runtime.disclosure.exposure import section
from prowess.runtime.disclosure.skill_list import Candidates, fit, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from prowess.runtime.disclosure.model_texts import ActiveBody, Disclosure
    from prowess.runtime.disclosure.skill_list import ListedSkill
    from prowess.tools import ToolResult


def write_skill(
    root: Path,
    name: str,
    *,
    description: str | None = None,
    body: str | None = None,
    files: Mapping[str, str | bytes] | None = None,
    extra: str = "",
) -> Path:
    """Write a skill; return its directory. `extra` is further front matter, with its line feeds."""
    directory = root / name
    directory.mkdir(parents=True, exist_ok=True)
    says = f"Does {name}." if description is None else description
    text = f"Body of {name}.\n" if body is None else body
    (directory / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {says}\n{extra}---\n{text}", encoding="utf-8")
    for path, content in (files or {}).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return directory


def instructions_of(
    skills: Sequence[ListedSkill], active: Sequence[ActiveBody] = (), budget: int = model_texts.DEFAULT_BUDGET
) -> Disclosure:
    """Return the instructions with these skills listed and active, as a session composes them."""
    room = budget * model_texts.CHARACTERS_PER_TOKEN
    found = fit(Candidates.of(skills), lambda listed: len(section(listed)), room)
    return model_texts.instructions(found, text_of(found, section, room), active, bodies_in_results=False)


def names(receipt: LoadResult | Mapping[str, Any]) -> list[str]:
    """Return the names of the active skills in the result of a load."""
    return [entry["name"] for entry in _wire(receipt)["active_skills"]]


def codes(receipt: LoadResult | Mapping[str, Any]) -> list[str]:
    """Return the codes of the notices in the result of a load."""
    return [notice["code"] for notice in _wire(receipt)["notices"]]


def _wire(receipt: LoadResult | Mapping[str, Any]) -> Mapping[str, Any]:
    return receipt.as_dict() if isinstance(receipt, LoadResult) else receipt


def result(outcome: ToolResult) -> dict[str, Any]:
    """Return the result of a call that must have succeeded."""
    assert outcome.success, outcome.error
    return dict(outcome.result or {})


def failure(outcome: ToolResult) -> dict[str, Any]:
    """Return the detail of a call that must have failed."""
    assert not outcome.success, outcome.result
    assert outcome.error_detail is not None
    assert outcome.error == outcome.error_detail["message"]
    return dict(outcome.error_detail)
