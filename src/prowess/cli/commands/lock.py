"""`prowess lock`: mends, checks and merges locks, and converts those of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.places import working_directory
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.package_options import accept_option, allow_host_option, change_options, scope_option
from prowess.cli.packages.changes import carried_out
from prowess.cli.packages.permission import permission_for
from prowess.distribution.installation.report import Problem, unmet_problems
from prowess.distribution.locks.mending import mend_lock, merge_lock_files
from prowess.distribution.locks.merge_driver import set_up_git
from prowess.errors import LockfileError, SkillError
from prowess.lockfile.places import lock_bytes, read_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.locks.mending import MendedLock
    from prowess.lockfile.lock import Lockfile
    from prowess.lockfile.places import Scope


@click.group(name="lock", invoke_without_command=True)
@scope_option
@accept_option
@allow_host_option
@json_option
@click.pass_context
def command(
    context: click.Context, kind: Scope, *, accepted: tuple[str, ...], allowed_hosts: tuple[str, ...], as_json: bool
) -> int | None:
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
    path = _lock_of(kind)
    try:
        mended = mend_lock(path)
        lock = read_lock(path)
    except LockfileError as fault:
        return _reported(path, None, [_unreadable(fault)], as_json=as_json)
    if mended is not None and not as_json:
        output.line(f"{printable_line(path)}: {mended}")
    if problems := unmet_problems(lock):
        # Imported here because git calls `lock merge` for each merge, which needs no sources.
        from prowess.cli.packages.registries import resolving_access
        from prowess.distribution.installation.installing import InstallOptions, resolve_lock
        from prowess.distribution.installation.scope import InstallScope

        try:
            permission = permission_for("packages.update", kind)
            options = InstallOptions(accepted=accepted, access=resolving_access(allowed_hosts))
            resolve_lock(InstallScope.find(kind), options, permission=permission)
        except SkillError:
            _reported(path, lock, problems, as_json=as_json, mended=mended)
            raise
        lock = read_lock(path)
    return _reported(path, lock, unmet_problems(lock), as_json=as_json, mended=mended)


@command.command(name="check")
@click.argument("file", metavar="[FILE]", required=False)
@scope_option
@json_option
def check(file: str | None, kind: Scope, *, as_json: bool) -> int:
    """Check that a lock can be read, and that its requirements fit.

    Exits with 1 if the file is missing, was changed by hand, has conflict markers, or if a skill requires another one
    that the lock does not have. Nothing is fetched.

    \b
    Example:
      prowess lock check
    """  # noqa: D301 -- click needs the control character
    path = file or _lock_of(kind)
    try:
        if lock_bytes(path) is None:
            problem = Problem(
                code="lock_missing", skill=None, message=f"{path} does not exist", fix="prowess install SOURCE"
            )
            return _reported(path, None, [problem], as_json=as_json)
        lock = read_lock(path)
    except LockfileError as fault:
        return _reported(path, None, [_unreadable(fault)], as_json=as_json)
    return _reported(path, lock, unmet_problems(lock), as_json=as_json)


@command.command(name="merge")
@click.argument("base", metavar="BASE")
@click.argument("ours", metavar="OURS")
@click.argument("theirs", metavar="THEIRS")
@json_option
def merge(base: str, ours: str, theirs: str, *, as_json: bool) -> int:
    """Merge two locks that come from BASE into OURS.

    Git calls this command after `prowess lock setup-git`. A changed block wins over an unchanged one, a present one
    over a removed one, then the higher version. If the result has requirements that do not fit, it is written and they
    are reported. An empty BASE is a lock without skills.

    \b
    Example:
      prowess lock merge base.lock prowess.lock theirs.lock
    """  # noqa: D301 -- click needs the control character
    merged = merge_lock_files(base, ours, theirs)
    problems = unmet_problems(merged)
    if as_json:
        output.document(_answer(ours, merged, problems))
    for problem in problems:
        output.note(printable_line(str(problem)))
    return exit_codes.OK


@command.command(name="setup-git")
@json_option
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


@command.command(name="import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--offline", is_flag=True, help="Contact no host; use only local sources.")
@click.option("--dry-run", is_flag=True, help="Fetch and check, but change nothing.")
@accept_option
@change_options
def import_(
    *,
    files: tuple[str, ...],
    offline: bool,
    dry_run: bool,
    accepted: tuple[str, ...],
    kind: Scope,
    as_json: bool,
    quiet: bool,
) -> int:
    """Install the skills of another tool's lock.

    FILE is skills-lock.json, .skill-lock.json, apm.lock.yaml, skills.lock.json, toolhive.lock.yaml or harness.lock.
    Each skill is fetched and checked by the hash of that tool. All skills are installed, or none. Parts without
    counterpart in prowess.lock are reported. FILE stays as it is.

    \b
    Example:
      prowess lock import skills-lock.json
    """  # noqa: D301 -- click needs the control character
    # Imported here for the same reason as above.
    from prowess.distribution.installation.installing import InstallOptions
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.locks.importing import import_locks, read_foreign_file
    from prowess.distribution.sources.protocol import Access

    scope = InstallScope.find(kind)
    locks = [read_foreign_file(file) for file in files]
    options = InstallOptions(dry_run=dry_run, accepted=accepted, access=Access(offline=offline))
    permission = permission_for("packages.install", kind)
    return carried_out(
        scope,
        lambda: import_locks(scope, locks, options, permission=permission),
        as_json=as_json,
        quiet=quiet,
        dry_run=dry_run,
    )


@command.command(name="export")
@click.argument("file", metavar="FILE")
@scope_option
@json_option
def export(file: str, kind: Scope, *, as_json: bool) -> int:
    """Write the lock as skills-lock.json of the npm client `skills`.

    FILE is replaced if it exists. Skills of sources that the client does not know are left out and reported.

    \b
    Example:
      prowess lock export skills-lock.json
    """  # noqa: D301 -- click needs the control character
    # Imported here for the same reason.
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.locks.exporting import export_lock

    done = export_lock(InstallScope.find(kind), file)
    problems = [
        Problem(code="unmapped", skill=None, message=f"{done.path} has no place for {what}", fix="")
        for what in done.unmapped
    ]
    if as_json:
        answer = {"path": done.path, "skills": list(done.skills), "problems": [one.as_dict() for one in problems]}
        output.document(answer)
    else:
        output.line(f"{output.shown_path(done.path)}: {counted(len(done.skills), 'skill')}")
        for problem in problems:
            output.note(printable_line(problem.message))
    return exit_codes.OK


def _lock_of(kind: Scope) -> str:
    from prowess.distribution.installation.scope import InstallScope  # Imported here for the same reason.

    return InstallScope.find(kind).lock


def _reported(
    path: str, lock: Lockfile | None, problems: Sequence[Problem], *, as_json: bool, mended: MendedLock | None = None
) -> int:
    if as_json:
        output.document({**_answer(path, lock, problems), "mended": None if mended is None else mended.origin})
    elif lock is not None and not problems:
        targets = f", {counted(len(lock.targets), 'target')}" if lock.targets else ""
        output.line(f"{output.shown_path(path)}: {counted(len(lock.skills), 'skill')}{targets}, all requirements fit")
    for problem in () if as_json else problems:
        output.error(printable_line(str(problem)))
    return exit_codes.FAILED if problems else exit_codes.OK


def _answer(path: str, lock: Lockfile | None, problems: Sequence[Problem]) -> dict[str, object]:
    return {
        "lock": path,
        "skills": None if lock is None else len(lock.skills),
        "targets": None if lock is None else len(lock.targets),
        "problems": [problem.as_dict() for problem in problems],
    }


def _unreadable(fault: LockfileError) -> Problem:
    return Problem(code="lock_invalid", skill=None, message=str(fault), fix="")
