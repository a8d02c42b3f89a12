"""Names that are switched off: by the caller, the environment, the user's file, and a project for its own skills."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog
from prowess.catalog import DirectorySource, Layer
from prowess.catalog.project import plugin_sources
from prowess.cli.dispatch import run
from prowess.errors import ConfigurationError, InvalidArgumentsError, SkillNotFoundError
from tests.catalog.making import names, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("csv-report", "csv-split", "pdf"):
        write_skill(tmp_path / "skills" / name)
    return tmp_path / "skills"


@pytest.fixture
def home(own_home: Path) -> Path:
    (own_home / ".prowess").mkdir(mode=0o700)
    return own_home / ".prowess"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    for name in ("ours", "theirs"):
        write_skill(root / ".prowess" / "skills" / name)
    monkeypatch.chdir(root)
    return root


@pytest.mark.proves("catalog.disabled.hides")
def test_patterns_of_the_caller_hide_the_skills_whose_names_fit(root: Path) -> None:
    assert names(Catalog(root, disabled=["csv-*"]).entries()) == ["pdf"]
    assert names(Catalog(root, disabled=["pdf", "csv-s?lit"]).entries()) == ["csv-report"]
    assert names(Catalog(root, disabled=["PDF", "csv"]).entries()) == ["csv-report", "csv-split", "pdf"]
    catalog = Catalog(root, disabled=["csv-*"])
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.get("csv-report")
    assert (absent.value.reason, absent.value.suggestions) == (None, ())
    assert catalog.match("/csv-report, a report on csv", bodies=True) == ()
    (copy,) = catalog.why("csv-report").copies
    assert (copy.state, copy.rule) == ("disabled", "catalog.disabled")
    assert copy.reason == "disabled (the pattern 'csv-*' of the argument disabled fits its name)"


@pytest.mark.parametrize("wrong", [[""], ["x" * 201], [3], ["a"] * 1001])
def test_a_pattern_that_cannot_be_used_is_refused(root: Path, wrong: list[str]) -> None:
    with pytest.raises(InvalidArgumentsError, match="disabled: "):
        Catalog(root, disabled=wrong)


def test_one_text_is_one_pattern(root: Path) -> None:
    assert names(Catalog(root, disabled="csv-*").entries()) == ["pdf"]


def test_the_variable_and_the_users_file_add_patterns_at_each_refresh(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog(root, disabled=["csv-split"])
    assert names(catalog.entries()) == ["csv-report", "pdf"]
    monkeypatch.setenv("PROWESS_DISABLED", " pdf , ")
    catalog.refresh()
    assert names(catalog.entries()) == ["csv-report"]
    (home / "config.toml").write_text('disabled = ["csv-r*"]\n')
    catalog.refresh()
    assert names(catalog.entries()) == []
    (copy,) = catalog.why("csv-report").copies
    assert str(home / "config.toml") in copy.reason
    (home / "config.toml").unlink()
    monkeypatch.delenv("PROWESS_DISABLED")
    catalog.refresh()
    assert names(catalog.entries()) == ["csv-report", "pdf"]


def test_a_faulty_users_file_is_an_error_at_first_and_later_keeps_the_last_patterns(root: Path, home: Path) -> None:
    (home / "config.toml").write_text("disabled = 3\n")
    with pytest.raises(ConfigurationError, match="disabled: must be a list of names"):
        Catalog(root).entries()
    (home / "config.toml").write_text('disabled = ["csv-*"]\n')
    catalog = Catalog(root)
    assert names(catalog.entries()) == ["pdf"]
    for fault in ("disabled = 3\n", 'disabled = ["csv-*"\n'):
        (home / "config.toml").write_text(fault)
        catalog.refresh()
        assert names(catalog.entries()) == ["pdf"]
        (notice,) = catalog.notices
        assert (notice.code, "the last valid settings stay in force" in notice.message) == ("settings_unreadable", True)


def test_a_command_reports_a_faulty_users_file(root: Path, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text('disabled = "csv-*"\n')
    assert run(["list", "--root", str(root)]) == 2
    printed = capfd.readouterr()
    assert "config.toml:1: disabled: must be a list of names or patterns of names" in printed.err
    assert printed.out == ""


@pytest.mark.proves("catalog.disabled.enterprise", "governance.override.enterprise-final")
@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="an enterprise skill belongs to root")
def test_an_enterprise_skill_is_never_hidden(
    tmp_path: Path, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "etc" / "ours", description="By the rules.")
    (home / "config.toml").write_text('disabled = ["*"]\n')
    (project / "prowess.toml").write_text('disabled = ["*"]\n')
    monkeypatch.setenv("PROWESS_DISABLED", "ours,*")
    catalog = Catalog.discover(enterprise_root=str(tmp_path / "etc"), trust_project=True, disabled=["*", "ours"])
    assert names(catalog.entries()) == ["ours"]
    assert [(copy.layer.value, copy.state) for copy in catalog.why("ours").copies] == [
        ("enterprise", "active"),
        ("project", "disabled"),
    ]


@pytest.mark.proves("catalog.disabled.project-file")
@pytest.mark.parametrize(
    ("file", "text"),
    [("prowess.toml", 'disabled = ["*s"]\n'), ("pyproject.toml", '[tool.prowess]\ndisabled = ["*s"]\n')],
)
def test_a_project_switches_off_its_own_skills_alone(
    project: Path, home: Path, tmp_path: Path, file: str, text: str
) -> None:
    write_skill(home / "skills" / "mine-s")
    write_skill(tmp_path / "acme" / "skills" / "plugin-s")
    (project / file).write_text(text)
    catalog = Catalog.discover(trust_project=True, plugins=[tmp_path / "acme"])
    assert names(catalog.entries()) == ["mine-s", "plugin-s"]
    assert {copy.state for copy in catalog.why("ours").copies} == {"disabled"}
    assert str(project / file) in catalog.why("ours").copies[0].reason
    assert names(Catalog(tmp_path / "project" / ".prowess" / "skills").entries()) == ["ours", "theirs"]


def test_the_nearest_settings_file_of_the_project_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "prowess.toml").write_text('disabled = ["ours"]\n')
    (project / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(project / "a" / "b")
    assert names(Catalog.discover(trust_project=True).entries()) == ["theirs"]
    (project / "a" / "pyproject.toml").write_text("[project]\nname = 'prowess-user'\n")
    assert names(Catalog.discover(trust_project=True).entries()) == ["theirs"]
    (project / "a" / "prowess.toml").write_text('disabled = ["theirs"]\n')
    assert names(Catalog.discover(trust_project=True).entries()) == ["ours"]


def test_a_settings_file_inside_a_skill_switches_nothing_off(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = project / ".prowess" / "skills" / "ours"
    (skill / "prowess.toml").write_text('disabled = ["*"]\n')
    monkeypatch.chdir(skill)
    assert names(Catalog.discover(trust_project=True).entries()) == ["ours", "theirs"]


def test_a_faulty_project_file_is_a_notice(project: Path) -> None:
    (project / "prowess.toml").write_text("disabled = 3\n")
    catalog = Catalog.discover(trust_project=True)
    assert names(catalog.entries()) == ["ours", "theirs"]
    (notice,) = catalog.notices
    assert notice.code == "settings_unreadable"
    path = project / "prowess.toml"
    assert notice.message == (
        f"the disabled names of this project are not used: {path}:1: disabled: must be a list of names or patterns of "
        "names, not 3; correct the file"
    )


def test_across_layers_the_name_stays_closed_and_in_a_layer_the_next_copy_is_used(tmp_path: Path) -> None:
    write_skill(tmp_path / "acme" / "skills" / "deploy", description="acme")
    write_skill(tmp_path / "globex" / "skills" / "deploy", description="globex")
    plugins = plugin_sources([str(tmp_path / "globex"), str(tmp_path / "acme")])
    assert Catalog(*plugins).get("deploy").description == "acme"
    for pattern in ("deploy@acme", "acme/deploy", "acme/*", "*@acme"):
        catalog = Catalog(*plugins, disabled=[pattern])
        assert catalog.get("deploy").description == "globex"
        assert catalog.diagnostics == ()
    write_skill(tmp_path / "mine" / "deploy")
    mine = DirectorySource(str(tmp_path / "mine"), layer=Layer.PERSONAL)
    catalog = Catalog(mine, *plugins, disabled=["deploy"])
    assert catalog.entries() == ()
    assert catalog.diagnostics == ()


def test_a_skill_with_a_fault_and_a_disabled_name_is_not_reported(root: Path) -> None:
    (root / "csv-report" / "SKILL.md").write_text("no front matter")
    (root / "csv-split" / "SKILL.md").write_text("---\nname: csv-split\ndescription: d\ncolour: red\n---\n")
    assert Catalog(root).diagnostics
    catalog = Catalog(root, disabled=["csv-*"])
    assert catalog.diagnostics == ()
    (copy,) = catalog.why("csv-report").copies
    assert (copy.state, copy.rule) == ("disabled", "catalog.disabled")
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.get("csv-report")
    assert absent.value.reason is None


def test_a_held_back_skill_with_a_disabled_name_is_in_no_notice(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.exists()
    monkeypatch.setenv("PROWESS_DISABLED", "ours")
    catalog = Catalog.discover()
    (notice,) = catalog.notices
    assert "1 skill of the project" in notice.message
    assert ": theirs; to offer" in notice.message
    assert catalog.why("ours").copies[0].state == "held_back"
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.get("ours")
    assert absent.value.reason is None
    monkeypatch.setenv("PROWESS_DISABLED", "*")
    catalog.refresh()
    assert catalog.notices == ()


# ── the order of the layers, from the command line ───────────────────────────────────────────────────────


def _used(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["why", "deploy", "--json", "--trust-project", *words]) == 0
    document = json.loads(capfd.readouterr().out)
    return next(str(copy["layer"]) for copy in document["copies"] if copy["state"] == "active")


@pytest.mark.proves("catalog.order.project-file", "catalog.order.setting")
def test_the_order_is_the_flag_the_variable_the_users_file_and_never_the_projects_file(
    project: Path, home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(home / "skills" / "deploy")
    write_skill(project / ".prowess" / "skills" / "deploy")
    (project / "prowess.toml").write_text('[layers]\norder = "project-first"\n')
    assert _used(capfd) == "personal"
    run(["list", "--trust-project"])
    assert f"layers.order in {project / 'prowess.toml'} is ignored" in capfd.readouterr().err
    (home / "config.toml").write_text('[layers]\norder = "project-first"\n')
    assert _used(capfd) == "project"
    monkeypatch.setenv("PROWESS_LAYERS_ORDER", "personal-first")
    assert _used(capfd) == "personal"
    assert _used(capfd, "--layers-order", "project-first") == "project"
    monkeypatch.setenv("PROWESS_LAYERS_ORDER", "plugin-first")
    assert run(["list"]) == 2
    assert "PROWESS_LAYERS_ORDER: 'plugin-first' is not one of personal-first, project-first" in capfd.readouterr().err
    assert run(["list", "--layers-order", "x"]) == 2
