"""One activation from the shell, under the rules of a session: policy, trust, scope, hooks, digests and the audit log.

The skill is invoked as by a user. If users may not invoke the skill, it is loaded as by a model.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from prowess.cli.options.session_options import open_rules
from prowess.cli.signals import ended_in_order
from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime import SyncSession
from prowess.tools.gates import TerminalApprover

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog
    from prowess.runtime.activation.load_result import Notice


@contextmanager
def activated(
    catalog: Catalog, name: str, args: str | None = None, *, policy_file: str | None = None
) -> Iterator[tuple[SyncSession, tuple[Notice, ...]]]:
    """Open a session in which the skill is active; yield the session and the notices of the activation.

    The session and the activation end with the block.

    Raises:
        AuditError: the policy requires an audit record, and no log can be written.
        SkillError: the session refused to activate the skill.
    """
    policy, audit = open_rules(policy_file, "this activation leaves no audit record")
    with (
        ended_in_order(),
        SyncSession(catalog, audit=audit, policy=policy, approver=TerminalApprover(), scripts=True) as session,
    ):
        if args is None and not extended_fields(catalog.get(name).properties).user_invocable:
            notices = session.load([name]).notices
        else:
            notices = session.invoke(name, args).notices
        yield session, notices
