"""Runs and prints one change of the installed skills, for all commands that make one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.distribution.installation.report import InstallReport, Problem
from prowess.errors import SkillError
from prowess.lockfile.version_ranges import ANY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.distribution.installation.report import SkillReport, TargetReport
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile import LockedSkill

_DONE = {"install": "Installed", "update": "Updated", "remove": "Removed"}
_PLANNED = {"install": "Would install", "update": "Would update", "remove": "Would remove"}


def carried_out(
    scope: InstallScope,
    change: Callable[[], InstallReport],
    *,
    as_json: bool,
    quiet: bool,
    dry_run: bool = False,
    updating: tuple[str, ...] = (),
) -> int:
    """Make a change, print the report, and return the exit code: 1 if something is not as the lock has it.

    `updating` are the skills that should get another version: if a request of the lock prevents that, a note tells it.

    Raises:
        SkillError: nothing was changed. With `as_json`, a report with the problem was printed.
    """
    try:
        report = change()
    except SkillError as fault:
        if as_json:
            output.document(_refused(scope, fault).as_dict())
        raise
    if as_json:
        output.document(report.as_dict())
    else:
        _print(report, quiet=quiet, dry_run=dry_run)
        for skill in () if quiet else report.skills:
            if skill.action == "keep" and skill.skill.name in updating and skill.skill.requested not in {None, ANY}:
                _note_request(skill.skill)
        if not (quiet or dry_run) and any(skill.action == "install" for skill in report.skills):
            _note_distrust(scope)
    return exit_codes.FAILED if any(problem.is_failure for problem in report.problems) else exit_codes.OK


def _note_request(skill: LockedSkill) -> None:
    kept = f"{skill.name} stays at {skill.version or 'its version'}, because {skill.requested} is asked for"
    other = f"prowess install {skill.source}@RANGE --skill {skill.name}"
    output.note(printable_line(f"{kept}; to ask for another version: {other}"))


def _note_distrust(scope: InstallScope) -> None:
    """Tell that a project is not trusted: its installed skills are held back like its own."""
    from prowess.catalog.trust import TrustStore  # Imported here because most commands install nothing.

    if scope.kind == "project" and not TrustStore().is_trusted(scope.directory):
        trust = f"prowess trust {scope.directory}"
        output.note(printable_line(f"the project is not trusted, so its skills are held back; run `{trust}`"))


def _refused(scope: InstallScope, fault: SkillError) -> InstallReport:
    problem = Problem(code=fault.code, skill=None, message=str(fault), fix="")
    return InstallReport(scope=scope.kind, lock=scope.lock, changed=False, problems=(problem,))


def _print(report: InstallReport, *, quiet: bool, dry_run: bool) -> None:
    verbs = _PLANNED if dry_run else _DONE
    if not quiet:
        changed = [skill for skill in report.skills if skill.action in verbs]
        for skill in changed:
            output.line(f"{verbs[skill.action]} {_described(skill)}")
        for target in report.targets:
            if target.state not in {"current", "drifted"}:
                output.line(_target_line(target))
        if not (changed or report.problems or any(target.state != "current" for target in report.targets)):
            names = counted(sum(skill.action == "keep" for skill in report.skills), "skill")
            done = "no skill changed, only requests or targets" if report.changed else "nothing to do"
            output.line(f"{names} in {output.shown_path(report.lock)}: {done}")
    for problem in report.problems:
        output.note(printable_line(str(problem)))


def _described(report: SkillReport) -> str:
    skill = report.skill
    version = f" {skill.version}" if skill.version else ""
    signer = f", signed by {skill.signer}" if skill.signer else ""
    signer += ", which is not trusted here" if report.status == "untrusted" and signer else ""
    return printable_line(f"{skill.name}{version} ({skill.source}{signer})")


def _target_line(target: TargetReport) -> str:
    what = f" for {target.agent} ({target.mode})" if target.agent else ""
    return printable_line(f"{target.state.capitalize()} {output.shown_path(target.path)}{what}")
