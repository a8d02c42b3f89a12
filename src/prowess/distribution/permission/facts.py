"""What the policy is told about a change of packages, and who decides about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from prowess.audit.caller import Caller
    from prowess.audit.record import AuditLog
    from prowess.policy.approval import Approver
    from prowess.policy.policy_in_force import PolicyInForce

LAYER = "plugin"  # the layer in which installed skills are listed


class CallRules(Struct, frozen=True, kw_only=True):
    """Who decides about the calls of one command. None as policy means the files of this machine and this user.

    `typed_by` answers the questions of a policy's default, and no question of a rule: the person who typed the command,
    or the program that makes the change. `caller` is who asks, for the records; None means the user of this process.
    """

    policy: PolicyInForce | None = None
    audit: AuditLog | None = None
    approver: Approver | None = None
    typed_by: str | None = "program"
    caller: Caller | None = None


class PackageFacts(Struct, frozen=True, kw_only=True):
    """The facts about one skill of a change. `name` is None if it is not known yet; `signer` is None if unsigned.

    `digests` are those of the tree and of SKILL.md; they are empty before the skill was fetched. `directory` has the
    files of the skill; None if they are not here.
    """

    name: str | None
    version: str | None = None
    sources: tuple[str, ...]
    digests: tuple[str, ...] = ()
    signer: str | None = None
    layer: str = LAYER
    directory: str | None = None
