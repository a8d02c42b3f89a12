"""`prowess rollback`: makes an earlier state of the lock the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.organisation_options import organisation_options
from prowess.cli.options.package_options import change_options, deployment_key_option, wait_option
from prowess.cli.packages.changes import carried_out
from prowess.cli.packages.permission import permission_for
from prowess.distribution.installation.installing import roll_back
from prowess.distribution.installation.scope import InstallScope, read_former
from prowess.distribution.installation.states import states_of

if TYPE_CHECKING:
    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.distribution.installation.states import LockState
    from prowess.lockfile.places import Scope

_MOST_NAMES = 6


@click.command()
@click.argument("number", metavar="[N]", type=click.IntRange(0), required=False)
@click.option("--deployment", metavar="DIR", help="Roll back the deployment in DIR instead, for every host.")
@organisation_options
@wait_option
@deployment_key_option
@click.option("--list", "show", is_flag=True, help="Print the numbered states instead.")
@change_options
def command(
    *,
    number: int | None,
    deployment: str | None,
    of: OrganisationOptions,
    wait: bool,
    key_files: tuple[str, ...],
    show: bool,
    kind: Scope,
    as_json: bool,
    quiet: bool,
) -> int:
    """Go back to state N of the installed skills; without N, to the state before the present one.

    Each change of the lock made here leaves the former state, with a number. State 0 is from before the first
    installation. Nothing is contacted: the skills are in the store. A rollback can be undone by another one.

    With --deployment, N is a release, and its content becomes a new release, signed like any other: skills that were
    revoked since then are deployed again, and the output names them as added.

    \b
    Example:
      prowess rollback --list
      prowess rollback
      prowess rollback 3
      prowess rollback 3 --deployment /srv/deployment --key alice.key --key bob.key
    """  # noqa: D301 -- click needs the control character
    if deployment is not None:
        if show == bool(key_files):
            raise click.UsageError("--deployment needs --key FILE, or --list")
    elif key_files:
        raise click.UsageError("--key needs --deployment")
    if show and number is not None:
        raise click.UsageError("--list takes no N")
    if of.given:
        of.require_alone(deployment=deployment, key=key_files)
        # Imported here, because the other forms of this command need nothing of deployments.
        from prowess.cli.organisation.deployments import roll_back_shared, show_shared_releases

        if show:
            return show_shared_releases(of, as_json=as_json)
        return roll_back_shared(of, number, wait=wait, as_json=as_json)
    if wait:
        raise click.UsageError("--wait needs --store or --server")
    if deployment is not None:
        return _of_deployment(number, deployment, key_files, as_json=as_json)
    scope = InstallScope.find(kind)
    if not show:
        return carried_out(
            scope,
            lambda: roll_back(scope, number, permission=permission_for("packages.rollback", kind)),
            as_json=as_json,
            quiet=quiet,
        )
    states = states_of(scope, read_former(scope))
    if as_json:
        output.document({"scope": scope.kind, "lock": scope.lock, "states": [_row(state) for state in states]})
    else:
        for state in states:
            output.line(_line(state))
    return exit_codes.OK


def _of_deployment(number: int | None, directory: str, key_files: tuple[str, ...], *, as_json: bool) -> int:
    # Imported here, because the other forms of this command need nothing of deployments.
    from prowess.cli.packages.deployments import print_releases, printed_report, signing_keys
    from prowess.distribution.deployment.deploy import roll_back_deployment
    from prowess.distribution.deployment.repository import DeploymentRepository

    repository = DeploymentRepository(directory)
    if not key_files:
        print_releases(repository, as_json=as_json)
        return exit_codes.OK
    report = roll_back_deployment(number, repository, signing_keys(repository, key_files, "packages.rollback"))
    return printed_report(report, repository, as_json=as_json)


def _row(state: LockState) -> dict[str, object]:
    skills = [
        {"name": skill.name, "package": skill.package or None, "version": skill.version, "tree": skill.tree}
        for skill in state.lockfile.skills
    ]
    targets = [{"agent": target.agent, "mode": target.mode} for target in state.lockfile.targets]
    return {"number": state.number, "present": state.is_present, "skills": skills, "targets": targets}


def _line(state: LockState) -> str:
    skills = state.lockfile.skills
    names = [f"{one.name} {one.version}" if one.version else one.name for one in skills]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    shown = f"{', '.join(names[:_MOST_NAMES])}{more}" if names else "nothing installed"
    if targets := state.lockfile.targets:
        shown += f"; for {', '.join(f'{target.agent}={target.mode}' for target in targets)}"
    return printable_line(f"{'*' if state.is_present else ' '} {state.number:>3}  {shown}")
