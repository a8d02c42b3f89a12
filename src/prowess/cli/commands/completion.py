"""`prowess completion`: prints or installs shell completion and the man page."""

from __future__ import annotations

import os

import click

from prowess._internal.files.atomic_write import write_atomically
from prowess.cli import exit_codes, output
from prowess.cli.man_page import man_page

SHELLS = ("bash", "zsh", "fish")
_LEFT_TO_DO = {
    "bash": ("open a new shell; the package bash-completion must be installed",),
    "zsh": ("add this to ~/.zshrc before compinit, then open a new shell:", "  fpath=({directory} $fpath)"),
    "fish": ("open a new shell",),
}


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--man", is_flag=True, help="Print the man page instead.")
@click.option("--install", is_flag=True, help="Install the completion script and the man page for this user.")
@click.pass_context
def command(context: click.Context, *, shell: str | None, man: bool, install: bool) -> int:
    """Print the completion script of a shell, or install it with the man page.

    The shell defaults to that of the environment variable SHELL. --install writes below XDG_DATA_HOME and
    XDG_CONFIG_HOME and changes none of your files; it prints the remaining steps.

    Example: prowess completion --install
    """
    group = context.find_root().command
    if man and not install:
        output.raw(man_page(group))
        return exit_codes.OK
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS:
        raise click.UsageError(f"name a shell, one of {', '.join(SHELLS)}, as in: prowess completion bash")
    script = _script(group, name)
    if not install:
        output.raw(script)
        return exit_codes.OK
    data, place = _places(name)
    page = os.path.join(data, "man", "man1", "prowess.1")
    for path, text in ((place, script), (page, man_page(group))):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_atomically(path, text.encode(), 0o644)
        output.line(f"wrote {output.shown_path(path)}")
    for line in _LEFT_TO_DO[name]:
        output.note(line.format(directory=os.path.dirname(place)))
    return exit_codes.OK


def _script(group: click.Command, shell: str) -> str:
    from click.shell_completion import get_completion_class  # Imported here because `--man` does not need it.

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 -- click knows all of SHELLS
    return f"{kind(group, {}, 'prowess', '_PROWESS_COMPLETE').source().strip()}\n"


def _places(shell: str) -> tuple[str, str]:
    """Return this user's data directory, and the file in which the shell looks for completions of `prowess`."""
    home = os.path.expanduser("~")
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    parts = {
        "bash": (data, "bash-completion", "completions", "prowess"),
        "zsh": (data, "zsh", "site-functions", "_prowess"),
        "fish": (config, "fish", "completions", "prowess.fish"),
    }
    return data, os.path.join(*parts[shell])
