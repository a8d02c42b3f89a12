"""Parts of the commands that change a deployment: its keys, and the report of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.key_files import read_signing_key
from prowess.cli.packages.permission import permission_for
from prowess.distribution.deployment.deploy import DeploymentKeys
from prowess.distribution.deployment.permitted import SCOPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.deployment.repository import DeploymentRepository, DeployReport


def signing_keys(repository: DeploymentRepository, files: Sequence[str], tool: str) -> DeploymentKeys:
    """Return the keys of these files, and the permission for calls of `tool`.

    The online key is read from where `registry init` found it, if it is needed.
    """
    keys = [read_signing_key(file) for file in files]
    return DeploymentKeys(keys, lambda: read_signing_key(repository.online_file()), permission_for(tool, SCOPE))


def printed_report(report: DeployReport, repository: DeploymentRepository, *, as_json: bool) -> int:
    """Print the result for a release, and return the exit code: 3 if it waits for more signatures."""
    release = report.release
    if as_json:
        document = {
            "release": release.number,
            "skills": [{"name": one.name, "version": one.version, "tree": one.tree} for one in release.skills],
            "state": report.state,
            "signed_by": report.signed_by,
            "missing": report.missing,
        }
        output.document(document)
    else:
        place = output.shown_path(repository.directory)
        output.line(f"release {release.number} {report.state} in {place}: {counted(len(release.skills), 'skill')}")
        for one in release.skills:
            version = f" {one.version}" if one.version else ""
            output.line(printable_line(f"  {one.name}{version}  {one.tree}"))
    if report.state != "pending":
        return exit_codes.OK
    place = output.shown_path(repository.directory)
    needed = f"{counted(report.missing, 'more signature')} needed; nothing was published"
    output.error(f"{needed}. Another signer runs: prowess deploy --to {place} --key FILE")
    return exit_codes.DENIED
