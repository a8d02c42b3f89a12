from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import click
import pytest

from prowess.cli.dispatch import run
from prowess.cli.options.tool_options import host_tools_named
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "---\nname: notes\ndescription: Writes notes. Use when asked for notes.\n---\n# Notes\n"
MANIFEST = 'tools: {dependencies: [{tool: "Bash(git:*)", required: true, purpose: history, minVersion: "2.9"}]}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with one skill, `notes`, that needs Bash 2.9."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "SKILL.md").write_text(SKILL)
    (tmp_path / "notes" / "skill.manifest.yaml").write_text(MANIFEST)
    return tmp_path


def test_tools_of_the_host_have_versions_where_they_are_known() -> None:
    assert host_tools_named(None) is None
    assert host_tools_named("") == {}
    assert host_tools_named(" Bash=5.2, WebFetch ,mcp__git__log,") == {
        "Bash": "5.2",
        "WebFetch": None,
        "mcp__git__log": None,
    }


@pytest.mark.parametrize("words", ["Bash=", "=5.2", "Bash=new", "Bash(git:*)", "a b", "Bash=5.2=6", "\x1b]0;\x07 x"])
def test_what_is_no_tool_of_a_host_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.BadParameter, match="write NAME or NAME=VERSION"):
        host_tools_named(words)
    assert run(["session", "--host-tools", words]) == 2
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("option", "error", "notices"),
    [
        ([], None, ["required_tool_unknown"]),
        (["--host-tools", ""], "tool_not_found", []),
        (["--host-tools", "WebFetch,Bash=2.8"], "tool_not_found", []),
        (["--host-tools", "Bash=5.2"], None, []),
        (["--host-tools", "Bash"], None, ["required_tool_unknown"]),
    ],
)
def test_a_session_is_told_which_tools_its_host_has(
    root: Path, option: list[str], error: str | None, notices: list[str]
) -> None:
    request = json.dumps({"id": 1, "tool": "skills.load", "arguments": {"names": ["notes"]}})
    ran = subprocess.run(
        [prowess(), "session", "--root", str(root), *option],
        input=request, capture_output=True, text=True, check=True, timeout=60, cwd=root,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(ran.stdout)
    assert (answer["error_detail"] or {}).get("code") == error
    assert [one["code"] for one in (answer["result"] or {}).get("notices", [])] == notices


def test_a_server_is_told_too_and_its_snippet_says_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--root", str(root), "--host-tools", "Bash=5.2", "--print-config", "vscode"]) == 0
    arguments = json.loads(capsys.readouterr().out)["servers"]["prowess"]["args"]
    assert arguments[-2:] == ["--host-tools", "Bash=5.2"]
