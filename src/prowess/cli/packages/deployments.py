"""Parts of the commands that change a deployment: its keys, and the report of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.key_files import key_file_bytes, read_signing_key
from prowess.cli.packages.permission import permission_for
from prowess.distribution.deployment.deploy import DeploymentKeys
from prowess.distribution.deployment.permitted import SCOPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease
    from prowess.distribution.deployment.repository import DeploymentRepository, DeployReport

_MOST_ROOT = 512_000  # bytes; the limit of python-tuf


def read_root(path: str) -> bytes:
    """Return root metadata. Raises click.UsageError if the file cannot be read."""
    return key_file_bytes(path, _MOST_ROOT)


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
        output.document({"skills": _rows(release), **release_facts(report)})
    else:
        place = output.shown_path(repository.directory)
        output.line(f"release {release.number} {report.state} in {place}: {counted(len(release.skills), 'skill')}")
        for one in release.skills:
            change = _change_of(one, report)
            output.line(printable_line(f"  {_shown(one)}  {one.tree}{f'  {change}' if change else ''}"))
        for one in _removed(report):
            output.line(printable_line(f"  {_shown(one)}  removed"))
        if release.index is not None:
            output.line(f"  the index of published skills  sha256:{release.index.sha256}")
    return told_if_pending(report, repository, "deploy")


def print_releases(repository: DeploymentRepository, *, as_json: bool) -> None:
    """Print the releases of a deployment, the present one first."""
    releases = tuple(repository.releases())
    if as_json:
        rows = [{"number": one.number, "skills": _rows(one)} for one in releases]
        output.document({"deployment": repository.directory, "releases": rows})
        return
    for number, one in enumerate(releases):
        names = ", ".join(map(_shown, one.skills)) or "no skills"
        output.line(printable_line(f"{' ' if number else '*'} {one.number:>3}  {names}"))


def _rows(release: SkillRelease) -> list[dict[str, object]]:
    return [{"name": one.name, "version": one.version, "tree": one.tree} for one in release.skills]


def _shown(skill: ReleasedSkill) -> str:
    return f"{skill.name} {skill.version}" if skill.version else skill.name


def _change_of(skill: ReleasedSkill, report: DeployReport) -> str:
    """Return what a release does to one of its skills: `added`, `replaced`, or nothing."""
    before = report.before.find(skill.name)
    if before is None:
        return "added"
    if before.tree == skill.tree:
        return ""
    return f"replaces {before.version}" if before.version not in {None, skill.version} else "replaced"


def _removed(report: DeployReport) -> list[ReleasedSkill]:
    return [skill for skill in report.before.skills if report.release.find(skill.name) is None]


def release_facts(report: DeployReport) -> dict[str, object]:
    """Return the number and state of a release, what it changes, and its signatures, for a JSON document."""
    changes = {skill.name: _change_of(skill, report) for skill in report.release.skills}
    return {
        "added": [name for name, change in changes.items() if change == "added"],
        "replaced": [name for name, change in changes.items() if change not in {"added", ""}],
        "removed": [skill.name for skill in _removed(report)],
        "release": report.release.number,
        "state": report.state,
        "signed_by": report.signed_by,
        "missing": report.missing,
        "index": None if report.release.index is None else f"sha256:{report.release.index.sha256}",
    }


def told_if_pending(report: DeployReport, repository: DeploymentRepository, command: str) -> int:
    """Print what other signers run if a release waits for signatures, and return the exit code: then 3."""
    if report.state != "pending":
        return exit_codes.OK
    place = output.shown_path(repository.directory)
    needed = f"{counted(report.missing, 'more signature')} needed; nothing was published"
    output.error(f"{needed}. Another signer runs: prowess {command} --to {place} --key FILE")
    return exit_codes.DENIED
