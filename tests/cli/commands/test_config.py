"""`prowess config show`, and the settings of `prowess check`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.cli.main import COMMANDS
from prowess.config import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

Said = Callable[..., tuple[int, str, str]]
_DESCRIPTION = "Sums up the tables of a report. Use when someone asks for the totals of a CSV table or report."
_SKILL = f"---\nname: {{}}\ndescription: {_DESCRIPTION}\n---\n[x](no.md)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with skills and settings, in which the tests run."""
    for name in ("skills/a", "skills/données", "vendor/b", "fixtures/c"):
        (tmp_path / name).mkdir(parents=True)
        text = _SKILL.format(name.rpartition("/")[2]) if name != "fixtures/c" else "no skill"
        (tmp_path / name / "SKILL.md").write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / "prowess.toml").write_text(
        'exclude = ["fixtures"]\n[severity]\n"name.ascii" = "error"\n[paths."vendor/**"]\nignore = ["lint"]\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Said:
    def read(*words: str) -> tuple[int, str, str]:
        code = run(list(words))
        out, err = capfd.readouterr()
        return code, out, err

    return read


def _judged(out: str) -> list[tuple[str, str, str]]:
    return [(one["path"], one["rule"], one["severity"]) for one in json.loads(out)["diagnostics"]]


def test_check_obeys_the_file_the_variables_and_the_flags(
    project: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = said("check", "--json")
    assert code == 1
    assert _judged(out) == [
        ("skills/a/SKILL.md", "reference.missing", "warning"),
        ("skills/données/SKILL.md", "name.ascii", "error"),
        ("skills/données/SKILL.md", "reference.missing", "warning"),
    ]
    assert (err, json.loads(out)["summary"]["skills"]) == ("", 4)
    assert (project / "prowess.toml").exists()
    monkeypatch.setenv("PROWESS_SEVERITY", "lint=off")
    assert [rule for _, rule, _ in _judged(said("check", "--json")[1])] == ["name.ascii"]
    assert said("check", "--json", "--severity", "name.ascii=off")[:1] == (0,)
    monkeypatch.setenv("PROWESS_FORMAT", "json")
    assert json.loads(said("check", "skills/a")[1])["summary"]["skills"] == 1
    assert said("check", "skills/a", "--format", "text")[1] == "no faults in 1 skill\n"
    assert said("check", "skills/a", "--isolated", "--format", "text")[1].endswith("no faults in 1 skill\n")


def test_an_untrusted_exclusion_still_leaves_the_skill_to_the_security_rules(project: Path, said: Said) -> None:
    untrusted = json.loads(said("check", "fixtures", "--json")[1])
    assert (untrusted["summary"]["skills"], untrusted["diagnostics"]) == (1, [])
    assert (project / "fixtures" / "c").exists()


def test_a_wrong_setting_is_two_and_every_fault_is_a_line(project: Path, said: Said) -> None:
    (project / "prowess.toml").write_text('profil = "spec"\nselect = ["nmae"]\n')
    code, out, err = said("check", "--preset", "stric\x1b[31mt")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        (
            "error: --preset: 'stric\\x1b[31mt' is not one of recommended, strict, quiet, minimal, portable;"
            " did you mean 'strict'?"
        ),
        f"{project}/prowess.toml:1: profil: is no setting here; did you mean 'profile'?",
        f"{project}/prowess.toml:2: select: no rule or family is called 'nmae'; did you mean name?",
    ]
    assert said("check", "skills/a", "--isolated")[0] == 0


@pytest.mark.proves("tooling.cli.check-exit")
def test_check_exits_with_zero_one_or_two(project: Path, said: Said) -> None:
    assert said("check", "skills/a")[0] == 0  # a warning
    assert said("check", "skills/a", "--isolated", "--ignore", "lint")[0] == 0
    assert said("check", "skills/données")[0] == 1
    assert said("check", "skills/a", "--no-such-flag")[0] == 2
    assert said("check", "skills/gone")[0] == 2
    (project / "prowess.toml").write_text("profil = 1\n")
    assert said("check", "skills/a")[0] == 2


def test_what_lies_in_a_skill_is_no_setting_also_from_inside(
    project: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "skills" / "a" / "prowess.toml").write_text('select = ["name"]\n')
    monkeypatch.chdir(project / "skills" / "a")
    code, out, err = said("check", "--json")
    assert code == 0
    assert [rule for _, rule, _ in _judged(out)] == ["reference.missing"]
    assert err == f"{project}/skills/a/prowess.toml is not read: it is inside the skill {project}/skills/a\n"
    assert said("check", "--config", "prowess.toml")[0] == 2


def test_show_says_where_each_value_was_set(project: Path, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROWESS_IGNORE", "name.ascii")
    code, out, _ = said("config", "show", "--preset", "strict")
    assert code == 0
    assert out.splitlines() == [
        "profile       spec                default",
        "preset        strict              --preset",
        "select        as in the profile   default",
        "ignore        name.ascii          PROWESS_IGNORE",
        "severity      name.ascii = error  prowess.toml:3",
        "exclude       fixtures            prowess.toml:1",
        "suppressions  trusted             default",
        "format        text                default",
        "disabled      none                default",
        "layers.order  personal-first      default",
        "registries    none                default",
        "prowess.toml:4 for vendor/**: ignore lint",
        "this project is not trusted: its file cannot lower findings of the family security (`prowess trust`)",
    ]
    lines = said("config", "show", "vendor/b")[1].splitlines()
    assert "ignore        name.ascii          PROWESS_IGNORE" in lines
    assert "fixtures/c is excluded" in said("config", "show", "fixtures/c")[1].splitlines()
    assert str(project) not in out


def test_show_is_one_document_with_stable_keys(project: Path, said: Said) -> None:
    document = json.loads(said("config", "show", "--json", "vendor/b")[1])
    file = f"{project}/prowess.toml"
    assert list(document) == ["files", "trusted", "notices", "skill", "excluded", "settings", "paths"]
    assert document["files"] == [{"path": file, "kind": "project"}]
    assert document["trusted"] is False
    assert list(document["settings"]) == list(SETTINGS)
    assert document["settings"]["ignore"] == {
        "value": ["lint"],
        "origin": {"kind": "project", "name": file, "line": 5},
    }
    assert document["settings"]["severity"] == {
        "value": {"name.ascii": "error"},
        "origin": {"kind": "project", "name": file, "line": 2},
        "entries": {"name.ascii": {"kind": "project", "name": file, "line": 3}},
    }
    assert [one["pattern"] for one in document["paths"]] == ["vendor/**"]
    empty = json.loads(said("config", "show", "--json", "--isolated")[1])["settings"]
    assert empty["severity"]["value"] == {}
    assert empty["select"] == {"value": [], "origin": {"kind": "default", "name": "", "line": None}}


def test_a_trusted_project_is_said_to_be_one(project: Path, said: Said) -> None:
    assert said("trust", str(project))[0] == 0
    assert json.loads(said("config", "show", "--json")[1])["trusted"] is True
    assert said("check", "fixtures", "--json")[2] == "1 skill excluded by prowess.toml:1\n"
    (project / "pyproject.toml").write_text('[tool.prowess]\nprofile = "lenient"\n')
    assert said("config", "show")[0] == 2
    (project / "prowess.toml").unlink()
    assert json.loads(said("config", "show", "--json")[1])["settings"]["profile"]["origin"]["line"] == 2


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("words", "offers"),
    [
        ("check --profile b", ["boxxy"]),
        ("check --preset s", ["strict"]),
        ("check --select name.m", ["name.maxLength", "name.matchesDirectory"]),
        ("check --ignore spec,lin", ["spec,lint"]),
        ("validate --profile c", ["claude-code"]),
        ("read-properties --profile l", ["lenient"]),
    ],
)
def test_the_shell_completes_profiles_presets_and_rules(words: str, offers: list[str]) -> None:
    environment = {"_PROWESS_COMPLETE": "bash_complete", "COMP_WORDS": f"prowess {words}", "COMP_CWORD": "3"}
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['prowess']; from prowess.cli.main import main; main()"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert [line.partition(",")[2] for line in ran.stdout.splitlines()] == offers
    assert "config" in COMMANDS
