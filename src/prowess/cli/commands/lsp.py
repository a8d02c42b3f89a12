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
@click.option("--stdio", is_flag=True, expose_value=False, help="Accepted for editors that pass it; has no effect.")
def command(**options: Any) -> int:  # noqa: ANN401 -- passed on to configuration_options
    """Run a language server on standard input and output. Usually an editor starts it.

    docs/author/editor.md describes the set-up for VS Code, Neovim and Zed. Settings are read from the prowess.toml of
    the open folder; options override them.

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
        output.note(
            "Waiting for an editor on standard input; Ctrl-C stops it. See docs/author/editor.md for the set-up."
        )
    return serve_stdio(load)
