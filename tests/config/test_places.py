"""Where settings are looked for, and where never."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.config import load_configuration
from prowess.config.settings_file import project_file
from prowess.errors import ConfigurationError
from prowess.format.skill_directories import skill_around

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "a" / "b").mkdir(parents=True)
    return root


def found_from(directory: Path) -> str | None:
    file = project_file(str(directory)).file
    return None if file is None or file.path is None else os.path.relpath(file.path, os.path.realpath(directory))


def test_the_nearest_file_counts_up_to_the_root_of_the_repository(project: Path) -> None:
    (project.parent / "prowess.toml").write_text('profile = "boxxy"\n')
    assert found_from(project / "a" / "b") is None
    (project / "pyproject.toml").write_text('[tool.prowess]\nprofile = "boxxy"\n')
    assert found_from(project / "a" / "b") == "../../pyproject.toml"
    (project / "a" / "pyproject.toml").write_text('[project]\nname = "prowess-plugin"\n')
    assert found_from(project / "a" / "b") == "../../pyproject.toml"
    (project / "a" / "prowess.toml").write_text("")
    assert found_from(project / "a" / "b") == "../prowess.toml"
    (project / "a" / "b" / ".git").write_text("gitdir: elsewhere\n")
    assert found_from(project / "a" / "b") is None


def test_without_a_repository_the_directory_stands_alone(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_text("")
    (tmp_path / "a").mkdir()
    assert found_from(tmp_path / "a") is None
    assert found_from(tmp_path) == "prowess.toml"


def test_two_files_in_one_directory_are_an_error(project: Path) -> None:
    (project / "prowess.toml").write_text("")
    (project / "pyproject.toml").write_text("[tool.prowess]\n")
    with pytest.raises(ConfigurationError, match=r"has settings in prowess\.toml and in \[tool\.prowess\]"):
        project_file(str(project))
    (project / "pyproject.toml").write_text('[tool.ruff]\nexclude = ["prowess"]\n')
    assert found_from(project) == "prowess.toml"


@pytest.mark.parametrize("name", ["SKILL.md", "skill.md"])
@pytest.mark.parametrize("settings", ["prowess.toml", "pyproject.toml"])
def test_what_lies_in_a_skill_is_passed_over_with_a_remark(project: Path, name: str, settings: str) -> None:
    (project / "prowess.toml").write_text('profile = "boxxy"\n')
    (project / "a" / name).write_text("---\n---\n")
    head = "[tool.prowess]\n" if settings == "pyproject.toml" else ""
    for directory in ("a", "a/b"):
        (project / directory / settings).write_text(f'{head}profile = "lenient"\n')
    found = project_file(str(project / "a" / "b"))
    assert found.file is not None
    assert found.file.values["profile"].value == "boxxy"
    assert [notice.partition(" is not read: it is inside the skill ")[0] for notice in found.notices] == [
        f"{project}/a/b/{settings}",
        f"{project}/a/{settings}",
    ]


def test_a_broken_file_in_a_skill_stops_nothing_and_an_ordinary_pyproject_is_no_remark(project: Path) -> None:
    (project / "a" / "SKILL.md").write_text("")
    (project / "a" / "prowess.toml").write_text("= broken")
    (project / "a" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert [notice.partition(" ")[0] for notice in project_file(str(project / "a")).notices] == [
        f"{project}/a/prowess.toml"
    ]


def test_a_link_into_a_skill_is_no_way_out_of_it(project: Path) -> None:
    (project / "a" / "SKILL.md").write_text("")
    (project / "a" / "settings.toml").write_text('profile = "lenient"\n')
    (project / "prowess.toml").symlink_to(project / "a" / "settings.toml")
    assert found_from(project) is None
    assert skill_around(str(project / "prowess.toml")) == str(project / "a")
    for file in ("prowess.toml", "a/settings.toml"):
        with pytest.raises(ConfigurationError, match="is inside the skill"):
            load_configuration(directory=str(project), file=str(project / file), environment={})


def test_the_name_of_a_skill_file_may_be_a_dangling_link(project: Path) -> None:
    (project / "a" / "SKILL.md").symlink_to("nowhere")
    assert skill_around(str(project / "a" / "prowess.toml")) == str(project / "a")
