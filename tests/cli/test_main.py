"""The entry point: `--version` at once, everything else through the dispatcher."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import click
import pytest

from prowess import __version__
from prowess.cli import main as entry
from prowess.cli.main import COMMANDS


def _prowess(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "prowess", *arguments], capture_output=True, encoding="utf-8", timeout=30, check=False
    )


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_is_printed(flag: str) -> None:
    ran = _prowess(flag)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"prowess {__version__}\n", "")


def test_version_after_other_options_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["prowess", "--version", "list"])
    with pytest.raises(SystemExit) as stop:
        entry.main()
    assert stop.value.code == 0


def test_help_names_every_command_with_its_line() -> None:
    ran = _prowess("--help")
    assert ran.returncode == 0
    for name, line in COMMANDS.items():
        assert f"  {name} " in ran.stdout
        assert line.split()[0] in ran.stdout
    assert "Example: prowess check" in ran.stdout


def test_an_unknown_command_is_a_usage_error() -> None:
    ran = _prowess("lsit")
    assert ran.returncode == 2
    assert "lsit" in ran.stderr
    assert "Traceback" not in ran.stderr


def _below(command: click.Command) -> list[click.Command]:
    if not isinstance(command, click.Group):
        return []
    context = click.Context(command)
    return [found for name in command.list_commands(context) if (found := command.get_command(context, name))]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_in_the_table_has_its_module_and_help_with_an_example(name: str) -> None:
    module = f"prowess.cli.commands.{name.replace('-', '_')}"
    assert find_spec(module), f"{module} does not exist"
    command = import_module(module).command
    assert isinstance(command, click.Command)
    parts = [command, *_below(command)]
    assert [part.name for part in parts if f"prowess {name}" not in (part.help or "")] == [], "no example in the help"


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["eval", "stats", "--help"], ("prowess.agent", "prowess.evals.ledger")),
        (["eval", "judge", "missing.jsonl", "--skill", "a"], ("prowess.agent.turn_loop", "prowess.runtime")),
    ],
)
def test_a_subcommand_of_eval_imports_what_it_uses(arguments: list[str], unused: tuple[str, ...]) -> None:
    program = (
        f"import sys; from prowess.cli.dispatch import run; run({arguments}); "
        f"print([name for name in sys.modules if name.startswith({unused})])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
