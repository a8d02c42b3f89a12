from __future__ import annotations

import json
import os
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.own_command import own_command
from prowess.cli.dispatch import run
from prowess.mcp_server.host_config import HOSTS, snippet

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.mcp_server.host_config import HostConfig

KEYS = {"claude": "mcpServers", "vscode": "servers", "zed": "context_servers", "codex": "mcp_servers"}
ODD = 'a "b" \\ c\u00fc'


def _entry(name: str, host: HostConfig, *arguments: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    text = snippet(host, arguments, environment)
    value = tomllib.loads(text) if name == "codex" else json.loads(text)
    (key,) = value
    assert key == KEYS.get(name, "mcpServers")
    entry: dict[str, Any] = value[key]["prowess"]
    return entry


@pytest.mark.parametrize(("name", "host"), HOSTS.items())
def test_every_snippet_is_well_formed_and_keeps_odd_characters(name: str, host: HostConfig) -> None:
    entry = _entry(name, host, "--root", ODD, environment={"PROWESS_HOME": ODD})
    assert [entry["command"], *entry["args"]] == [*own_command(), "serve", "--root", ODD]
    assert entry["env"] == {"PROWESS_HOME": ODD}
    assert "env" not in _entry(name, host)
    assert ("type" in entry) == (name in {"claude-code", "vscode"})


def test_the_command_is_absolute_and_runs() -> None:
    command = own_command()
    assert os.path.isabs(command[0])
    done = subprocess.run(
        [*command, "--version"], cwd="/", env={}, capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.startswith("prowess ")


def test_without_an_installed_script_the_interpreter_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    command = own_command()
    assert os.path.isabs(command[0])
    assert command[1:] == ["-P", "-m", "prowess"]
    (tmp_path / "prowess.py").write_text("print('hostile')")
    done = subprocess.run([*command, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.startswith("prowess ")


def test_the_command_line_prints_the_snippet_alone_with_absolute_paths(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_home: Path
) -> None:
    (tmp_path / "skills").mkdir()
    monkeypatch.chdir(tmp_path)
    flags = ["--plugin", "skills", "--workspace", ".", "--write", "--trust-project"]
    assert run(["serve", "--print-config", "cursor", "--root", "skills", *flags]) == 0
    printed = capfd.readouterr()
    entry = json.loads(printed.out)["mcpServers"]["prowess"]
    place, skills = str(tmp_path), str(tmp_path / "skills")
    expected = ["--root", skills, "--plugin", skills, "--workspace", place, "--write", "--trust-project"]
    assert entry["args"][-8:] == expected
    assert entry["env"] == {"PROWESS_HOME": str(own_home / ".prowess")}
    assert printed.err == "Put this into .cursor/mcp.json in the project, or ~/.cursor/mcp.json:\n"
    assert not (own_home / ".prowess").exists(), "nothing is started and nothing is written"
    monkeypatch.delenv("PROWESS_HOME")
    assert run(["serve", "--print-config", "cursor"]) == 0
    assert "env" not in json.loads(capfd.readouterr().out)["mcpServers"]["prowess"]


def test_an_unknown_host_is_a_usage_error_that_lists_the_known(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--print-config", "emacs"]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert all(name in printed.err for name in HOSTS)
