"""`prowess publish`: checks skills and publishes them to a directory or a container registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.governance_options import require_role_if_governed
from prowess.cli.options.package_options import allow_host_option, deployment_key_option
from prowess.cli.packages.checked import check_errors
from prowess.cli.packages.deployments import release_facts, signing_keys, told_if_pending
from prowess.cli.targets import targets
from prowess.distribution.deployment.repository import DeploymentRepository
from prowess.distribution.publishing.publish import publish
from prowess.errors import InvalidArgumentsError
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from prowess.distribution.publishing.publish import PublishReport
    from prowess.lockfile.source_reference import SourceReference


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--to", "to", required=True, metavar="DIR|oci://REGISTRY/PATH", help="Where to publish.")
@deployment_key_option
@click.option("--yank", multiple=True, metavar="NAME@VERSION", help="Let only locks that name this version install it.")
@allow_host_option
@json_option
def command(
    *,
    paths: tuple[str, ...],
    to: str,
    key_files: tuple[str, ...],
    yank: tuple[str, ...],
    allowed_hosts: tuple[str, ...],
    as_json: bool,
) -> int:
    """Check the skills at PATH and publish them.

    A directory gets .well-known/agent-skills/index.json and artifacts; any web server can serve it. A container
    registry gets one repository for each skill and one tag for each version. `prowess check` must find no errors. The
    version is metadata.version in SKILL.md; a published version never changes.

    A directory that `prowess registry init` made also gets signed metadata beside the index, and needs --key. With too
    few signatures nothing is published, and the exit code is 3; other signers run this with the same skills, or with
    none, which signs the pending release as it is.

    \b
    Example:
      prowess publish examples/skills --to build/registry
      prowess publish ./csv-report --to /srv/registry --key alice.key --key bob.key
      prowess publish ./csv-report --to oci://registry.example.com/skills
      prowess publish --to build/registry --yank csv-report@1.0.0
    """  # noqa: D301 -- click needs the control character
    if not paths and not yank and not key_files:
        raise click.UsageError("name the skills to publish, or a version with --yank")
    require_role_if_governed("publish")
    destination = _destination(to)
    repository = DeploymentRepository(destination.location)
    report = publish(
        [target.directory or target.path for target in targets(paths)],
        destination,
        check=check_errors,
        yank=[_version(text) for text in yank],
        allowed_hosts=allowed_hosts,
        signing=signing_keys(repository, key_files, "packages.deploy") if key_files else None,
    )
    for warning in report.warnings:
        output.note(printable_line(f"warning: {warning}"))
    if as_json:
        output.document(_document(report))
    for row in () if as_json else report.published:
        version = "" if row.version is None else f" {row.version}"
        output.line(printable_line(f"{row.status:<9}  {row.name}{version}  {row.artifact}"))
    return exit_codes.OK if report.release is None else told_if_pending(report.release, repository, "publish")


def _destination(text: str) -> SourceReference:
    try:
        return parse_reference(text if "://" in text else f"./{text}" if not text.startswith(("/", ".", "~")) else text)
    except InvalidArgumentsError as fault:
        raise click.BadParameter(printable_line(str(fault)), param_hint="--to") from None


def _version(text: str) -> tuple[str, str]:
    name, at, version = text.partition("@")
    if not (name and at and version):
        raise click.BadParameter(f"{text!r}: write NAME@VERSION", param_hint="--yank")
    return name, version


def _document(report: PublishReport) -> dict[str, object]:
    rows = [
        {"name": row.name, "version": row.version, "artifact": row.artifact, "status": row.status}
        for row in report.published
    ]
    signed = {} if report.release is None else release_facts(report.release)
    return {"published": rows, "warnings": list(report.warnings), "contacted": list(report.contacted), **signed}
