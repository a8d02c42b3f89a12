"""Misspelt keys of the fields that restrict a skill are read as the fields that are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from prowess import Catalog, Session
from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from prowess.runtime.hooks.runner import HookFailedError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


def _skills(tmp_path: Path, lines: str) -> Path:
    (tmp_path / "skills" / "demo").mkdir(parents=True)
    text = f"---\nname: demo\ndescription: Use when asked.\n{lines}---\nSteps.\n"
    (tmp_path / "skills" / "demo" / "SKILL.md").write_text(text, encoding="utf-8")
    return tmp_path / "skills"


@pytest.mark.parametrize("key", ["disable_model_invocation", "disableModelInvocation", "Disable-Model-Invocation"])
async def test_a_skill_that_is_hidden_from_the_model_stays_hidden(tmp_path: Path, key: str) -> None:
    async with Session(_skills(tmp_path, f"{key}: true\n")) as session:
        assert "demo" not in session.instructions()
        with pytest.raises(SkillNotFoundError):
            await session.load("demo")
        started: dict[str, Any] = (await session.invoke("demo")).as_dict()
        assert [notice["code"] for notice in started["notices"]] == ["field_read_as"]
        assert "is read as disable-model-invocation" in started["notices"][0]["message"]


async def test_a_skill_that_a_user_may_not_start_stays_so(tmp_path: Path) -> None:
    async with Session(_skills(tmp_path, "userInvocable: false\n")) as session:
        with pytest.raises(InvalidArgumentsError, match="for models only"):
            await session.invoke("demo")


@pytest.mark.parametrize("key", ["Scope", "SCOPE"])
def test_a_scope_hides_the_skill_from_others(tmp_path: Path, key: str) -> None:
    root = _skills(tmp_path, f"{key}:\n  tenants: [acme]\n")
    assert Catalog(root).entries() == ()
    assert [entry.name for entry in Catalog(root, tenant="acme").entries()] == ["demo"]


async def test_hooks_run(tmp_path: Path) -> None:
    async with Session(_skills(tmp_path, "Hooks:\n  pre: scripts/absent.sh\n")) as session:
        with pytest.raises(HookFailedError):
            await session.load("demo")


async def test_two_different_values_close(tmp_path: Path) -> None:
    lines = "disable-model-invocation: false\nDisable_Model_Invocation: true\n"
    async with Session(_skills(tmp_path, lines)) as session:
        with pytest.raises(SkillNotFoundError):
            await session.load("demo")
    other = _skills(tmp_path / "other", "scope:\n  tenants: [a]\nScope:\n  tenants: [b]\n")
    assert Catalog(other, tenant="a").entries() == Catalog(other, tenant="b").entries() == ()


async def test_the_same_value_twice_is_no_conflict(tmp_path: Path) -> None:
    async with Session(
        _skills(tmp_path, "disable-model-invocation: false\ndisableModelInvocation: false\n")
    ) as session:
        await session.load("demo")
        assert [skill.name for skill in session.active_skills] == ["demo"]


@pytest.mark.parametrize(
    "lines",
    [
        "disable-model-invocation: true\ndisable-model-invocation: false\n",
        "disableModelInvocation: true\ndisableModelInvocation: false\n",
        "scope:\n  tenants: [a]\nscope:\n  tenants: [b]\n",
    ],
)
async def test_a_field_that_is_written_twice_closes(tmp_path: Path, lines: str) -> None:
    root = _skills(tmp_path, lines)
    for catalog in (Catalog(root), Catalog(root, tenant="a"), Catalog(root, tenant="b")):
        async with Session(catalog) as session:
            with pytest.raises(SkillNotFoundError):
                await session.load("demo")


async def test_other_keys_restrict_nothing(tmp_path: Path) -> None:
    async with Session(_skills(tmp_path, "hook: x\nscopes: y\nmodel-invocation: false\n")) as session:
        await session.load("demo")
        assert [skill.name for skill in session.active_skills] == ["demo"]
