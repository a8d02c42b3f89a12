"""A named root never takes the place of the enterprise layer; a skill is visible only within its scope."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog, Session
from prowess.catalog.sources import enterprise
from prowess.cli.dispatch import run
from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="an enterprise skill belongs to root")
_SCOPED = "scope:\n  environments: [production, staging]\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the enterprise layer of this test's machine; it holds nothing yet."""
    place = tmp_path / "etc" / "skills"
    monkeypatch.setattr(enterprise, "ENTERPRISE_ROOT", str(place))
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_skill(tmp_path / "mine", "deploy")
    write_skill(tmp_path / "mine", "own")
    return tmp_path / "mine"


def _listed(catalog: Catalog) -> list[tuple[str, str]]:
    return [(entry.name, entry.layer.value) for entry in catalog.entries()]


@pytest.mark.proves("governance.layers.root")
def test_a_named_root_replaces_three_layers_and_never_the_enterprise(
    machine: Path, root: Path, own_home: Path, tmp_path: Path
) -> None:
    write_skill(machine, "deploy")
    write_skill(own_home / ".prowess" / "skills", "personal")
    write_skill(tmp_path / ".prowess" / "skills", "project")
    assert _listed(Catalog(root)) == [("deploy", "enterprise"), ("own", "project")]
    assert Catalog(root).why("deploy").shadowed[0].layer.value == "project"
    session = Session(Catalog(root))
    assert session.completions() == ("deploy", "own")


@pytest.mark.proves("governance.layers.root")
def test_to_leave_the_enterprise_out_is_refused_where_there_is_one(
    machine: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _listed(Catalog(root, only=True)) == [("deploy", "project"), ("own", "project")]
    assert run(["list", "--root", str(root), "--only-root"]) == 0
    machine.mkdir(parents=True)
    assert _listed(Catalog(root, only=True)) == [("deploy", "project"), ("own", "project")]
    broken = machine / "broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("nothing", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(InvalidArgumentsError, match="cannot be left out"):
            Catalog(root, only=True)
        capsys.readouterr()
        assert run(["list", "--root", str(root), "--only-root"]) != 0
        assert "cannot be left out" in capsys.readouterr().err
        (broken / "SKILL.md").unlink(missing_ok=True)
        write_skill(machine, "good")
    assert run(["list", "--only-root"]) == 2


@pytest.mark.proves("governance.layers.root")
def test_further_places_add_and_remove_none(machine: Path, root: Path, tmp_path: Path) -> None:
    write_skill(machine, "of-machine")
    write_skill(tmp_path / "more", "of-more")
    write_skill(tmp_path / "acme" / "skills", "of-plugin")
    for catalog in (
        Catalog(root, enterprise_root=str(tmp_path / "more")),
        Catalog.discover(cwd=tmp_path / "acme", enterprise_root=str(tmp_path / "more"), plugins=[tmp_path / "acme"]),
    ):
        listed = dict(_listed(catalog))
        assert (listed["of-machine"], listed["of-more"]) == ("enterprise", "enterprise")
    assert run(["why", "of-machine", "--root", str(root), "--plugin", str(tmp_path / "acme")]) == 0
    assert run(["why", "of-plugin", "--root", str(root), "--plugin", str(tmp_path / "acme")]) == 0


def test_an_enterprise_skill_that_appears_is_listed_after_a_look(machine: Path, root: Path) -> None:
    catalog = Catalog(root)
    write_skill(machine, "new")
    catalog.refresh()
    assert ("new", "enterprise") in _listed(catalog)


# ── scope ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def scoped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PROWESS_ENVIRONMENT", raising=False)
    write_skill(tmp_path / "mine", "release", extra=_SCOPED)
    write_skill(tmp_path / "mine", "audit", extra="scope:\n  agents: reviewer\n  tenants: acme\n")
    write_skill(tmp_path / "mine", "free")
    return tmp_path / "mine"


def _names(catalog: Catalog) -> list[str]:
    return [entry.name for entry in catalog.entries()]


@pytest.mark.proves("governance.scope.environments")
def test_a_skill_is_visible_in_its_environments_alone(
    scoped: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _names(Catalog(scoped)) == ["free"]
    assert _names(Catalog(scoped, environment="production")) == ["free", "release"]
    assert _names(Catalog(scoped, environment="development")) == ["free"]
    (own_home / ".prowess").mkdir(mode=0o700)
    config = own_home / ".prowess" / "config.toml"
    config.write_text('[session]\nenvironment = "staging"\n', encoding="utf-8")
    assert _names(Catalog(scoped)) == ["free", "release"]
    monkeypatch.setenv("PROWESS_ENVIRONMENT", "development")
    assert _names(Catalog(scoped)) == ["free"]
    monkeypatch.setenv("PROWESS_ENVIRONMENT", "production")
    assert _names(Catalog(scoped)) == ["free", "release"]
    assert _names(Catalog(scoped, environment="development")) == ["free"]
    monkeypatch.delenv("PROWESS_ENVIRONMENT")
    config.write_text("[session", encoding="utf-8")
    assert _names(Catalog(scoped)) == ["free"]


@pytest.mark.proves("governance.scope.environments")
def test_no_file_of_a_project_sets_the_environment(
    scoped: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prowess.toml").write_text('[session]\nenvironment = "production"\n', encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert own_home.exists()
    assert _names(Catalog(scoped)) == ["free"]


@pytest.mark.anyio
@pytest.mark.proves("governance.scope.environments")
async def test_a_hidden_skill_is_answered_like_one_that_does_not_exist(scoped: Path) -> None:
    catalog = Catalog(scoped)
    session = Session(catalog)
    for name in ("release", "relaese"):
        with pytest.raises(SkillNotFoundError) as caught:
            catalog.get(name)
        assert (caught.value.reason, caught.value.suggestions) == (None, ())
        assert not (await session.call("skills.load", {"names": [name]})).success
        assert not (await session.call("skill", {"skill": name})).success
    (copy,) = catalog.why("release").copies
    assert (copy.state, copy.rule) == ("out_of_scope", "catalog.scope")
    assert "its scope allows environments production, staging, but none is known" in copy.reason
    inside = Session(Catalog(scoped, environment="production"))
    assert (await inside.call("skills.load", {"names": ["release"]})).success


@pytest.mark.proves(
    "catalog.scope.agent", "governance.scope.agents", "governance.scope.tenants", "governance.scope.combined"
)
def test_agents_and_tenants_must_fit_as_well(scoped: Path) -> None:
    assert "audit" in _names(Catalog(scoped, agent="reviewer", tenant="acme"))
    for audience in ({"agent": "reviewer"}, {"tenant": "acme"}, {"agent": "other", "tenant": "acme"}):
        assert "audit" not in _names(Catalog(scoped, agent=audience.get("agent"), tenant=audience.get("tenant")))


def test_a_scope_that_cannot_be_read_hides_the_skill(scoped: Path) -> None:
    write_skill(scoped, "closed", extra="scope: production\n")
    catalog = Catalog(scoped, environment="production")
    assert "closed" not in _names(catalog)
    (copy,) = catalog.why("closed").copies
    assert "its scope cannot be read" in copy.reason
    assert not any("closed" in str(found.location.path) for found in catalog.diagnostics)


@pytest.mark.proves("catalog.scope.closed-below", "catalog.why.inactive")
def test_a_name_of_a_higher_layer_stays_closed_below_if_its_copy_is_out_of_scope(machine: Path, scoped: Path) -> None:
    write_skill(machine, "free", extra=_SCOPED)
    catalog = Catalog(scoped)
    assert _listed(catalog) == []
    assert catalog.diagnostics == ()
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.get("free")
    assert absent.value.reason is None
    assert [(copy.layer.value, copy.state, copy.rule) for copy in catalog.why("free").copies] == [
        ("enterprise", "out_of_scope", "catalog.scope"),
        ("project", "shadowed", "catalog.reserved"),
    ]
    assert ("free", "enterprise") in _listed(Catalog(scoped, environment="staging"))


@pytest.mark.proves("catalog.scope.same-layer")
def test_in_one_layer_the_copies_of_two_tenants_are_side_by_side(tmp_path: Path) -> None:
    for tenant in ("acme", "globex"):
        write_skill(tmp_path / tenant, "deploy", description=tenant, extra=f"scope:\n  tenants: {tenant}\n")
    for tenant in ("acme", "globex"):
        catalog = Catalog(tmp_path / "acme", tmp_path / "globex", tenant=tenant)
        assert catalog.get("deploy").description == tenant
        assert {found.location.path for found in catalog.diagnostics} == {catalog.get("deploy").location}
        assert len(catalog.all_entries()) == 1
    assert Catalog(tmp_path / "acme", tmp_path / "globex").entries() == ()


@pytest.mark.proves("governance.scope.environments")
def test_commands_take_the_environment(scoped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--root", str(scoped), "--environment", "production"]) == 0
    assert "release" in capsys.readouterr().out
    assert run(["load", "release", "--root", str(scoped)]) == 1
    assert run(["load", "release", "--root", str(scoped), "--environment", "staging"]) == 0
    capsys.readouterr()
    assert run(["why", "release", "--root", str(scoped)]) != 0
    assert "its scope allows environments" in capsys.readouterr().out
