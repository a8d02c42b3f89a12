"""`prowess completion`: prints or installs shell completion and the man page."""

from __future__ import annotations

import os

import click

from prowess._internal.files.atomic_write import write_atomically
from prowess.cli import exit_codes, output
from prowess.cli.man_page import man_page

SHELLS = ("bash", "zsh", "fish")
_LEFT_TO_DO = {
    "bash": ("open a new shell; the package bash-completion has to be installed",),
    "zsh": ("put this into ~/.zshrc before compinit, and open a new shell:", "  fpath=({directory} $fpath)"),
    "fish": ("open a new shell",),
}


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--man", is_flag=True, help="Print the man page instead.")
@click.option("--install", is_flag=True, help="Write the completion of the shell, and the man page, for this user.")
@click.pass_context
def command(context: click.Context, *, shell: str | None, man: bool, install: bool) -> int:
    """Print what makes SHELL complete command lines, or install it together with the man page.

    SHELL is bash, zsh or fish; without it, the one that SHELL of the environment names. --install writes below
    XDG_DATA_HOME and XDG_CONFIG_HOME, changes no file of yours, and says what is left to do.

    Example: prowess completion --install
    """
    group = context.find_root().command
    if man and not install:
        output.raw(man_page(group))
        return exit_codes.OK
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS:
        raise click.UsageError(f"which shell? One of {', '.join(SHELLS)}, as in: prowess completion bash")
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
    # Imported here because `--man` does not need it.
    from click.shell_completion import get_completion_class

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
