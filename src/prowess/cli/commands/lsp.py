"""`prowess lsp`: the language server, with findings, fixes and renaming in an editor."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from prowess.cli import exit_codes, output
from prowess.cli.options.configuration_options import configuration_loader, configuration_options
from prowess.cli.skill_result import Silencing

if TYPE_CHECKING:
    from prowess.config import Configuration
    from prowess.lsp.analysis import Silence


@click.command("lsp")
@configuration_options
@click.option("--stdio", is_flag=True, expose_value=False, help="What is done anyway; some editors add it.")
def command(**options: Any) -> int:  # noqa: ANN401 -- passed on to configuration_options
    """Serve an editor over the Language Server Protocol on standard input and output.

    An editor starts this, rarely a person: docs/author/editor.md has the set-up for VS Code, Neovim and Zed. Settings
    are read from the prowess.toml of the folder that is open; the options here go before it.

    Example: prowess lsp --profile claude-code
    """
    if find_spec("pygls") is None:
        output.error("the language server needs pygls: pip install 'prowess[lsp]'")
        return exit_codes.USAGE
    configured = configuration_loader(**options)

    def load(directory: str) -> tuple[Configuration, Silence]:
        configuration = configured(directory)
        return configuration, Silencing(configuration, None).by_comments

    # Imported here because pygls takes half a second to import, which `--help` does not need.
    from prowess.lsp.server import serve_stdio

    if sys.stdin.isatty():
        output.note("Waiting for an editor on standard input; Ctrl-C ends this. docs/author/editor.md sets editors up.")
    return serve_stdio(load)
