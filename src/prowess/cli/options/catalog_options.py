"""Options that select the sources of skills, used by every command that reads the catalog."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any, TypedDict

import click
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.catalog_settings import layers_order
from prowess._internal.layers_order import LAYERS_ORDERS
from prowess._internal.text.terminal_text import printable_line
from prowess.catalog import Catalog
from prowess.cli import output
from prowess.cli.options import together
from prowess.errors import SkillNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess._internal.layers_order import LayersOrder
    from prowess.catalog import DirectorySource

_MOST_NAMES = 10
_UNTRUSTED = "project_untrusted"
_DIRECTORY = click.Path(exists=True, file_okay=False)
_VIEWER_OPTIONS = (
    click.option("--agent", metavar="NAME", help="Type of the agent, for skills that are limited to agents."),
    click.option("--tenant", metavar="NAME", help="Name of the tenant, for skills that are limited to tenants."),
    click.option(
        "--environment", metavar="NAME", help="Name of this environment, for skills that are limited to environments."
    ),
    click.option(
        "--layers-order",
        metavar="ORDER",
        help=f"Which skills replace the other ones: {' or '.join(LAYERS_ORDERS)}.",
        shell_complete=lambda _context, _option, text: [order for order in LAYERS_ORDERS if order.startswith(text)],
    ),
)
_OPTIONS = (
    click.option(
        "--root",
        "roots",
        multiple=True,
        type=_DIRECTORY,
        help="Search only this directory and /etc/prowess/skills. Repeatable.",
    ),
    click.option(
        "--only-root", is_flag=True, help="With --root: leave out /etc/prowess/skills. Refused if it has skills."
    ),
    click.option(
        "--plugin", "plugins", multiple=True, type=_DIRECTORY, help="Also search this plugin directory. Repeatable."
    ),
    *_VIEWER_OPTIONS,
    click.option("--trust-project", is_flag=True, help="Trust the skills of this project for this run."),
    click.option("--no-index", is_flag=True, help="Read every skill; neither use nor write the index of the catalog."),
    click.option("--quiet", "-q", is_flag=True, help="Print no remarks on standard error."),
)


class ViewerKeywords(TypedDict):
    """Arguments of `Catalog` that `ViewerOptions` gives."""

    agent: str | None
    tenant: str | None
    environment: str | None
    layers_order: LayersOrder


class ViewerOptions(Struct, frozen=True, kw_only=True):
    """Who looks at the catalog, and the order of its layers, as given on one command line."""

    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None
    layers_order: str | None = None

    def keywords(self) -> ViewerKeywords:
        """Return the arguments for `Catalog`.

        Raises:
            ConfigurationError: the order of the layers is faulty, here, in the environment or in the user's file.
        """
        return {
            "agent": self.agent,
            "tenant": self.tenant,
            "environment": self.environment,
            "layers_order": layers_order(self.layers_order),
        }


class CatalogOptions(ViewerOptions, frozen=True, kw_only=True):
    """The sources of skills given on one command line. `quiet` suppresses notices for the whole command."""

    roots: tuple[str, ...]
    plugins: tuple[str, ...]
    trust_project: bool
    quiet: bool
    only_root: bool = False
    no_index: bool = False

    def open(
        self, *, quiet: bool = False, one: bool = False, asks: bool = False, deployed: tuple[str, ...] = ()
    ) -> Catalog:
        """Open the catalog. Its notices are printed unless `quiet` is set here or for the command.

        With `one`, the command needs single skills by name, so that the others need not be looked at. With `asks`, a
        person at a terminal is asked about a project that is neither trusted nor refused. `deployed` are directories
        with skills of an organisation, see `Catalog`.
        """
        if self.only_root and not self.roots:
            raise click.UsageError("--only-root needs --root")
        silent = quiet or self.quiet
        catalog, answer = self._discovered(trust_project=self.trust_project, deployed=deployed), None
        if asks and output.is_interactive() and not (silent or self.trust_project or self.roots):
            # Imported here because most commands do not run on a terminal.
            from prowess.cli.trust_question import asked_about_project

            answer = asked_about_project(catalog, lambda: self._discovered(trust_project=True))
            catalog = self._discovered(trust_project=False) if answer else catalog
        if not silent:
            if not one:
                catalog.all_entries()
            for notice in catalog.notices:
                if answer is None or notice.code != _UNTRUSTED:
                    output.note(printable_line(notice.message))
        return catalog

    def _discovered(self, *, trust_project: bool, deployed: tuple[str, ...] = ()) -> Catalog:
        index = not self.no_index
        if self.roots:
            plugins = self._plugin_sources()
            return Catalog(
                *self.roots, *plugins, only=self.only_root, index=index, deployed=deployed, **self.keywords()
            )
        return Catalog.discover(
            plugins=self.plugins, trust_project=trust_project, index=index, deployed=deployed, **self.keywords()
        )

    def _plugin_sources(self) -> list[DirectorySource]:
        if not self.plugins:
            return []
        # Imported here because `--plugin` together with `--root` is rare.
        from prowess.catalog.project import plugin_sources

        return plugin_sources(self.plugins)

    def open_one(self, name: str, *, quiet: bool = False, asks: bool = False) -> tuple[Catalog, str]:
        """Open the catalog for a command on one skill, as `open` does; return the catalog and the skill's name.

        `name` may be a path: it begins with `./`, `../` or `/`, or contains a separator and exists. A path selects the
        skill in that directory, as if the directory were given as `--root`. If a plugin or package has the skill
        `plugin/name`, this is a name even if such a directory exists.

        Raises:
            click.UsageError: the path has no skill, or `--root` is also given.
            SkillNotFoundError: a skill of a higher layer shadows the skill.
        """
        if not is_path(name) or (not begins_as_path(name) and self.open(quiet=True, one=True).knows_copy(name)):
            return self.open(quiet=quiet, one=True, asks=asks), name
        if self.roots:
            raise click.UsageError(f"{name!r} is a path; leave out --root")
        directory = os.path.dirname(name) if os.path.basename(name).lower() == "skill.md" else name
        if not os.path.isdir(directory):
            raise click.UsageError(f"there is no directory {directory!r}")
        catalog = replace(self, roots=(directory,)).open(quiet=quiet)
        here = os.path.realpath(directory)
        found = next((entry for entry in catalog.all_entries() if os.path.realpath(entry.root_dir) == here), None)
        if found is None:
            if others := [output.shown_path(one.root_dir) for one in catalog.entries() if one.layer.value == "project"]:
                raise click.UsageError(
                    f"{name!r} is a folder of skills; name one of them: {', '.join(others[:_MOST_NAMES])}"
                )
            raise click.UsageError(f"no skill at {name!r} can be loaded; see prowess check {name}")
        winner = catalog.get(found.name)
        if winner.root_dir != found.root_dir:
            reason = f"{winner.root_dir} of the layer {winner.layer} is used instead"
            raise SkillNotFoundError(found.name, (), reason)
        return catalog, found.name


def is_path(name: str) -> bool:
    """Whether the skill given on a command line is a path instead of a name, unless it is a plugin's `plugin/name`."""
    return begins_as_path(name) or ("/" in name.replace(os.sep, "/") and os.path.lexists(name))


def begins_as_path(name: str) -> bool:
    """Whether a text is a path whatever exists: it begins with `./`, `../` or `/`, or is `.` or `..`."""
    parts = name.replace(os.sep, "/").split("/")
    return parts[0] in {".", ".."} or (len(parts) > 1 and not parts[0])


def viewer_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `ViewerOptions`, passed to it as the argument `viewer`."""

    @wraps(command)
    def with_viewer(**given: Any) -> int:  # noqa: ANN401 -- receives the command's options and those of `ViewerOptions`
        ours = {name: given.pop(name) for name in ViewerOptions.__struct_fields__}
        return command(viewer=ViewerOptions(**ours), **given)

    return together(*_VIEWER_OPTIONS)(with_viewer)


def catalog_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `CatalogOptions`, passed to it as the argument `skills`."""

    @wraps(command)
    def with_skills(**given: Any) -> int:  # noqa: ANN401 -- receives the command's options and those of `CatalogOptions`
        ours = {name: given.pop(name) for name in CatalogOptions.__struct_fields__}
        return command(skills=CatalogOptions(**ours), **given)

    return together(*_OPTIONS)(with_skills)
