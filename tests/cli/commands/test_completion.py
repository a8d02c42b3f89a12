"""Completion and the man page: printed, installed for this user, and understood by the programs they are for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.cli.main import COMMANDS
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

PLACES = {
    "bash": ".local/share/bash-completion/completions/prowess",
    "zsh": ".local/share/zsh/site-functions/_prowess",
    "fish": ".config/fish/completions/prowess.fish",
}


@pytest.fixture
def home(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return own_home


@pytest.mark.parametrize("shell", PLACES)
def test_the_completion_of_a_shell_is_printed_and_installed(
    home: Path, shell: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", shell]) == 0
    script = capfd.readouterr().out
    assert "_PROWESS_COMPLETE" in script
    assert run(["completion", shell, "--install"]) == 0
    out, err = capfd.readouterr()
    assert (home / PLACES[shell]).read_text() == script
    page = home / ".local/share/man/man1/prowess.1"
    assert out.splitlines() == [f"wrote {home / PLACES[shell]}", f"wrote {page}"]
    assert "new shell" in err
    assert run(["completion", "--man"]) == 0
    assert page.read_text() == capfd.readouterr().out


def test_without_a_name_the_shell_of_the_user_is_taken(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert run(["completion"]) == 0
    assert capfd.readouterr().out.startswith("function _prowess_completion;")
    monkeypatch.setenv("SHELL", "/bin/ksh")
    assert run(["completion", "--install"]) == 2
    assert "bash, zsh, fish" in capfd.readouterr().err
    assert not (home / ".local").exists()


def test_the_directories_of_the_user_are_taken(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert run(["completion", "bash", "--install"]) == 0
    assert (tmp_path / "data" / "bash-completion" / "completions" / "prowess").is_file()
    assert (tmp_path / "data" / "man" / "man1" / "prowess.1").is_file()
    assert not (home / ".local").exists()


def test_bash_completes_commands_and_options_with_what_is_printed(tmp_path: Path) -> None:
    (tmp_path / "prowess").write_text(f'#!/bin/sh\nexec {sys.executable} -m prowess "$@"\n')
    (tmp_path / "prowess").chmod(0o755)
    script = f"""
PATH={tmp_path}:$PATH
source <(prowess completion bash)
asked() {{
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _prowess_completion prowess; echo "${{COMPREPLY[@]}}"
}}
asked prowess com
asked prowess check --exit
"""
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.splitlines() == ["completion", "--exit-zero"]


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("words", "offers"),
    [
        ("load --root SKILLS al", ["plain,alpha"]),
        ("why --root SKILLS b", ["plain,beta"]),
        ("run --root SKILLS alpha scripts/", ["plain,scripts/go.sh"]),
        ("run --root SKILLS alpha g", ["plain,go.sh"]),
        ("run SKILLS/alpha g", ["plain,go.sh"]),
        ("run --root SKILLS none g", [""]),
        ("read ./s", ["dir,./s"]),
        ("show g", ["plain,gamma"]),
        ("show ./s", ["dir,./s"]),
    ],
)
def test_names_of_skills_and_scripts_are_completed(tmp_path: Path, home: Path, words: str, offers: list[str]) -> None:
    write_skill(tmp_path / "skills", "alpha", files={"scripts/go.sh": "", "notes.md": ""})
    write_skill(tmp_path / "skills", "beta")
    write_skill(home / ".agents" / "skills", "gamma")
    line = words.replace("SKILLS", str(tmp_path / "skills"))
    assert _offered("bash", line).splitlines() == offers


def _offered(shell: str, line: str) -> str:
    """Return what a shell is told about the end of a line."""
    environment = {
        "_PROWESS_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": f"prowess {line}",
        "COMP_CWORD": str(len(line.split(" "))),
    }
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['prowess']; from prowess.cli.main import main; main()"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return ran.stdout


@pytest.mark.measured_once
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_a_shell_would_read_is_not_offered_and_descriptions_are_one_printable_line(
    tmp_path: Path, home: Path, shell: str
) -> None:
    signs = (
        "a;id",
        "$(id)",
        "`id`",
        "a b",
        "a\nb",
        "a\tb",
        "x\x1b[31m",
        "a'b",
        'a"b',
        "a|b",
        "a*",
        "-x",
        "a,b",
        "\u202ea",
    )
    scripts = {f"scripts/{sign}.sh": "" for sign in signs}
    root = tmp_path / "skills"
    write_skill(root, "demo", description='"Does \\e[31mred\\nsecond."', files={**scripts, "scripts/größe.sh": ""})
    write_skill(root, "de;id")
    told = _offered(shell, f"run --root {root} demo ")
    assert [word for word in told.replace(",", "\n").splitlines() if word not in {"plain", "_"}] == [
        "scripts/-x.sh",
        "scripts/größe.sh",
        "größe.sh",
    ]
    names = _offered(shell, f"load --root {root} de")
    assert names == ("plain,demo\n" if shell == "bash" else "plain\ndemo\nDoes \\x1b[31mred\\nsecond.\n")


def test_the_man_page_has_every_command_and_is_read_without_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "--man"]) == 0
    page = capfd.readouterr().out
    for name in COMMANDS:
        assert f"\n.SS prowess {name}".replace("-", "\\-") in page
    assert "\\fB\\-\\-exit\\-zero\\fR" in page
    assert "\n.SS prowess policy test" in page
    if shutil.which("groff"):
        ran = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True, check=True, timeout=60
        )
        assert ran.stderr == ""
