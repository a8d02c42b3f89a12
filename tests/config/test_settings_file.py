"""A file of settings is read key by key, and every fault has its line."""

from __future__ import annotations

import os
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from prowess.config.configuration_schema import configuration_schema
from prowess.config.settings_file import read_settings_file
from prowess.errors import ConfigurationError

_VALIDATOR = Draft202012Validator(configuration_schema())
_EXAMPLE = Path(__file__).parents[2] / "examples" / "settings" / "prowess.toml"

_RIGHT = [
    "",
    'profile = "boxxy"\npreset = "strict"\nformat = "json"\n',
    'select = ["spec", "reference", "name.ascii"]\nignore = []\nexclude = ["a/**", "."]\n',
    '[severity]\n"name.ascii" = "error"\nlint = "off"\nname.format = "warning"\n',
    '[severity]\nallowed-tools.syntax = "info"\nname = "info"\n',
    '[paths."a/**"]\nprofile = "lenient"\n[paths."a/**".severity]\nname = "off"\n',
    '"$schema" = "configuration.schema.json"\n',
]
_WRONG = [
    ('\nprofil = "spec"\n', "2: profil: is no setting here; did you mean 'profile'?"),
    ("colour = 1\n", "1: colour: is no setting here; known here: profile, preset, select, ignore, severity, "),
    ('profile = "spce"\n', "1: profile: 'spce' is not one of spec, "),
    ("profile = 3\n", "1: profile: 3 is not one of spec, "),
    ('preset = ["strict"]\n', "1: preset: ['strict'] is not one of recommended, "),
    ('select = "name"\n', "1: select: must be a list of strings, not 'name'"),
    ('\n\nignore = ["name.asci"]\n', "3: ignore: no rule or family is called 'name.asci'; did you mean name.ascii?"),
    ("ignore = [1]\n", "1: ignore: must be a list of strings, not [1]"),
    ('severity = "error"\n', "1: severity: must be a table of rules and levels, not 'error'"),
    ('[severity]\n\n"name.ascii" = "fatal"\n', "3: severity: name.ascii: 'fatal' is not one of error, "),
    ('[severity]\nname.asci = "off"\n', "2: severity: no rule or family is called 'name.asci'; did you mean "),
    ("[severity]\nname = {}\n", "2: severity: name: {} is not one of error, warning, info, off"),
    ('exclude = ["../x"]\n', "1: exclude: '../x' leaves the directory of the file; a pattern may not contain .."),
    ('exclude = [" "]\n', "1: exclude: a pattern is empty; write . for everything"),
    ('[paths."a/../b"]\n', "1: paths.a/../b: 'a/../b' leaves the directory"),
    ('[paths]\n"a" = 1\n', "2: paths.a: must be a table of settings, not 1"),
    ("paths = 1\n", '1: paths: must be tables such as [paths."docs/**"]'),
    ('[paths.a]\nformat = "json"\n', "2: paths.a.format: is no setting here; it cannot differ by path; "),
    ("[paths.a]\nignor = []\n", "2: paths.a.ignor: is no setting here; did you mean 'ignore'?"),
]  # fmt: skip


def _file(tmp_path: Path, text: str, name: str = "prowess.toml") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


@pytest.mark.parametrize("text", _RIGHT)
def test_what_is_right_is_right_to_the_schema_too(text: str, tmp_path: Path) -> None:
    assert read_settings_file(_file(tmp_path, text), kind="project") is not None
    assert [error.message for error in _VALIDATOR.iter_errors(tomllib.loads(text))] == []


@pytest.mark.parametrize(("text", "says"), _WRONG)
def test_what_is_wrong_has_its_line_and_is_wrong_to_the_schema_too(text: str, says: str, tmp_path: Path) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(ConfigurationError) as refusal:
        read_settings_file(path, kind="project")
    (problem,) = refusal.value.problems
    assert problem.startswith(f"{path}:{says}")
    leaves = "leaves" in says  # a pattern of a schema could hardly express this
    assert _VALIDATOR.is_valid(tomllib.loads(text)) is leaves


def test_the_schema_is_one_and_accepts_the_example() -> None:
    Draft202012Validator.check_schema(configuration_schema())
    assert _VALIDATOR.is_valid(tomllib.loads(_EXAMPLE.read_text(encoding="utf-8")))


def test_a_pyproject_names_the_table_and_the_line(tmp_path: Path) -> None:
    path = _file(tmp_path, '[project]\nname = "x"\n\n[tool.prowess]\nprofile = "boxxy"\n', "pyproject.toml")
    file = read_settings_file(path, kind="project")
    assert file is not None
    assert str(file.values["profile"].origin) == f"{path}:5"
    path = _file(tmp_path, "[tool.prowess]\n\nprofil = 1\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match=r":3: tool\.prowess\.profil: is no setting"):
        read_settings_file(path, kind="project")
    path = _file(tmp_path, "[tool]\nprowess = 1\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match=r"tool\.prowess: must be a table"):
        read_settings_file(path, kind="project")


def test_a_pyproject_of_others_is_not_even_parsed(tmp_path: Path) -> None:
    assert read_settings_file(_file(tmp_path, "= no toml", "pyproject.toml"), kind="project") is None
    for text in ('name = "prowess"\n', "tool = 1\n# prowess\n"):
        assert read_settings_file(_file(tmp_path, text, "pyproject.toml"), kind="project") is None


@pytest.mark.unmeasured  # coverage makes it several times slower
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xff\xfe", "codec can't decode"),
        (b"a = ", "Invalid value"),
        (b"a = " + b"[" * 100_000, "prowess.toml: "),
        (b"#" * (1024 * 1024 + 1), "it is larger than 1048576 bytes"),
        (b"select = [" + b'"name", ' * 1001 + b"]", "select: has 1001 entries, at most 1000 are allowed"),
        (b"[severity]\n" + b"".join(b"x%d = 1\n" % number for number in range(1001)), "severity: has 1001 entries"),
        (b"".join(b"[paths.x%d]\n" % number for number in range(1001)), "at most 1000 of them"),
    ],
)
def test_hostile_files_are_refused_in_one_sentence_and_soon(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_bytes(data)
    began = time.process_time()
    with pytest.raises(ConfigurationError, match=says.replace("'", ".")):
        read_settings_file(str(tmp_path / "prowess.toml"), kind="project")
    assert time.process_time() - began < 2


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "prowess.toml")
    with pytest.raises(ConfigurationError, match="it is not a regular file"):
        read_settings_file(str(tmp_path / "prowess.toml"), kind="project")
    with pytest.raises(ConfigurationError, match="No such file"):
        read_settings_file(str(tmp_path / "gone.toml"), kind="project")
    with pytest.raises(ConfigurationError, match=r"it is not a regular file|Is a directory"):
        read_settings_file(str(tmp_path), kind="project")


def test_windows_line_breaks_do_not_move_lines(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_bytes(b'profile = "spec"\r\n\r\n[severity]\r\nname = "off"\r\n')
    file = read_settings_file(str(tmp_path / "prowess.toml"), kind="project")
    assert file is not None
    value: Any = file.values["severity"]
    assert value.value == (("name", None),)
    assert value.entries["name"].line == 4


def test_the_users_file_alone_names_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[session]\nenvironment = "production"\n', encoding="utf-8")
    assert read_settings_file(str(file), kind="user") is not None
    with pytest.raises(ConfigurationError, match="session"):
        read_settings_file(str(file), kind="project")
    for wrong, said in (
        ("environment = 3", "must be a text"),
        ('enviroment = "x"', "known here: environment, agent, tenant, profile"),
    ):
        file.write_text(f"[session]\n{wrong}\n", encoding="utf-8")
        with pytest.raises(ConfigurationError, match=said):
            read_settings_file(str(file), kind="user")
