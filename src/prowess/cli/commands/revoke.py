"""`prowess revoke`: takes deployed skills away from every host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import organisation_options
from prowess.cli.options.package_options import deployment_key_option, wait_option
from prowess.cli.organisation.deployments import revoke_shared
from prowess.cli.packages.deployments import printed_report, signing_keys
from prowess.distribution.deployment.deploy import revoke
from prowess.distribution.deployment.repository import DeploymentRepository

if TYPE_CHECKING:
    from prowess.cli.options.organisation_options import OrganisationOptions


@click.command()
@click.argument("skills", nargs=-1, required=True, metavar="NAME|DIGEST...")
@click.option("--to", "to", metavar="DIR", help="The directory of the deployment.")
@organisation_options
@wait_option
@deployment_key_option
@json_option
def command(
    *,
    skills: tuple[str, ...],
    to: str | None,
    of: OrganisationOptions,
    wait: bool,
    key_files: tuple[str, ...],
    as_json: bool,
) -> int:
    """Sign a new release without some of the deployed skills. Hosts remove them when they take it.

    A skill is given by its name, or by the digest of its tree. As with `prowess deploy`, a release with too few
    signatures is kept as pending, and the exit code is 3.

    \b
    Example:
      prowess revoke csv-report --to /srv/deployment --key alice.key --key bob.key
    """  # noqa: D301 -- click needs the control character
    if of.given:
        of.require_alone(to=to, key=key_files)
        return revoke_shared(of, skills, wait=wait, as_json=as_json)
    if to is None:
        raise click.UsageError("give the deployment: --to DIR, --store URL or --server URL")
    if wait:
        raise click.UsageError("--wait needs --store or --server")
    if not key_files:
        raise click.UsageError("give the key that signs: --key FILE")
    repository = DeploymentRepository(to)
    report = revoke(skills, repository, signing_keys(repository, key_files, "packages.revoke"))
    return printed_report(report, repository, as_json=as_json)
