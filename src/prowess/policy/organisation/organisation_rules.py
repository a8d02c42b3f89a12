"""What an organisation decides for the sessions of a tenant: policies, blocks and approvals, of one generation.

They come from a store that the machines of the organisation share. They are above every file of a machine or user: no
file permits what they deny, and no approvals file satisfies their rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from prowess.policy.approvals.statements import Approvals
    from prowess.policy.blocks.block_file import BlockFile
    from prowess.policy.policy_file import PolicyFile


class OrganisationRules(Struct, frozen=True, kw_only=True):
    """The decisions of one `generation`. `version` is a digest of them, for records."""

    generation: int
    files: tuple[PolicyFile, ...]
    blocks: BlockFile
    approvals: Approvals
    version: str


class OrganisationSource(Protocol):
    """A source of an organisation's decisions. Safe to use from several threads.

    Raises:
        StoreError: by both, if the source cannot be read. Then every call is denied.
        PolicyError: by `rules`, if a decision is damaged. Then every call is denied.
    """

    def generation(self) -> int:
        """Return a number that grows with each decision. Blocks for one round trip."""

    def rules(self) -> OrganisationRules:
        """Return all decisions. Blocks."""
