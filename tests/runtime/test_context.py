"""What only happens when something changes between two steps of one call, or in a catalog of many sources."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.errors import SkillNotActiveError, UnavailableError
from prowess.runtime import Session
from prowess.runtime.activation.snapshots import Snapshots
from prowess.runtime.disclosure.model_texts import available_skills
from prowess.runtime.disclosure.skill_list import SkillList
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_a_copy_named_with_its_plugin_can_be_loaded_and_read(tmp_path: Path) -> None:
    for plugin in ("one", "two"):
        write_skill(tmp_path / plugin, "same", body=f"From {plugin}.\n")
    catalog = Catalog.discover(cwd=tmp_path, plugins=[tmp_path / "one", tmp_path / "two"])
    session = Session(catalog)
    shadowed = next(entry for entry in catalog.all_entries() if entry is not catalog.get("same"))

    await session.load([shadowed.qualified_name])

    found = result(await session.call("skills.read", {"path": "SKILL.md", "skill": shadowed.qualified_name}))
    assert found["skill"] == "same"
    assert session.active_skills[0].location == shadowed.location
    assert f"From {shadowed.root_dir.split('/')[-2]}." in session.instructions()
    winner = catalog.get("same")
    detail = failure(await session.call("skills.read", {"path": "SKILL.md", "skill": winner.qualified_name}))
    assert detail["code"] == "skill_not_active"


async def test_a_live_skill_that_was_unloaded_meanwhile_is_not_brought_back(skills: Path) -> None:
    session = Session(Catalog(skills, live=True))
    await session.load(["alpha"])
    (alpha,) = session.active_skills
    await session.unload(all=True)

    with pytest.raises(SkillNotActiveError):
        await session._parts.active.reload(alpha)
    assert session.active_skills == ()


async def test_a_skill_that_the_catalog_lost_is_not_live(skills: Path) -> None:
    catalog = Catalog(skills, live=True)
    session = Session(catalog)
    await session.load(["alpha"])
    assert session._parts.offered.is_live(session.active_skills[0])

    shutil.rmtree(skills / "alpha")
    catalog.refresh()

    assert not session._parts.offered.is_live(session.active_skills[0])


def test_snapshots_of_a_directory_that_is_gone_say_so(skills: Path) -> None:
    catalog = Catalog(skills)
    skill = Snapshots(catalog).take("alpha").skill
    shutil.rmtree(skills / "alpha")
    fresh = Snapshots(catalog)

    assert fresh.body(skill) is None
    assert not fresh.is_edited(skill)
    with pytest.raises(UnavailableError, match="alpha"):
        fresh.manifest(skill)


def test_snapshots_keep_what_is_active_and_forget_the_rest(skills: Path) -> None:
    snapshots = Snapshots(Catalog(skills))
    alpha, beta = snapshots.take("alpha"), snapshots.take("beta")

    snapshots.keep_only([alpha.skill])

    assert snapshots.manifest(alpha.skill) is alpha.source.manifest
    assert snapshots.manifest(beta.skill) is not beta.source.manifest


def test_no_list_is_no_element() -> None:
    assert available_skills(SkillList()) == ""
