"""One activation from the shell, under the rules of a session: policy, trust, scope, hooks, digests and the audit log.

A person asks, so a skill is started as a person starts one; what is for models alone is loaded as a model loads it.
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
    """Open a session in which the skill is active, and give it with the notices of the activation.

    The session ends with the block, and with it the activation.

    Raises:
        AuditError: the policy wants a record, and there is no place for one.
        SkillError: the skill cannot be started here; the reason is that of the session.
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
