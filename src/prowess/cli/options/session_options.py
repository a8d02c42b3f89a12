"""Options and checks of commands that run calls: workspace, policy and audit log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.places import (
    NotPrivateError,
    WorkingDirectoryError,
    audit_path,
    ensure_private_directory,
    prowess_home,
    working_directory,
)
from prowess._internal.text.terminal_text import printable_line
from prowess.audit.log import JsonlAuditLog
from prowess.cli import output
from prowess.cli.options import together
from prowess.errors import AuditError
from prowess.execution import usable_workspace
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from prowess.policy import Policy, PolicyInForce

_DIRECTORY = click.Path(exists=True, file_okay=False)

workspace_options = together(
    click.option("--workspace", type=_DIRECTORY, help="Directory that scripts work on (default: the current one)."),
    click.option("--write", is_flag=True, help="Let scripts write to the workspace."),
)
policy_option = click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    help="Additional policy file. It can only tighten the policies of this machine and user.",
)

first_argument_option = click.option(
    "--first-argument",
    type=click.IntRange(0, 1),
    help="Number of a skill's first argument: 0 for $0, 1 for $1 (default: as in your config.toml, else 0).",
)
profile_option = click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="Meaning of allowed-tools: in claude-code it pre-approves tools, in all others it restricts them "
    "(default: [session] profile of your config.toml).",
)


def open_workspace(named: str | None, *, quiet: bool = False) -> str | None:
    """Return the directory that scripts may see: `named`, or else the current directory.

    Returns None and prints a note if the current directory is gone or cannot be used.

    Raises:
        click.BadParameter: `named` is refused. A run without this directory would not be what the user requested.
    """
    try:
        chosen, refused = usable_workspace(named or working_directory())
    except WorkingDirectoryError as gone:
        chosen, message = None, f"{gone}; scripts run without a workspace. Name one with --workspace"
    else:
        message = "" if refused is None else refused.message
    if message and named is not None:
        raise click.BadParameter(printable_line(message.partition(";")[0]), param_hint="--workspace")
    if message and not quiet:
        output.note(printable_line(message))
    return chosen


def writable_home(consequence: str) -> str | None:
    """Return this user's Prowess directory, creating it if missing.

    If it cannot be used, prints a note that ends with `consequence`, and returns None.
    """
    home = prowess_home()
    why = "cannot be written"
    try:
        ensure_private_directory(home)
        if os.access(home, os.W_OK):
            return home
    except NotPrivateError as fault:
        why = f"is not used, because {fault.strerror}"
    except OSError:
        pass
    output.note(printable_line(f"{home} {why}: {consequence}"))
    return None


def audit_log(home: str | None) -> JsonlAuditLog | None:
    """Return the audit log of this user's commands, flushed to disk after each record; None without a home."""
    return None if home is None else JsonlAuditLog(audit_path(), fsync="record")


def open_rules(policy_file: str | None, unlogged: str) -> tuple[PolicyInForce, JsonlAuditLog | None]:
    """Return the policy of this machine, this user and `policy_file`, and the log of this user's commands.

    If the home cannot be written, the log is None and the note `unlogged` is printed.

    Raises:
        AuditError: the policy requires a record of each call, and there is no log.
        PolicyError: a policy file cannot be read.
    """
    # Imported here because other commands that use this module read no policy.
    from prowess.policy.policy_in_force import PolicyInForce

    audit, policy = audit_log(writable_home(unlogged)), PolicyInForce(policy_file=policy_file)
    require_log(policy.require(), audit)
    return policy, audit


def require_log(policy: Policy, audit: JsonlAuditLog | None) -> None:
    """Raise AuditError at the start, not at every call, if the policy requires records here and there is no log."""
    if policy.audit_required and policy.audit_sink == "file" and audit is None:
        raise AuditError(audit_path(), "it cannot be written, and the policy permits no call without a record")
