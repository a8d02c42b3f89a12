"""An installation from the command line that has something to do: sources, settings, and a person to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.packages.permission import permission_for
from prowess.cli.packages.registries import configured_registries
from prowess.distribution.installation.installing import install
from prowess.distribution.installation.requests import SeveralSkillsError, SkillRequest
from prowess.errors import InvalidArgumentsError
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.installation.installing import InstallOptions
    from prowess.distribution.installation.report import InstallReport
    from prowess.distribution.installation.scope import InstallScope


def installed(
    scope: InstallScope,
    sources: tuple[str, ...],
    names: tuple[str, ...],
    options: InstallOptions,
    *,
    asks: bool,
) -> InstallReport:
    """Install skills of sources and what the lock names. With `asks`, a person at a terminal may choose skills.

    Raises:
        click.UsageError: a source is none.
        SkillError: as in `install`.
    """
    requests = skill_requests(sources, names)
    if requests and not options.frozen:
        registries = tuple(map(str, configured_registries()))
        options = replace(options, access=replace(options.access, registries=registries))
    permission = permission_for("packages.install", scope.kind)
    while True:
        try:
            return install(scope, requests, options, permission=permission)
        except SeveralSkillsError as fault:
            if not (asks and output.is_interactive()):
                raise
            # Imported here because most commands ask nothing.
            from prowess.cli.packages.picker import picked_skills

            picked = picked_skills(fault)
            if not picked:
                raise
            requests = tuple(
                replace(one, names=picked) if one.reference.source == fault.source and not one.names else one
                for one in requests
            )


def skill_requests(sources: Sequence[str], names: tuple[str, ...]) -> tuple[SkillRequest, ...]:
    """Return a request for skills of each source.

    Raises:
        click.UsageError: a source is none.
    """
    try:
        return tuple(SkillRequest(reference=parse_reference(source), names=names) for source in sources)
    except InvalidArgumentsError as fault:
        raise click.UsageError(printable_line(str(fault))) from fault
