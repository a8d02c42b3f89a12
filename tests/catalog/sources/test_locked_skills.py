"""Skills that a lock names: listed from the store, verified against the lock, and never fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.catalog import Catalog, TrustStore
from prowess.catalog.sources.locked import lock_reader
from prowess.errors import SkillNotFoundError
from tests.catalog.installing import bare_project
from tests.catalog.locking import edit, lock, locked, place_of, store
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return bare_project(tmp_path, monkeypatch)


# ── which skills are offered ───────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("project")
@pytest.mark.proves("governance.layers.plugin.path")
def test_skills_of_the_personal_lock_are_listed_from_the_store() -> None:
    skill = locked("deploy")
    lock(skill)
    (entry,) = Catalog.discover().entries()
    assert (entry.name, entry.layer, entry.source, entry.source_version) == ("deploy", "plugin", "acme", "1.0.0")
    assert entry.root_dir == str(place_of(skill).resolve())
    assert Catalog.discover().skill("deploy").digest == skill.tree


def test_a_projects_lock_is_trusted_as_the_project_is(project: Path) -> None:
    lock(locked("deploy"), project=project)
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    (notice,) = catalog.notices
    assert "deploy; to offer them: prowess trust" in notice.message
    with pytest.raises(SkillNotFoundError, match="prowess trust"):
        catalog.get("deploy")
    assert names(Catalog.discover(trust_project=True).entries()) == ["deploy"]
    TrustStore().trust(str(project))
    catalog.refresh()
    assert names(catalog.entries()) == ["deploy"]


def test_a_lock_that_everybody_can_write_is_no_part_of_a_trusted_project(project: Path) -> None:
    path = lock(locked("deploy"), project=project)
    TrustStore().trust(str(project))
    path.chmod(0o666)
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    assert "everybody can write to" in catalog.notices[0].message


@pytest.mark.usefixtures("project")
def test_a_personal_lock_that_everybody_can_write_is_not_used() -> None:
    lock(locked("deploy")).chmod(0o666)
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    assert "everybody can write to" in finding(catalog, "catalog.locked").message


def test_roots_replace_the_locks(project: Path) -> None:
    lock(locked("deploy"))
    assert names(Catalog(str(project)).entries()) == []


@pytest.mark.usefixtures("project")
def test_a_lock_that_cannot_be_read_is_one_finding() -> None:
    path = lock(locked("deploy"))
    path.write_bytes(path.read_bytes().replace(b"1.0.0", b"1.0.1"))
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    found = finding(catalog, "catalog.locked")
    assert found.location.path == str(path)
    assert f"{path}:" in found.message
    assert "seal" in found.message


@pytest.mark.usefixtures("project")
def test_a_skill_that_is_not_in_the_store_is_a_finding_with_the_command() -> None:
    lock(locked("deploy", tree=f"sha256:{'0' * 64}"), locked("review"))
    catalog = Catalog.discover()
    assert names(catalog.entries()) == ["review"]
    found = finding(catalog, "catalog.locked")
    assert found.skill == "deploy"
    assert "acme 1.0.0" in found.message
    assert "it is not in the store; run `prowess install --scope personal`" in found.message
    with pytest.raises(SkillNotFoundError, match="not in the store"):
        catalog.skill("deploy")


# ── changed trees ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("file", ["SKILL.md", "scripts/run.sh", "scripts/new.sh"])
@pytest.mark.parametrize("is_warm", [False, True])
def test_a_changed_tree_is_never_offered(file: str, is_warm: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    skill = locked("deploy")
    lock(skill)
    if is_warm:
        assert names(Catalog.discover().entries()) == ["deploy"]
    edit_target = place_of(skill) / file
    edit_target.parent.chmod(0o755)
    edit_target.touch()
    edit(edit_target, (edit_target.read_text() if edit_target.exists() else "") + "echo more\n")
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    assert "not those that prowess.lock names; run `prowess install" in finding(catalog, "catalog.locked").message


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("change", ["mode", "removed", "link", "other-directory"])
def test_other_changes_of_a_tree_count_too(change: str, tmp_path: Path) -> None:
    skill = locked("deploy")
    lock(skill)
    script = place_of(skill) / "scripts" / "run.sh"
    place_of(skill).chmod(0o755)
    script.parent.chmod(0o755)
    if change == "mode":
        script.chmod(0o644)
    elif change == "removed":
        script.unlink()
    elif change == "link":
        script.rename(tmp_path / "run.sh")
        script.symlink_to(tmp_path / "run.sh")
    else:
        place_of(skill).parent.chmod(0o755)
        moved = place_of(skill).rename(tmp_path / "deploy")
        place_of(skill).symlink_to(moved)
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    assert finding(catalog, "catalog.locked").skill == "deploy"


@pytest.mark.usefixtures("project")
def test_a_tree_that_was_changed_after_the_listing_is_not_loaded() -> None:
    skill = locked("deploy")
    lock(skill)
    catalog = Catalog.discover()
    assert names(catalog.entries()) == ["deploy"]
    edit(place_of(skill) / "scripts" / "run.sh", "#!/bin/sh\necho other\n")
    with pytest.raises(SkillNotFoundError, match="not those that prowess"):
        catalog.skill("deploy")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("description", ["Deploys", '"Deploys \\u0041"'], ids=["plain", "with-escape"])
def test_a_tree_that_did_not_change_is_hashed_once(description: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    lock(locked("deploy", tree=store("deploy", description=description)))
    before = Catalog.discover().entries()[0].description
    monkeypatch.setattr(lock_reader, "read_stamped_tree", lambda *_, **__: pytest.fail("hashed again"))
    assert Catalog.discover().entries()[0].description == before


@pytest.mark.usefixtures("project")
def test_a_damaged_record_of_compared_trees_is_read_as_none(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    lock(locked("deploy"))
    assert names(Catalog.discover().entries()) == ["deploy"]
    (record,) = own_home.rglob("known-trees*")
    kept = record.read_bytes()
    assert kept.count(b"\0deploy") == 1
    for damaged in (kept.replace(b"\0deploy", b"\0deplo\xff"), kept.replace(b"\0deploy", b"\x93deploy"), kept[:-1]):
        record.write_bytes(damaged)
        assert names(Catalog.discover().entries()) == ["deploy"]


@pytest.mark.usefixtures("project")
def test_a_forged_stamp_lists_a_skill_that_no_load_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    skill = locked("deploy")
    lock(skill)
    assert names(Catalog.discover().entries()) == ["deploy"]
    monkeypatch.setattr("prowess._internal.files.tree_stamp.FoldedStamp.first_of", lambda _self, _root: 1)
    edit(place_of(skill) / "scripts" / "run.sh", "#!/bin/sh\necho other\n")
    catalog = Catalog.discover()
    assert names(catalog.entries()) == ["deploy"]
    monkeypatch.undo()
    with pytest.raises(SkillNotFoundError, match="not those that prowess"):
        catalog.skill("deploy")


@pytest.mark.usefixtures("project")
def test_the_name_in_the_lock_is_the_name_of_the_skill() -> None:
    tree = store("deploy")
    lock(locked("deploy", tree=tree))
    assert names(Catalog.discover().entries()) == ["deploy"]
    place_of(locked("deploy", tree=tree)).rename(place_of(locked("review", tree=tree)))
    lock(locked("review", tree=tree))
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    assert "its SKILL.md has the name 'deploy'" in finding(catalog, "catalog.locked").message


# ── equal names ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("project")
@pytest.mark.proves("governance.conflict.last-installed")
def test_of_equal_names_the_one_that_was_installed_last_is_used() -> None:
    lock(
        locked("deploy", version="1.0.0", package="acme", order=3),
        locked("deploy", version="2.0.0", package="beta", order=2),
        locked("review", version="1.1.0", package="acme", order=1),
        locked("review", version="2.1.0", package="beta", order=4),
    )
    catalog = Catalog.discover()
    assert [(entry.name, entry.source) for entry in catalog.entries()] == [("deploy", "acme"), ("review", "beta")]
    shadowed = [found.message for found in catalog.diagnostics if found.rule == "catalog.shadowed"]
    assert len(shadowed) == 2
    assert "still reachable as deploy@beta" in shadowed[0]


def test_a_copy_for_another_agent_is_no_conflict_as_long_as_its_document_is_the_same(project: Path) -> None:
    skill = locked("deploy")
    lock(skill, project=project)
    TrustStore().trust(str(project))
    copy = project / ".claude" / "skills" / "deploy"
    copy.mkdir(parents=True)
    document = (place_of(skill) / "SKILL.md").read_bytes()
    (copy / "SKILL.md").write_bytes(document)
    assert "catalog.shadowed" not in rules(Catalog.discover())
    (copy / "SKILL.md").write_bytes(document + b"More.\n")
    assert "in use is" in finding(Catalog.discover(), "catalog.shadowed").message


@pytest.mark.usefixtures("project")
@pytest.mark.proves("governance.conflict.namespace")
def test_each_copy_is_reached_by_its_package() -> None:
    lock(
        locked("deploy", version="1.0.0", package="acme", order=1),
        locked("deploy", version="2.0.0", package="@beta/tools", order=2),
        locked("deploy", version="3.0.0", package="7zip", order=3),
    )
    catalog = Catalog.discover()
    for text, version in (
        ("deploy", "3.0.0"),
        ("deploy@acme", "1.0.0"),
        ("acme/deploy", "1.0.0"),
        ("deploy@beta/tools", "2.0.0"),
        ("@beta/tools/deploy", "2.0.0"),
        ("7zip/deploy", "3.0.0"),
    ):
        assert catalog.get(text).source_version == version, text
    with pytest.raises(SkillNotFoundError):
        catalog.get("deploy@7zip")  # asks for a version


@pytest.mark.usefixtures("project")
def test_one_tree_of_two_packages_is_reached_by_both() -> None:
    tree = store("deploy")
    lock(
        locked("deploy", tree=tree, version="1.0.0", package="acme", order=1),
        locked("deploy", tree=tree, version="1.0.1", package="beta", order=2),
    )
    catalog = Catalog.discover()
    assert {catalog.get(text).source for text in ("deploy", "deploy@acme", "beta/deploy", "deploy@1.0.0")} == {"beta"}


@pytest.mark.usefixtures("project")
def test_no_package_of_a_tree_gets_the_label_of_a_plugin(tmp_path: Path) -> None:
    write_skill(tmp_path / "acme" / "skills" / "review")
    tree = store("deploy")
    lock(
        locked("deploy", tree=tree, package="acme", order=1),
        locked("deploy", tree=tree, package="beta", order=2),
    )
    catalog = Catalog.discover(plugins=[tmp_path / "acme"])
    assert catalog.find("deploy@acme") is None
    assert catalog.get("deploy@acme-2").source == "beta"


def test_a_persons_lock_is_above_that_of_the_project_and_below_every_other_layer(project: Path) -> None:
    TrustStore().trust(str(project))
    lock(locked("deploy", version="1.0.0", order=9), locked("review", version="1.0.0"), project=project)
    lock(locked("deploy", version="2.0.0", order=1))
    catalog = Catalog.discover()
    assert catalog.get("deploy").source_version == "2.0.0"
    assert catalog.get("deploy@1.0.0").source == "acme-2"
    assert catalog.get("review").source == "acme-2"
    write_skill(project / ".prowess" / "skills" / "deploy")
    catalog.refresh()
    assert catalog.get("deploy").layer == "project"
    assert catalog.get("deploy@acme").source_version == "2.0.0"


@pytest.mark.usefixtures("project")
def test_a_given_plugin_is_above_the_locks_and_keeps_its_name(tmp_path: Path) -> None:
    write_skill(tmp_path / "acme" / "skills" / "deploy")
    lock(locked("deploy"))
    catalog = Catalog.discover(plugins=[tmp_path / "acme"])
    assert catalog.get("deploy").root_dir == str(tmp_path / "acme" / "skills" / "deploy")
    assert catalog.get("deploy@acme").root_dir == str(tmp_path / "acme" / "skills" / "deploy")
    assert catalog.get("deploy@acme-2").source_version == "1.0.0"


# ── versions ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("project")
@pytest.mark.proves("governance.version.request")
def test_a_version_is_that_version_or_nothing() -> None:
    lock(
        locked("deploy", version="1.0.0", package="acme", order=1),
        locked("deploy", version="2.0.0-rc.1+linux", package="beta", order=2),
    )
    catalog = Catalog.discover()
    assert catalog.get("deploy@1.0.0").source == "acme"
    assert catalog.skill("deploy@2.0.0-rc.1+linux").description == "Does 2.0.0-rc.1+linux."
    for text in ("deploy@1", "deploy@2.0.0", "deploy@3.0.0", "deploy@1.0.0 "):
        with pytest.raises(SkillNotFoundError, match="has the version"):
            catalog.get(text)


def test_a_version_of_a_skill_without_a_lock_is_its_own(project: Path) -> None:
    catalog = Catalog(str(project))
    write_skill(project / "deploy", extra="metadata:\n  version: '1.2.0'\n")
    write_skill(project / "review")
    assert catalog.get("deploy@1.2.0").name == "deploy"
    for text in ("deploy@1.2.1", "review@1.2.0"):
        with pytest.raises(SkillNotFoundError, match="version"):
            catalog.get(text)


def test_a_version_does_not_reach_a_copy_that_a_higher_layer_replaced(project: Path, own_home: Path) -> None:
    write_skill(own_home / ".prowess" / "skills" / "deploy", extra="metadata:\n  version: '1.0.0'\n")
    write_skill(project / ".prowess" / "skills" / "deploy", extra="metadata:\n  version: '2.0.0'\n")
    catalog = Catalog.discover(trust_project=True)
    assert catalog.get("deploy@1.0.0").layer == "personal"
    with pytest.raises(SkillNotFoundError, match="there is 1"):
        catalog.get("deploy@2.0.0")


# ── keeping up to date ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("project")
def test_a_catalog_follows_its_lock() -> None:
    catalog = Catalog.discover()
    assert names(catalog.entries()) == []
    first, second = locked("deploy"), locked("review")
    path = lock(first)
    catalog.look_again()
    assert names(catalog.entries()) == ["deploy"]
    entry = catalog.get("deploy")
    lock(first, second)
    catalog.look_again()
    assert names(catalog.entries()) == ["deploy", "review"]
    assert catalog.get("deploy") is entry
    path.unlink()
    catalog.look_again()
    assert names(catalog.entries()) == []
    assert rules(catalog) == []


def test_one_name_is_found_without_looking_at_the_others(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TrustStore().trust(str(project))
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    monkeypatch.setattr("prowess.catalog.memo.index.LEAST_SKILLS", 0)
    lock(locked("deploy"), locked("review", package="acme"))
    assert len(Catalog.discover().entries()) == 2
    catalog = Catalog.discover()
    assert catalog.get("deploy@acme").name == "deploy"
    assert catalog.find("review@1.0.0") is not None
    assert catalog.last_scan is None  # the index was enough


# ── links for other agents ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("link", ["skills/deploy", "skills"], ids=["a skill", "the folder"])
def test_a_link_into_the_store_does_not_offer_a_skill_whose_files_changed(project: Path, link: str) -> None:
    skill = locked("deploy")
    lock(skill, project=project)
    agent = project / ".claude"
    (agent / link).parent.mkdir(parents=True)
    (agent / link).symlink_to(place_of(skill) if link != "skills" else place_of(skill).parent)
    catalog = Catalog.discover(trust_project=True)
    (entry,) = catalog.entries()
    assert (entry.layer, entry.source) == ("plugin", "acme"), "the lock offers it, not the directory of the agent"
    assert rules(catalog) == []
    edit(place_of(skill) / "scripts" / "run.sh", "#!/bin/sh\necho other\n")
    catalog.refresh()
    assert names(catalog.entries()) == []
    assert finding(catalog, "catalog.locked").skill == "deploy"
    (named,) = Catalog(str(agent / "skills")).entries()
    assert named.name == "deploy", "a root that a person names is listed as it is"
