"""Options and the log of commands that govern skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options.session_options import open_rules

if TYPE_CHECKING:
    from prowess.audit.log import JsonlAuditLog

block_scope_option = click.option(
    "--scope",
    type=click.Choice(("machine", "user")),
    help="For whom: everybody on this machine (root alone), or this user. Default: machine if root calls.",
)


def governance_log() -> JsonlAuditLog | None:
    """Return the log for this user's acts; None with a note if there is none and the policy does not require it.

    Raises:
        AuditError: the policy requires a record of each act, and there is no log.
        PolicyError: a policy file cannot be read.
    """
    return open_rules(None, "this act is not recorded")[1]
