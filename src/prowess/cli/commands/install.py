"""`prowess install`, also `prowess add`: installs skills, and completes what the lock names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.package_options import accept_option, allow_host_option, change_options, target_option
from prowess.cli.packages.changes import carried_out
from prowess.distribution.installation.requests import SeveralSkillsError
from prowess.distribution.installation.scope import InstallScope
from prowess.distribution.installation.verification import settled_report

if TYPE_CHECKING:
    from prowess.distribution.installation.report import InstallReport
    from prowess.lockfile.lock import LockedTarget
    from prowess.lockfile.places import Scope


@click.command()
@click.argument("sources", metavar="[SOURCE[@VERSION]]...", nargs=-1)
@click.option("--skill", "names", metavar="NAME", multiple=True, help="Install this skill of SOURCE; '*' means all.")
@target_option
@click.option(
    "--frozen/--no-frozen",
    default=None,
    help="Install exactly what the lock names, and fail if it would have to change (default if CI is set).",
)
@accept_option
@click.option(
    "--allow-unsigned",
    is_flag=True,
    help="Accept skills without a signature, also if they had one; no policy is overruled.",
)
@click.option("--offline", is_flag=True, help="Contact no host; use only the store and local sources.")
@click.option(
    "--from",
    "mirror",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Read what the lock names from a directory that `prowess mirror` wrote.",
)
@allow_host_option
@click.option("--repair", is_flag=True, help="Replace copies in targets that somebody edited.")
@click.option("--dry-run", is_flag=True, help="Fetch and check, but change nothing.")
@change_options
def command(
    *,
    sources: tuple[str, ...],
    names: tuple[str, ...],
    targets: tuple[LockedTarget, ...],
    frozen: bool | None,
    accepted: tuple[str, ...],
    allow_unsigned: bool,
    offline: bool,
    mirror: str | None,
    allowed_hosts: tuple[str, ...],
    repair: bool,
    dry_run: bool,
    kind: Scope,
    as_json: bool,
    quiet: bool,
) -> int:
    """Install skills from SOURCE and record them in prowess.lock. Without SOURCE, install what the lock names.

    SOURCE is a directory (./skills), an archive, a repository (owner/repo, git+https://...), a site with an index
    (https://...), a registry (oci://...), or an installed package (python:NAME, npm:NAME). Nothing of a skill is run.

    \b
    Example:
      prowess install ./skills --skill csv-report
      prowess install --target claude-code
      prowess install --frozen
      prowess install --from /media/mirror --offline
    """  # noqa: D301 -- click needs the control character
    if names and len(sources) != 1:
        raise click.UsageError("--skill needs exactly one SOURCE")
    scope = InstallScope.find(kind)

    def change() -> InstallReport:
        if not sources and mirror is None:
            report = settled_report(scope, targets, repair=repair)
            if report is not None:
                return report
        # Imported here because an installation with nothing to do opens no source, and asks no policy.
        from prowess.cli.packages.installing import installed
        from prowess.distribution.installation.installing import InstallOptions
        from prowess.distribution.sources.protocol import Access

        options = InstallOptions(
            frozen=_is_frozen(frozen),
            repair=repair,
            dry_run=dry_run,
            targets=targets,
            accepted=accepted,
            allow_unsigned=allow_unsigned,
            access=Access(offline=offline, redirect_hosts=allowed_hosts, mirror=mirror),
        )
        return installed(scope, sources, names, options, asks=not (as_json or quiet))

    try:
        return carried_out(scope, change, as_json=as_json, quiet=quiet, dry_run=dry_run)
    except SeveralSkillsError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE


def _is_frozen(given: bool | None) -> bool:  # noqa: FBT001 -- a tri-state of the command line
    return bool(os.environ.get("CI")) if given is None else given
