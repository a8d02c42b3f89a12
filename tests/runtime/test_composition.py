"""What manifests say about loading: skills that exclude each other, tools that must be there, and an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, RequiredToolError, SkillConflictError, SkillParseError
from prowess.runtime import Session
from prowess.store import MemorySessionStore
from tests.runtime.making import codes, failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

CONFLICT = "composition: {dependencies: [], conflicts: [beta]}\n"
GIT = 'tools: {{dependencies: [{{tool: "Bash(git:*)", required: {required}, purpose: history, minVersion: "2.9"}}]}}\n'


def with_manifest(root: Path, name: str, manifest: str, extra: str = "") -> None:
    write_skill(root, name, files={"skill.manifest.yaml": manifest}, extra=extra)


@pytest.mark.proves("format.manifest.composition.conflicts")
@pytest.mark.parametrize("order", [("alpha", "beta"), ("beta", "alpha")])
@pytest.mark.parametrize("together", [True, False])
async def test_skills_that_exclude_each_other_are_refused_with_both_names(
    skills: Path, order: tuple[str, str], *, together: bool
) -> None:
    with_manifest(skills, "alpha", CONFLICT)
    session = Session(Catalog(skills))
    if together:
        outcome = await session.call("skills.load", {"names": list(order)})
    else:
        await session.load([order[0]])
        outcome = await session.call("skills.load", {"names": [order[1]], "mode": "add"})

    detail = failure(outcome)
    assert detail["code"] == "skill_conflict"
    assert "'alpha'" in detail["message"]
    assert "'beta'" in detail["message"]
    assert [skill.name for skill in session.active_skills] == ([] if together else [order[0]])
    assert names(result(await session.call("skills.load", {"names": ["beta"]}))) == ["beta"]


@pytest.mark.proves("format.manifest.composition.conflicts")
async def test_a_conflict_is_known_to_another_process_that_continues_the_session(skills: Path) -> None:
    with_manifest(skills, "alpha", CONFLICT)
    store = MemorySessionStore()
    await Session(Catalog(skills), store=store, session_id="one").load(["alpha"])

    with pytest.raises(SkillConflictError):
        await Session(Catalog(skills), store=store, session_id="one").load(["beta"], "add")


async def test_a_skill_inside_another_may_not_be_excluded_by_it(skills: Path) -> None:
    with_manifest(skills, "alpha", CONFLICT)
    session = Session(Catalog(skills), exposure="skill")
    result(await session.call("skill", {"skill": "alpha"}))
    assert failure(await session.call("skill", {"skill": "beta"}))["code"] == "skill_conflict"


@pytest.mark.proves("format.manifest.tools.required")
async def test_a_missing_required_tool_refuses_the_load_before_anything_has_run(skills: Path) -> None:
    with_manifest(
        skills,
        "alpha",
        GIT.format(required="true"),
        extra="hooks:\n  pre:\n    - script: scripts/never.py\n",
    )
    session = Session(Catalog(skills), host_tools=())

    detail = failure(await session.call("skills.load", {"names": ["alpha"]}))

    assert detail["code"] == "tool_not_found"
    assert "skill 'alpha'" in detail["message"]
    assert "'Bash(git:*)'" in detail["message"]
    assert "it is for: history" in detail["message"]
    assert session.active_skills == ()


@pytest.mark.proves("format.manifest.tools.required", "format.manifest.tools.min-version")
async def test_a_tool_that_is_there_and_new_enough_lets_the_skill_be_loaded(skills: Path) -> None:
    with_manifest(skills, "alpha", GIT.format(required="true"))
    for version, loads in (("2.10", True), ("2.9", True), ("2.8", False)):
        session = Session(Catalog(skills), host_tools={"bash_exec": version})
        if loads:
            assert codes(await session.load(["alpha"])) == []
        else:
            with pytest.raises(RequiredToolError, match=r"Bash is 2\.8; 2\.9 or later is needed"):
                await session.load(["alpha"])


async def test_a_tool_that_is_not_required_is_not_asked_for(skills: Path) -> None:
    with_manifest(skills, "alpha", GIT.format(required="false"))
    assert codes(await Session(Catalog(skills), host_tools=()).load(["alpha"])) == []


@pytest.mark.parametrize("version", ["", "new", "5.2; rm"])
async def test_a_version_of_a_tool_that_is_none_is_refused_at_once(skills: Path, version: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="is not a valid version of Bash"):
        Session(Catalog(skills), host_tools={"Bash": version})


@pytest.mark.parametrize("host_tools", [None, ("Bash",)])
async def test_what_is_not_known_of_the_host_is_told_and_not_refused(
    skills: Path, host_tools: tuple[str, ...] | None
) -> None:
    with_manifest(skills, "alpha", GIT.format(required="true"))
    receipt = await Session(Catalog(skills), host_tools=host_tools).load(["alpha"])
    assert codes(receipt) == ["required_tool_unknown"]


async def test_a_function_of_the_session_counts_as_a_tool(skills: Path) -> None:
    with_manifest(skills, "alpha", "tools: {dependencies: [{tool: add, required: true, purpose: sums}]}\n")
    session = Session(Catalog(skills), host_tools=())
    with pytest.raises(RequiredToolError):
        await session.load(["alpha"])

    @session.function
    def add(first: int, second: int) -> int:
        """Add two numbers."""
        return first + second

    assert names(await session.load(["alpha"])) == ["alpha"]


@pytest.mark.proves("format.manifest.composition.order")
@pytest.mark.parametrize(
    ("order", "asked", "told"),
    [
        ("executionOrder: after", ["alpha", "beta"], "beta, alpha"),
        ("executionOrder: before", ["beta", "alpha"], "alpha, beta"),
        ("executionOrder: after", ["beta", "alpha"], None),
        ("executionOrder: independent", ["alpha", "beta"], None),
        ("conflicts: []", ["alpha", "beta"], None),
    ],
)
async def test_skills_loaded_against_their_order_come_with_the_right_one(
    skills: Path, order: str, asked: list[str], told: str | None
) -> None:
    with_manifest(skills, "alpha", f"composition:\n  dependencies: [{{skillName: beta, reason: r}}]\n  {order}\n")
    receipt = await Session(Catalog(skills)).load(asked)
    assert names(receipt) == asked
    expected = [] if told is None else [f"Follow these skills in this order: {told}."]
    assert [notice.message for notice in receipt.notices if notice.code == "execution_order"] == expected


@pytest.mark.parametrize("manifest", ["composition: {dependencies: [], conflicts: beta}", "tools: x", "a: ["])
async def test_a_manifest_that_cannot_be_read_where_it_narrows_keeps_the_skill_out(skills: Path, manifest: str) -> None:
    with_manifest(skills, "alpha", manifest)
    with pytest.raises(SkillParseError, match=r"alpha/skill\.manifest\.yaml:1:"):
        await Session(Catalog(skills)).load(["alpha"])


async def test_a_manifest_that_cannot_be_read_elsewhere_does_not(skills: Path) -> None:
    with_manifest(skills, "alpha", "security: x\ntests: y\nother: z\n")
    assert names(await Session(Catalog(skills)).load(["alpha"])) == ["alpha"]
