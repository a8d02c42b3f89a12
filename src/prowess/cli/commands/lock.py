"""`prowess lock`: mends, checks and merges locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.places import working_directory
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.catalog.project import project_root
from prowess.cli import exit_codes, output
from prowess.cli.options.package_options import accept_option
from prowess.distribution.installation.installing import InstallOptions, resolve_lock
from prowess.distribution.installation.scope import InstallScope
from prowess.distribution.locks.mending import mend_lock, merge_lock_files
from prowess.distribution.locks.merge_driver import set_up_git
from prowess.errors import LockfileError, SkillError
from prowess.lockfile.places import lock_bytes, lock_path, read_lock
from prowess.lockfile.unmet import unmet

if TYPE_CHECKING:
    from prowess.distribution.locks.mending import Mended
    from prowess.lockfile.lock import Lockfile
    from prowess.lockfile.places import Scope

_scope_option = click.option(
    "--scope",
    type=click.Choice(("project", "personal")),
    default="project",
    help="The lock of this project (default), or your own lock for all projects.",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group(name="lock", invoke_without_command=True)
@_scope_option
@accept_option
@_json_option
@click.pass_context
def command(context: click.Context, scope: Scope, *, accepted: tuple[str, ...], as_json: bool) -> int | None:
    """Mend a lock after a merge, and choose versions that fit.

    If prowess.lock has conflict markers of git, both sides are merged: from git's three stages or, without them, from
    the text. If a skill then requires another one that the lock does not have, versions are chosen that meet all
    demands: each locked version is kept if it can be. If everything fits, nothing is fetched.

    \b
    Example:
      git merge feature
      prowess lock
      git add prowess.lock
    """  # noqa: D301 -- click needs the control character
    if context.invoked_subcommand is not None:
        return None
    path = _lock_of(scope)
    mended = mend_lock(path)
    if mended is not None and not as_json:
        output.line(f"{printable_line(path)}: {mended}")
    lock = read_lock(path)
    if problems := _unmet(lock):
        try:
            resolve_lock(InstallScope.find(scope), InstallOptions(accepted=accepted))
        except SkillError:
            _reported(path, lock, problems, as_json=as_json, mended=mended)
            raise
        lock = read_lock(path)
    return _reported(path, lock, _unmet(lock), as_json=as_json, mended=mended)


@command.command(name="check")
@click.argument("file", metavar="[FILE]", required=False)
@_scope_option
@_json_option
def check(file: str | None, scope: Scope, *, as_json: bool) -> int:
    """Check that a lock can be read, and that its requirements fit.

    Exits with 1 if the file is missing, was changed by hand, has conflict markers, or if a skill requires another one
    that the lock does not have. Nothing is fetched.

    \b
    Example:
      prowess lock check
    """  # noqa: D301 -- click needs the control character
    path = file or _lock_of(scope)
    try:
        if lock_bytes(path) is None:
            problem = _problem("lock_missing", None, f"{path} does not exist", "prowess install SOURCE")
            return _reported(path, None, [problem], as_json=as_json)
        lock = read_lock(path)
    except LockfileError as fault:
        return _reported(path, None, [_problem("lock_invalid", None, str(fault), "")], as_json=as_json)
    return _reported(path, lock, _unmet(lock), as_json=as_json)


@command.command(name="merge")
@click.argument("base", metavar="BASE")
@click.argument("ours", metavar="OURS")
@click.argument("theirs", metavar="THEIRS")
@_json_option
def merge(base: str, ours: str, theirs: str, *, as_json: bool) -> int:
    """Merge two locks that come from BASE, and write the result to OURS.

    Git calls this command after `prowess lock setup-git`. A changed block wins over an unchanged one, a present one
    over a removed one, then the higher version. If the result has requirements that do not fit, it is written and they
    are reported. An empty BASE is a lock without skills.

    \b
    Example:
      prowess lock merge base.lock prowess.lock theirs.lock
    """  # noqa: D301 -- click needs the control character
    merged = merge_lock_files(base, ours, theirs)
    problems = _unmet(merged)
    if as_json:
        output.document(_answer(ours, merged, problems))
    for problem in problems:
        output.note(f"{printable_line(str(problem['message']))}; run `{problem['fix']}`")
    return exit_codes.OK


@command.command(name="setup-git")
@_json_option
def setup_git(*, as_json: bool) -> int:
    """Let git merge prowess.lock block by block in this repository.

    Registers `prowess lock merge` as merge driver in the configuration of this clone, and adds a line to
    .gitattributes. Each clone needs the command once. Without it, `prowess lock` mends a lock after a conflict.

    \b
    Example:
      prowess lock setup-git
      git add .gitattributes
    """  # noqa: D301 -- click needs the control character
    done = set_up_git(working_directory())
    if as_json:
        output.document(
            {
                "repository": done.repository,
                "driver": done.driver,
                "attributes": done.attributes,
                "changed": list(done.changed),
            }
        )
        return exit_codes.OK
    state = "merges" if done.changed else "already merges"
    output.line(f"{output.shown_path(done.repository)} {state} prowess.lock with: {printable_line(done.driver)}")
    return exit_codes.OK


def _lock_of(scope: Scope) -> str:
    return lock_path(scope, project_root(working_directory()) if scope == "project" else None)


def _reported(
    path: str, lock: Lockfile | None, problems: list[dict[str, object]], *, as_json: bool, mended: Mended | None = None
) -> int:
    if as_json:
        output.document({**_answer(path, lock, problems), "mended": None if mended is None else mended.origin})
    elif lock is not None and not problems:
        targets = f", {counted(len(lock.targets), 'target')}" if lock.targets else ""
        output.line(f"{output.shown_path(path)}: {counted(len(lock.skills), 'skill')}{targets}, all requirements fit")
    for problem in () if as_json else problems:
        fix = f"; run `{problem['fix']}`" if problem["fix"] else ""
        output.error(printable_line(f"{problem['message']}{fix}"))
    return exit_codes.FAILED if problems else exit_codes.OK


def _answer(path: str, lock: Lockfile | None, problems: list[dict[str, object]]) -> dict[str, object]:
    return {
        "lock": path,
        "skills": None if lock is None else len(lock.skills),
        "targets": None if lock is None else len(lock.targets),
        "problems": problems,
    }


def _unmet(lock: Lockfile) -> list[dict[str, object]]:
    return [_problem("requirement_unmet", fault.skill, str(fault), "prowess lock") for fault in unmet(lock)]


def _problem(code: str, skill: str | None, message: str, fix: str) -> dict[str, object]:
    return {"code": code, "skill": skill, "message": message, "fix": fix}
