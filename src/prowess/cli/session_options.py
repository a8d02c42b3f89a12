"""What the commands that run calls share: the workspace they work on, and the home where their log lies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

import click

from prowess._internal.places import WorkingDirectoryError, ensure_private_directory, prowess_home, working_directory
from prowess._internal.privacy import NotPrivateError
from prowess._internal.terminal_text import printable_line
from prowess.cli import output
from prowess.errors import AuditError
from prowess.execution import usable_workspace
from prowess.policy.audit_log import JsonlAuditLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.policy import Policy

_Command = TypeVar("_Command", bound="Callable[..., object]")
_DIRECTORY = click.Path(exists=True, file_okay=False)

_OPTIONS = (
    click.option("--workspace", type=_DIRECTORY, help="The directory that scripts work on (default: the current one)."),
    click.option("--write", is_flag=True, help="Let scripts write to the workspace."),
)


def workspace_options(command: _Command) -> _Command:
    """Give a command `--workspace` and `--write`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_workspace(named: str | None, *, quiet: bool = False) -> str | None:
    """Return the directory that scripts may see: the named or the current one; None, with a note, without one.

    Raises:
        click.BadParameter: the named one is refused. To go on without it would do something else than was asked for.
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
    """Return the home of this user; None, with a note that says what follows, where it cannot be written."""
    home = prowess_home()
    try:
        ensure_private_directory(home)
        why = None if os.access(home, os.W_OK) else f"{home} cannot be written"
    except NotPrivateError as fault:
        why = f"{home} is not used, because {fault.strerror}"
    except OSError:
        why = f"{home} cannot be written"
    if why is None:
        return home
    output.note(printable_line(f"{why}: {consequence}"))
    return None


def audit_log(home: str | None) -> JsonlAuditLog | None:
    """Return the log below this home, one flush to disk a record; None without a home."""
    return None if home is None else JsonlAuditLog(os.path.join(home, "audit", "audit.jsonl"), fsync="record")


def policy_option(command: _Command) -> _Command:
    """Give a command `--policy`."""
    text = "A further policy file; it can only tighten those of this machine and of this user."
    return click.option("--policy", "policy_file", metavar="FILE", help=text)(command)


def require_log(policy: Policy, audit: JsonlAuditLog | None) -> None:
    """Refuse to begin where the policy wants every call recorded and nothing can be.

    Raises:
        AuditError: said once, now, instead of in the answer to every call.
    """
    if policy.audit_required and audit is None:
        raise AuditError(prowess_home(), "it cannot be written, and the policy permits no call without a record")
