"""Blocks of an organisation: a block holds for one tenant, or with the tenant `*` for all, in every process at once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from prowess.errors import ConfigurationError
from prowess.governance.blocking import block_facts, block_subject, checked_block, new_block
from prowess.governance.service.listing import NoSuchItemError, page_of
from prowess.governance.shared_decisions import block_of
from prowess.policy.blocks.block_file import BLOCK_KINDS, BlockKind
from prowess.store import BlockRow
from prowess.store.shared.decisions import SharedBlockStore, generation_of
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.governance.service.listing import ListPage, ListQuery
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.blocks.block_file import Block

_Digest = Annotated[str, Meta(pattern="^(sha256:)?[0-9a-fA-F]{64}$")]
_ONE_FACT = {
    "minProperties": 1,
    "maxProperties": 1,
    "anyOf": [{"required": [kind], "properties": {kind: {"type": "string"}}} for kind in BLOCK_KINDS],
}


class BlockMatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The one fact that the blocked skills have. Exactly one of the fields is set."""

    name: Annotated[str, Meta(min_length=1, extra_json_schema={"format": "prowess-name"})] | None = None
    digest: _Digest | None = None
    file: _Digest | None = None
    source: Annotated[str, Meta(min_length=1, extra_json_schema={"format": "prowess-source"})] | None = None
    publisher: Annotated[str, Meta(min_length=1, extra_json_schema={"format": "prowess-publisher"})] | None = None

    @property
    def fact(self) -> tuple[BlockKind, str]:
        """The fact and its value. Raises ConfigurationError unless exactly one is given."""
        given = [(kind, value) for kind in BLOCK_KINDS if (value := getattr(self, kind)) is not None]
        if len(given) != 1:
            raise ConfigurationError((f"match: give exactly one of {', '.join(BLOCK_KINDS)}",))
        return given[0]


class NewBlock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A block that is wanted. `reason` is shown to everybody whose call is denied."""

    match: Annotated[BlockMatch, Meta(extra_json_schema=_ONE_FACT)]
    reason: Annotated[str, Meta(min_length=1, extra_json_schema={"format": "prowess-line"})]


class SharedBlock(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A block of the store. `at` is a time in UTC; the tenant `*` is the organisation.

    After an act, `generation` is the one from which on it holds, and `created` whether the block is new.
    """

    id: str
    match: BlockMatch
    reason: str
    by: str
    at: str
    tenant: str
    generation: int | None = None
    created: bool | None = None


class _BlockedMeanwhileError(Exception):
    """Another call has added the same block. The log has the act as failed."""


class BlockService:
    """The blocks that hold for the tenant of a call.

    Raises:
        StoreError: by every method, if the store cannot be used.
    """

    def __init__(self, call: ServiceCall) -> None:
        self._call = call
        self._store = SharedBlockStore(call.database)

    def list(self, query: ListQuery) -> ListPage[SharedBlock]:
        """Return blocks, the oldest first."""
        return page_of(map(_shown, self._store.blocks()), query, lambda one: f"{one.at} {one.id}")

    def get(self, block_id: str) -> SharedBlock:
        """Return one block. Raises NoSuchItemError."""
        return _shown(self._row(block_id))

    def add(self, new: NewBlock) -> SharedBlock:
        """Block every skill with a fact, for the tenant of the call. If it is blocked there, return that block.

        It holds for every call that begins after the return.

        Raises:
            ConfigurationError: no skill can have this fact, or the reason is missing.
            PolicyDeniedError: the actor's role does not permit it.
            AuditError: the act cannot be recorded, so it was not done.
        """
        self._call.require("block")
        kind, given = new.match.fact
        value, reason = checked_block(kind, given, new.reason)
        subject = block_subject(kind, value)
        while True:  # again if another one made or lifted the same block after the look
            own = (row for row in self._store.blocks() if row.tenant == self._call.tenant)
            if (row := next((one for one in own if one.subject == subject), None)) is not None:
                return _shown(row, generation_of(self._call.database), created=False)
            block = new_block(kind, value, reason, self._call.actor.user)
            row = BlockRow(
                tenant=self._call.tenant,
                id=block.id,
                subject=subject,
                kind=kind,
                value=value,
                reason=reason,
                by=block.by,
                at=block.at,
            )
            with suppress(_BlockedMeanwhileError), self._call.act("block", block_facts(block)):
                return _shown(row, self._added(row), created=True)

    def _added(self, row: BlockRow) -> int:
        generation = self._store.add_block(row)
        if generation is None:
            raise _BlockedMeanwhileError
        return generation

    def remove(self, block_id: str) -> SharedBlock:
        """Lift a block of the tenant of the call; with the tenant `*`, of any. Raises as `add`, and NoSuchItemError.

        A tenant cannot lift a block of the organisation.
        """
        self._call.require("block")
        row = self._row(block_id)
        with self._call.act("unblock", block_facts(_block(row))):
            generation = self._store.remove_block(block_id)
            if generation is None:
                owner = "; it is one of the organisation, whose administrators lift it:" if row.tenant == EVERY else ""
                raise NoSuchItemError(kind=f"block of the tenant {self._call.tenant}{owner}", id=block_id)
        return _shown(row, generation)

    def _row(self, block_id: str) -> BlockRow:
        found = next((row for row in self._store.blocks() if row.id == block_id), None)
        if found is None:
            raise NoSuchItemError(kind="block", id=block_id)
        return found


def _block(row: BlockRow) -> Block:
    facts = {name: value for name, value in asdict(row).items() if name not in {"tenant", "subject"}}
    return block_of(facts, f"tenant {row.tenant}")


def _shown(row: BlockRow, generation: int | None = None, *, created: bool | None = None) -> SharedBlock:
    return SharedBlock(
        id=row.id,
        match=BlockMatch(**{row.kind: row.value}),
        reason=row.reason,
        by=row.by,
        at=row.at,
        tenant=row.tenant,
        generation=generation,
        created=created,
    )
