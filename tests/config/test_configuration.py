"""Which settings hold, where each was set, and what they mean for one skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.config import PRESETS, SETTINGS, Configuration, load_configuration
from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.errors import ConfigurationError
from prowess.format.rules.meta import RuleMeta, Severities
from prowess.lint import RULES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, and a home of its own."""
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


def load(project: Path, *, trusted: bool = True, **given: object) -> Configuration:
    given.setdefault("environment", {})
    return load_configuration(directory=str(project), is_trusted=lambda _directory: trusted, **given)  # type: ignore[arg-type]  # as given


def finding(rule: str, severity: Severity = Severity.WARNING, family: str = "spec") -> Diagnostic:
    return Diagnostic(rule=rule, family=family, severity=severity, message="m", location=Location(path="a/SKILL.md"))


def test_without_anything_every_setting_has_its_default(project: Path) -> None:
    configuration = load(project)
    assert {name: value.value for name, value in configuration.values().items()} == {
        name: setting.default for name, setting in SETTINGS.items()
    }
    assert {str(value.origin) for value in configuration.values().values()} == {"default"}


def test_a_flag_beats_the_environment_beats_the_project_beats_the_user_beats_the_default(project: Path) -> None:
    (project.parent / "home" / "config.toml").write_text('profile = "boxxy"\nformat = "json"\nignore = ["lint"]\n')
    (project / "prowess.toml").write_text('\nprofile = "lenient"\nignore = ["name"]\nselect = ["spec"]\n')
    environment = {"PROWESS_PROFILE": "claude-code", "PROWESS_SELECT": "spec, lint", "PROWESS_IGNORE": ""}
    values = load(project, flags={"--profile": ["skillscraft"]}, environment=environment).values()
    assert {name: (value.value, str(value.origin)) for name, value in values.items()} == {
        "profile": ("skillscraft", "--profile"),
        "preset": ("recommended", "default"),
        "select": (("spec", "lint"), "PROWESS_SELECT"),
        "ignore": (("name",), f"{project}/prowess.toml:3"),
        "severity": ((), "default"),
        "exclude": ((), "default"),
        "suppressions": ("trusted", "default"),
        "format": ("json", f"{project.parent}/home/config.toml:2"),
        "disabled": ((), "default"),
        "layers.order": ("personal-first", "default"),
        "registries": ((), "default"),
    }


def test_patterns_of_disabled_names_are_added_up(project: Path) -> None:
    (project.parent / "home" / "config.toml").write_text('disabled = ["csv-*"]\n[layers]\norder = "project-first"\n')
    (project / "prowess.toml").write_text('disabled = ["ours", "csv-*"]\n')
    configuration = load(project, environment={"PROWESS_DISABLED": "pdf, xlsx"})
    value = configuration.value("disabled")
    assert value.value == ("csv-*", "ours", "pdf", "xlsx")
    assert {name: str(origin) for name, origin in value.entries.items()} == {
        "csv-*": f"{project}/prowess.toml:1",
        "ours": f"{project}/prowess.toml:1",
        "pdf": "PROWESS_DISABLED",
        "xlsx": "PROWESS_DISABLED",
    }
    order = configuration.value("layers.order")
    assert (order.value, str(order.origin)) == ("project-first", f"{project.parent}/home/config.toml:3")


@pytest.mark.proves("catalog.order.project-file")
def test_a_project_cannot_set_the_order_of_the_layers(project: Path) -> None:
    (project / "prowess.toml").write_text('[layers]\norder = "project-first"\n')
    configuration = load(project)
    assert configuration.value("layers.order").value == "personal-first"
    (notice,) = configuration.notices
    assert notice.startswith(f"layers.order in {project}/prowess.toml is ignored, because a project cannot set it")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('disabled = "csv-*"', "disabled: must be a list of names or patterns of names, not 'csv-*'"),
        ('disabled = [""]', "disabled: a pattern is empty; write * for every name"),
        (
            '[layers]\norder = "plugin-first"',
            "layers.order: 'plugin-first' is not one of personal-first, project-first",
        ),
        ("layers = 3", "layers: must be a table with order"),
        ('[layers]\nordr = "project-first"', "layers.ordr: is no setting here; did you mean 'order'?"),
    ],
)
def test_faulty_settings_of_the_catalog_are_reported(project: Path, text: str, fault: str) -> None:
    (project.parent / "home" / "config.toml").write_text(f"{text}\n")
    with pytest.raises(ConfigurationError) as refused:
        load(project)
    assert any(fault in problem for problem in refused.value.problems)


def test_an_empty_flag_takes_back_what_a_file_says(project: Path) -> None:
    (project / "prowess.toml").write_text('ignore = ["name"]\n')
    assert load(project, flags={"--ignore": [""]}).value("ignore").value == ()
    assert load(project, flags={"--ignore": []}).value("ignore").value == ("name",)


def test_severities_are_joined_and_each_knows_its_line(project: Path) -> None:
    (project.parent / "home" / "config.toml").write_text('[severity]\nname = "info"\nlint = "off"\n')
    (project / "prowess.toml").write_text('[severity]\n\n"name.ascii" = "error"\nname = "warning"\n')
    value = load(project, flags={"--severity": ["lint=error"]}).value("severity")
    assert dict(value.value) == {  # type: ignore[call-overload]  # pairs
        "name": Severity.WARNING,
        "name.ascii": Severity.ERROR,
        "lint": Severity.ERROR,
    }
    assert {selector: str(origin).rpartition("/")[2] for selector, origin in value.entries.items()} == {
        "name": "prowess.toml:4",
        "name.ascii": "prowess.toml:3",
        "lint": "--severity",
    }


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_beaten_by_every_other_setting(project: Path, name: str) -> None:
    (project.parent / "home" / "config.toml").write_text('[severity]\n"name.ascii" = "info"\n')
    configuration = load(project, flags={"--preset": [name]})
    assert dict(configuration.value("severity").value)["name.ascii"] is Severity.INFO  # type: ignore[call-overload]  # pairs
    assert configuration.judgement().profile.name == "spec"


@pytest.mark.parametrize(
    ("preset", "reported"),
    [
        ("recommended", {"name.format": "error", "file.name": "warning", "name.ascii": "info"}),
        ("strict", {"name.format": "error", "file.name": "error", "name.ascii": "info"}),
        ("quiet", {"name.format": "error", "file.name": "warning"}),
        ("minimal", {"name.format": "error"}),
        ("portable", {"name.format": "error", "file.name": "error", "name.ascii": "error"}),
    ],
)
def test_presets_move_severities(project: Path, preset: str, reported: dict[str, str]) -> None:
    judgement = load(project, flags={"--preset": [preset]}).judgement()
    found = judgement.judge([finding(rule) for rule in ("name.format", "file.name", "name.ascii")])
    assert {one.rule: str(one.severity) for one in found} == reported


def test_paths_have_settings_of_their_own_and_the_later_counts(project: Path) -> None:
    (project / "prowess.toml").write_text(
        'profile = "boxxy"\n[paths."vendor/**"]\nprofile = "lenient"\nignore = ["lint"]\n'
        '[paths.old]\nprofile = "skills-ref"\n'
    )
    configuration = load(project, environment={"PROWESS_IGNORE": "name"})
    profiles = {
        path: configuration.judgement(f"{project}/{path}").profile.name
        for path in ("skills/a", "vendor/a", "vendor/x/old/a", "old", "vendor")
    }
    assert profiles == {
        "skills/a": "boxxy",
        "vendor/a": "lenient",
        "vendor/x/old/a": "skills-ref",
        "old": "skills-ref",
        "vendor": "boxxy",
    }
    assert configuration.value("ignore", f"{project}/vendor/a").value == ("name",)
    assert str(configuration.value("profile", f"{project}/vendor/a").origin).endswith("prowess.toml:3")
    assert configuration.judgement("/elsewhere/vendor/a").profile.name == "boxxy"
    assert configuration.judgement(f"{project}/vendor/b") is configuration.judgement(f"{project}/vendor/a")


def test_patterns_of_the_user_are_seen_from_the_root_of_the_system(project: Path) -> None:
    (project.parent / "home" / "config.toml").write_text(
        f'[paths."**/vendor/**"]\nprofile = "boxxy"\n[paths."{project}/x"]\nprofile = "lenient"\n'
    )
    configuration = load(project)
    assert configuration.judgement("/anywhere/vendor/a").profile.name == "boxxy"
    assert configuration.judgement(f"{project}/x/a").profile.name == "lenient"


def test_exclusions_are_seen_from_where_they_stand(project: Path) -> None:
    (project / "prowess.toml").write_text('exclude = ["fixtures/**"]\n')
    below = project / "deep"
    below.mkdir()
    assert load(below).excludes(f"{project}/fixtures/a")
    assert not load(below).excludes(f"{project}/deep/fixtures/a")
    by_flag = load(below, flags={"--exclude": ["fixtures"]})
    assert by_flag.excludes(f"{project}/deep/fixtures/a")
    assert not by_flag.excludes(f"{project}/fixtures/a")
    assert by_flag.judgement(f"{project}/deep/fixtures").excluded
    assert not load(below).excludes(str(project))


@pytest.mark.parametrize(
    "lowers",
    [
        'ignore = ["lint", "security"]',
        'select = ["spec"]',
        '[severity]\nlint = "off"',
        'preset = "minimal"',
        'exclude = ["."]',
        '[paths."."]\nselect = ["name"]',
    ],
)
def test_an_untrusted_project_never_lowers_security(
    project: Path, lowers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = RuleMeta(id="security.x", family="security", severities=Severities(spec=Severity.WARNING), summary="s")
    monkeypatch.setattr("prowess.lint.RULES", {**RULES, "security.x": stand_in})
    (project / "prowess.toml").write_text(f"{lowers}\n")
    found = finding("security.x", Severity.WARNING, "security")
    skill = f"{project}/skills/a"
    assert load(project, trusted=False).judgement(skill).judge([found]) == [found]
    assert load(project, trusted=False).judgement(skill).keeps(stand_in)


def test_an_untrusted_project_may_raise_security_and_lower_the_rest(project: Path) -> None:
    (project / "prowess.toml").write_text('preset = "strict"\nignore = ["name"]\n')
    judgement = load(project, trusted=False).judgement(str(project))
    found = judgement.judge([finding("security.x", family="security"), finding("name.format")])
    assert [(one.rule, one.severity) for one in found] == [("security.x", Severity.ERROR)]


def test_a_trusted_project_and_a_named_file_may_exclude(project: Path) -> None:
    (project / "prowess.toml").write_text('exclude = ["."]\n')
    found = finding("security.x", family="security")
    assert load(project).judgement(str(project)).judge([found]) == []
    named = load(project, trusted=False, file=f"{project}/prowess.toml")
    assert named.judgement(str(project)).judge([found]) == []
    assert named.trusted
    untrusted = load(project, trusted=False).judgement(str(project))
    assert [one.rule for one in untrusted.judge([found, finding("name.format")])] == ["security.x"]


def test_nobody_is_trusted_unless_somebody_says_so(project: Path) -> None:
    (project / "prowess.toml").write_text('profile = "boxxy"\n')
    assert load_configuration(directory=str(project), environment={}).trusted is False
    assert load_configuration(directory=str(project), environment={}, isolated=True).trusted is True


def test_every_fault_of_every_place_is_told_at_once(project: Path) -> None:
    (project.parent / "home" / "config.toml").write_text("profil = 1\n")
    (project / "prowess.toml").write_text('select = ["nmae"]\n')
    with pytest.raises(ConfigurationError) as refusal:
        load(project, flags={"--profile": ["boxy"]}, environment={"PROWESS_SEVERITY": "name.ascii"})
    flag, variable, file, user = refusal.value.problems
    assert flag.startswith("--profile: 'boxy' is not one of spec, ")
    assert flag.endswith("did you mean 'boxxy'?")
    assert variable == "PROWESS_SEVERITY: name.ascii: '' is not one of error, warning, info, off"
    assert file == f"{project}/prowess.toml:1: select: no rule or family is called 'nmae'; did you mean name?"
    assert user == f"{project.parent}/home/config.toml:1: profil: is no setting here; did you mean 'profile'?"


def test_a_named_file_takes_the_place_of_the_projects_also_from_the_environment(project: Path) -> None:
    (project / "prowess.toml").write_text('profile = "boxxy"\n')
    other = project.parent / "other.toml"
    other.write_text('profile = "lenient"\n')
    assert load(project, file=str(other)).value("profile").value == "lenient"
    assert load(project, environment={"PROWESS_CONFIG": str(other)}).value("profile").value == "lenient"
    assert load(project, environment={"PROWESS_CONFIG": str(other)}, isolated=True).value("profile").value == "spec"
    with pytest.raises(ConfigurationError, match=r"gone\.toml: No such file or directory"):
        load(project, file=str(project / "gone.toml"))
    (project / "pyproject.toml").write_text('[project]\nname = "prowess-x"\n')
    with pytest.raises(ConfigurationError, match=r"has no table \[tool\.prowess\]"):
        load(project, file=str(project / "pyproject.toml"))


def test_a_working_directory_that_is_gone_has_no_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert load_configuration(environment={}).value("profile").value == "spec"
