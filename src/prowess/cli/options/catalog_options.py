"""The options that say where skills come from, alike in every command that reads the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.catalog import Catalog
from prowess.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Command = TypeVar("_Command", bound="Callable[..., object]")
_DIRECTORY = click.Path(exists=True, file_okay=False)

_OPTIONS = (
    click.option("--root", "roots", multiple=True, type=_DIRECTORY, help="Take skills from this directory alone."),
    click.option("--plugin", "plugins", multiple=True, type=_DIRECTORY, help="Add a plugin directory."),
    click.option("--trust-project", is_flag=True, help="Offer the skills of this project, this once."),
    click.option("--quiet", "-q", is_flag=True, help="No remarks on standard error."),
)


def catalog_options(command: _Command) -> _Command:
    """Give a command `--root`, `--plugin`, `--trust-project` and `--quiet`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_catalog(roots: Sequence[str], plugins: Sequence[str], *, trust_project: bool, quiet: bool) -> Catalog:
    """Open the catalog that the options describe, and say what its notices say."""
    if roots and plugins:
        # Imported here: most command lines name no plugin beside a root.
        from prowess.catalog.project import plugin_sources

        catalog = Catalog(*roots, *plugin_sources(plugins))
    elif roots:
        catalog = Catalog(*roots)
    else:
        catalog = Catalog.discover(plugins=plugins, trust_project=trust_project)
    if not quiet:
        for notice in catalog.notices:
            output.note(printable_line(notice.message))
    return catalog
