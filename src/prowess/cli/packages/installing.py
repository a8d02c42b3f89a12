"""An installation from the command line that has something to do: sources, settings, and a person to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.packages.permission import permission_for
from prowess.cli.packages.registries import configured_registries
from prowess.distribution.installation.installing import InstallOptions, install
from prowess.distribution.installation.requests import SeveralSkillsError, SkillRequest
from prowess.distribution.sources.protocol import Access
from prowess.distribution.sources.reference import parse_reference
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from prowess.distribution.installation.report import InstallReport
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile.lock import LockedTarget


def installed(
    scope: InstallScope,
    sources: tuple[str, ...],
    names: tuple[str, ...],
    *,
    targets: tuple[LockedTarget, ...],
    frozen: bool,
    accepted: tuple[str, ...],
    offline: bool,
    mirror: str | None,
    allowed_hosts: tuple[str, ...],
    repair: bool,
    dry_run: bool,
    asks: bool,
) -> InstallReport:
    """Install as the options of `prowess install` ask for. With `asks`, a person at a terminal may choose skills.

    Raises:
        click.UsageError: a source is none.
        SkillError: as in `install`.
    """
    requests = _requests(sources, names)
    options = InstallOptions(
        frozen=frozen,
        accepted=accepted,
        repair=repair,
        dry_run=dry_run,
        targets=targets,
        access=Access(
            offline=offline,
            redirect_hosts=allowed_hosts,
            mirror=mirror,
            registries=tuple(map(str, configured_registries())) if requests and not frozen else (),
        ),
    )
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


def _requests(sources: tuple[str, ...], names: tuple[str, ...]) -> tuple[SkillRequest, ...]:
    try:
        return tuple(SkillRequest(reference=parse_reference(source), names=names) for source in sources)
    except InvalidArgumentsError as fault:
        raise click.UsageError(printable_line(str(fault))) from fault
