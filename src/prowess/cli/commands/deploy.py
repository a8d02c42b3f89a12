"""`prowess deploy`: signs a new release of the skills that every host of an organisation has."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import organisation_options_beside_catalog
from prowess.cli.options.package_options import deployment_key_option, wait_option
from prowess.cli.organisation.deployments import deploy_shared, deprecate_shared, revoke_shared
from prowess.cli.packages.checked import check_errors
from prowess.cli.packages.deployments import printed_report, signing_keys
from prowess.cli.targets import targets
from prowess.distribution.deployment.deploy import deploy, revoke
from prowess.distribution.deployment.repository import DeploymentRepository
from prowess.distribution.installation.scope import InstallScope
from prowess.lockfile.places import read_lock, stored_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.lockfile.places import Scope

_SCOPES: tuple[Scope, ...] = ("project", "personal")


@click.command()
@click.argument("skills", nargs=-1, metavar="[PATH|NAME]...")
@click.option("--to", "to", metavar="DIR", help="The directory of the deployment.")
@organisation_options_beside_catalog
@click.option("--tenant", "tenants", metavar="NAME", multiple=True, help="With --store or --server: for this tenant.")
@click.option(
    "--environment", "environments", metavar="NAME", multiple=True, help="Only for hosts in this environment."
)
@click.option("--deprecate", metavar="NAME", help="With --store or --server: mark a deployed skill as deprecated.")
@click.option("--successor", metavar="NAME", help="With --deprecate: the skill to use in its place.")
@wait_option
@deployment_key_option
@click.option("--scope", type=click.Choice(("enterprise",)), default="enterprise", help="The layer of the skills.")
@click.option("--revoke", "revoked", metavar="NAME|DIGEST", multiple=True, help="The same as `prowess revoke`.")
@click.option("--discard", is_flag=True, help="Drop the release that waits for signatures.")
@json_option
def command(
    *,
    skills: tuple[str, ...],
    to: str | None,
    of: OrganisationOptions,
    tenants: tuple[str, ...],
    environments: tuple[str, ...],
    deprecate: str | None,
    successor: str | None,
    wait: bool,
    key_files: tuple[str, ...],
    scope: str,
    revoked: tuple[str, ...],
    discard: bool,
    as_json: bool,
) -> int:
    """Add skills to those of every host, and sign that as a new release.

    PATH is a skill or a folder of skills, NAME an installed skill. A deployed skill of the same name is replaced, and
    the others stay. `prowess check` must find no errors. A release with too few signatures is kept as pending, nothing
    is published, and the exit code is 3; other signers run this command with the same skills, or with none, which signs
    the pending release as it is. Without skills and keys, the command shows the pending release and signs nothing.
    Hosts take a release with `prowess sync`.

    With --store or --server, the organisation's key signs, and enrolled machines take the release by themselves.

    \b
    Example:
      prowess deploy ./csv-report --store postgresql:///prowess --wait
      prowess deploy ./csv-report --to /srv/deployment --key alice.key
      prowess deploy --to /srv/deployment
      prowess deploy --to /srv/deployment --key bob.key
    """  # noqa: D301 -- click needs the control character
    del scope  # there is one layer that can be deployed to
    change = _SharedChange(skills=skills, revoked=revoked, deprecate=deprecate, successor=successor)
    if of.given:
        of.require_alone(to=to, key=key_files, discard=discard)
        return _shared(of, change, tenants, environments, wait=wait, as_json=as_json)
    if to is None:
        raise click.UsageError("give the deployment: --to DIR, --store URL or --server URL")
    if tenants or wait or deprecate is not None or successor is not None:
        raise click.UsageError("--tenant, --deprecate, --successor and --wait need --store or --server")
    repository = DeploymentRepository(to)
    if discard:
        if skills or revoked or key_files:
            raise click.UsageError("--discard takes no skills and no keys")
        return _discarded(repository, as_json=as_json)
    if not (key_files or skills or revoked):
        return _pending(repository, as_json=as_json)
    if not key_files:
        raise click.UsageError("give the key that signs: --key FILE")
    if skills and revoked:
        raise click.UsageError("deploy and revoke in two steps: each is a release")
    signing = signing_keys(repository, key_files, "packages.revoke" if revoked else "packages.deploy")
    if revoked:
        return printed_report(revoke(revoked, repository, signing), repository, as_json=as_json)
    report = deploy(tuple(_directories(skills)), repository, signing, check=check_errors, environments=environments)
    return printed_report(report, repository, as_json=as_json)


class _SharedChange(Struct, frozen=True, kw_only=True):
    """What to change in the deployment of an organisation: one of skills, revoked and deprecate."""

    skills: tuple[str, ...]
    revoked: tuple[str, ...]
    deprecate: str | None
    successor: str | None


def _shared(
    of: OrganisationOptions,
    change: _SharedChange,
    tenants: tuple[str, ...],
    environments: tuple[str, ...],
    *,
    wait: bool,
    as_json: bool,
) -> int:
    if change.successor is not None and change.deprecate is None:
        raise click.UsageError("--successor needs --deprecate")
    if bool(change.skills) + bool(change.revoked) + (change.deprecate is not None) != 1:
        raise click.UsageError("name skills to deploy, or give --revoke, or --deprecate: each is a release")
    if change.skills:
        return deploy_shared(of, tenants, tuple(_directories(change.skills)), environments, wait=wait, as_json=as_json)
    if environments:
        raise click.UsageError("--environment is for skills that are deployed")
    if len(tenants) > 1:
        raise click.UsageError("--revoke and --deprecate take one --tenant")
    one = of.in_tenant(tenants[0] if tenants else None)
    if change.deprecate is not None:
        return deprecate_shared(one, change.deprecate, change.successor, wait=wait, as_json=as_json)
    return revoke_shared(one, change.revoked, wait=wait, as_json=as_json)


def _pending(repository: DeploymentRepository, *, as_json: bool) -> int:
    report = repository.pending()
    if report is not None:
        return printed_report(report, repository, as_json=as_json)
    if as_json:
        output.document({"release": None, "state": "none"})
    else:
        output.line("no release is pending")
    return exit_codes.OK


def _discarded(repository: DeploymentRepository, *, as_json: bool) -> int:
    found = repository.discard_pending()
    if as_json:
        output.document({"discarded": None if found is None else found.number})
    else:
        output.line("no release is pending" if found is None else f"release {found.number} is no longer pending")
    return exit_codes.OK


def _directories(skills: Sequence[str]) -> Iterator[str]:
    for text in skills:
        installed = None if os.path.lexists(text) or os.sep in text else _installed(text)
        if installed is not None:
            yield installed
            continue
        if not os.path.lexists(text):
            raise click.UsageError(f"{text!r} is neither a path nor an installed skill")
        for target in targets((text,)):
            yield target.directory or target.path


def _installed(name: str) -> str | None:
    for kind in _SCOPES:
        scope = InstallScope.find(kind)
        with suppress(FileNotFoundError):
            for skill in read_lock(scope.lock).skills:
                if skill.name == name:
                    return stored_tree(scope.home, skill.tree, skill.name)
    return None
