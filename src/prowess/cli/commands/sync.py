"""`prowess sync`: brings the skills of this host to the release of a deployment."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from prowess._internal.files.enrolment import given_to_machine
from prowess._internal.places import weakness_above
from prowess._internal.text.terminal_text import counted, json_text, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.package_options import allow_host_option
from prowess.cli.packages.deployments import read_root
from prowess.cli.packages.permission import permission_for
from prowess.cli.signals import ended_in_order
from prowess.distribution.deployment.host import DeploymentHost
from prowess.distribution.deployment.host_reports import is_host_id, report_host
from prowess.distribution.deployment.origin import DirectoryDeployment, open_origin
from prowess.distribution.deployment.permitted import SCOPE
from prowess.distribution.deployment.repository import DeploymentRepository

if TYPE_CHECKING:
    from prowess.distribution.deployment.host import SyncReport
    from prowess.distribution.deployment.origin import DeploymentSource

_CODES = {
    "current": exit_codes.OK,
    "stale": exit_codes.UNAVAILABLE,
    "refused": exit_codes.FAILED,
    "none": exit_codes.UNAVAILABLE,
}
_TOOL = "packages.sync"
_ROOT = 0  # the user that must own enterprise skills
_EVERY = 30.0  # seconds between two looks
_REPORT_SECONDS = 30.0  # between two reports of the same release


@click.command()
@click.option("--from", "source", required=True, metavar="DIR|URL", help="The deployment.")
@click.option("--root", "root_file", metavar="FILE", help="The root metadata to trust, needed the first time.")
@click.option("--into", "into", required=True, metavar="ROOT", help="Where skills/ is; /etc/prowess for the machine.")
@click.option("--host", metavar="ID", help="Report the release under this name in DIR/hosts.")
@click.option(
    "--watch",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    is_flag=False,
    flag_value=_EVERY,
    help="Look again every SECONDS (30 if not given), until Ctrl-C.",
)
@allow_host_option
@json_option
def command(
    *,
    source: str,
    root_file: str | None,
    into: str,
    host: str | None,
    watch: float | None,
    allowed_hosts: tuple[str, ...],
    as_json: bool,
) -> int:
    """Verify the deployment at DIR or URL, write ROOT/releases/N, then turn the link ROOT/skills to it.

    A release appears whole or not at all. If the source cannot be reached, the host keeps its release, and the exit
    code is 4; if it is refused, for example because signatures are missing or metadata is old, the exit code is 1. The
    root metadata is DIR/metadata/1.root.json; get it from an administrator, not from the source.

    \b
    Example:
      prowess sync --from https://skills.example.com --root root.json --into /etc/prowess
      prowess sync --from /srv/deployment --into /etc/prowess --host build-1 --watch 30
    """  # noqa: D301 -- click needs the control character
    if host is not None and not is_host_id(host):
        raise click.BadParameter("an ID has letters, digits, dots, _ and -, at most 100", param_hint="--host")
    if host is not None and "://" in source:
        raise click.BadParameter(
            "a web server takes no reports of hosts; leave it out, or read the deployment from a shared directory",
            param_hint="--host",
        )
    root = None if root_file is None else read_root(root_file)
    origin, target = (
        open_origin(source, allowed_hosts),
        DeploymentHost(into, given_to_machine("environment") or os.environ.get("PROWESS_ENVIRONMENT")),
    )
    with ended_in_order():
        try:
            report = target.sync(origin, root, permission=permission_for(_TOOL, SCOPE))
            _print(report, as_json=as_json, in_one_line=watch is not None)
            if report.skills and not as_json and (weakness := weakness_above(os.path.join(into, "skills"), _ROOT)):
                output.note(printable_line(f"these skills are not used as enterprise skills: {weakness}"))
            reported = _reported(origin, host, report, None)
            while watch is not None:
                time.sleep(watch)
                before = report
                report = target.sync(origin, root, thorough=False, permission=permission_for(_TOOL, SCOPE))
                if (before.state, before.release, before.reason) != (report.state, report.release, report.reason):
                    _print(report, as_json=as_json, in_one_line=True)
                if before.release != report.release:
                    reported = None
                reported = _reported(origin, host, report, reported)
        finally:
            origin.close()
    return _CODES[report.state]


def _reported(origin: DeploymentSource, host: str | None, report: SyncReport, last: float | None) -> float | None:
    """Write the report of this host if it is due, and return when the last one was written."""
    now = time.monotonic()
    if (
        host is None
        or not isinstance(origin, DirectoryDeployment)
        or (last is not None and now < last + _REPORT_SECONDS)
    ):
        return last
    with suppress(OSError):  # a source that cannot be written is still a source
        report_host(DeploymentRepository(origin.shown), host, report.release)
    return now


def _print(report: SyncReport, *, as_json: bool, in_one_line: bool) -> None:
    if as_json:
        skills = [{"name": one.name, "version": one.version, "tree": one.tree} for one in report.skills]
        document = {
            "state": report.state,
            "changed": report.changed,
            "release": report.release,
            "since": report.since,
            "reason": report.reason,
            "skills": skills,
        }
        if in_one_line:
            output.line(json_text(document))
        else:
            output.document(document)
        return
    release = "no release" if report.release is None else f"release {report.release}"
    since = "" if report.since is None else f", verified {report.since}"
    output.line(f"{report.state}: {release}, {counted(len(report.skills), 'skill')}{since}")
    if report.reason:
        output.error(printable_line(report.reason))
