"""The options that name where skills come from, alike in every command that reads the catalog."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.catalog import Catalog
from prowess.cli import output
from prowess.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Callable

_DIRECTORY = click.Path(exists=True, file_okay=False)
_OPTIONS = (
    click.option("--root", "roots", multiple=True, type=_DIRECTORY, help="Take skills from this directory alone."),
    click.option("--plugin", "plugins", multiple=True, type=_DIRECTORY, help="Add a plugin directory."),
    click.option("--trust-project", is_flag=True, help="Offer the skills of this project, this once."),
    click.option("--quiet", "-q", is_flag=True, help="No remarks on standard error."),
)


class CatalogOptions(Struct, frozen=True, kw_only=True):
    """Where the skills of one command come from, as its command line has it; `quiet` holds for the whole command."""

    roots: tuple[str, ...]
    plugins: tuple[str, ...]
    trust_project: bool
    quiet: bool

    def open(self, *, quiet: bool = False) -> Catalog:
        """Open the catalog; print its notices unless this call or the command is quiet."""
        if self.roots and self.plugins:
            # Imported here: most command lines name no plugin beside a root.
            from prowess.catalog.project import plugin_sources

            catalog = Catalog(*self.roots, *plugin_sources(self.plugins))
        elif self.roots:
            catalog = Catalog(*self.roots)
        else:
            catalog = Catalog.discover(plugins=self.plugins, trust_project=self.trust_project)
        if not (quiet or self.quiet):
            for notice in catalog.notices:
                output.note(printable_line(notice.message))
        return catalog


def catalog_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command `--root`, `--plugin`, `--trust-project` and `--quiet`, as its argument `skills`."""

    @wraps(command)
    def with_skills(
        *, roots: tuple[str, ...], plugins: tuple[str, ...], trust_project: bool, quiet: bool, **others: object
    ) -> int:
        skills = CatalogOptions(roots=roots, plugins=plugins, trust_project=trust_project, quiet=quiet)
        return command(skills=skills, **others)

    return together(*_OPTIONS)(with_skills)
