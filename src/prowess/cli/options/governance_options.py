"""Options and the log of commands that govern skills."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.places import policy_places
from prowess.cli.options.session_options import open_rules
from prowess.governance.acts import require_role

if TYPE_CHECKING:
    from prowess.audit.log import JsonlAuditLog
    from prowess.policy.roles import Operation

block_scope_option = click.option(
    "--scope",
    type=click.Choice(("machine", "user")),
    help="For whom: everybody on this machine (root alone), or this user. Default: machine if root calls.",
)


def governance_log(operation: Operation) -> JsonlAuditLog | None:
    """Return the log for this user's acts; None with a note if there is none and the policy does not require it.

    Raises:
        PolicyDeniedError: the roles of this user do not permit the operation.
        AuditError: the policy requires a record of each act, and there is no log.
        PolicyError: a policy file cannot be read.
    """
    policy, log = open_rules(None, "this act is not recorded")
    require_role(policy.now(), operation, log)
    return log


def require_role_if_governed(operation: Operation) -> None:
    """Check the roles of this user, if this machine or this user has a policy file. Raises as `governance_log`."""
    if any(map(os.path.lexists, policy_places())):
        governance_log(operation)
