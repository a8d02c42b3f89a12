"""`prowess revoke`: takes deployed skills away from every host."""

from __future__ import annotations

import click

from prowess.cli.options.package_options import deployment_key_option, json_option
from prowess.cli.packages.deployments import printed_report, signing_keys
from prowess.distribution.deployment.deploy import revoke
from prowess.distribution.deployment.repository import DeploymentRepository


@click.command()
@click.argument("skills", nargs=-1, required=True, metavar="NAME|DIGEST...")
@click.option("--to", "to", required=True, metavar="DIR", help="The directory of the deployment.")
@deployment_key_option
@json_option
def command(*, skills: tuple[str, ...], to: str, key_files: tuple[str, ...], as_json: bool) -> int:
    """Sign a new release without some of the deployed skills. Hosts remove them when they take it.

    A skill is given by its name, or by the digest of its tree. As with `prowess deploy`, a release with too few
    signatures is kept as pending, and the exit code is 3.

    \b
    Example:
      prowess revoke csv-report --to /srv/deployment --key alice.key --key bob.key
    """  # noqa: D301 -- click needs the control character
    if not key_files:
        raise click.UsageError("give the key that signs: --key FILE")
    repository = DeploymentRepository(to)
    report = revoke(skills, repository, signing_keys(repository, key_files, "packages.revoke"))
    return printed_report(report, repository, as_json=as_json)
