"""The audit log of a tenant: its records page by page, their proofs, its checkpoint, and exports.

Only records with a place in the log are read. The sequencer of the organisation gives places, and signs checkpoints.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from prowess.audit.record import AuditRecord, read_line
from prowess.audit.selection import FACTS, Outcome, RecordFilter, cursor_number, moment
from prowess.audit.transparency.central_log import (
    checkpoint_of,
    export_lines,
    newest_before,
    page_of_store,
    with_name,
)
from prowess.audit.transparency.export import write_export
from prowess.audit.transparency.merkle import consistency_proof, inclusion_proof
from prowess.audit.transparency.store_comparison import store_faults
from prowess.audit.transparency.tiles import TileTree
from prowess.errors import AuditReadError, ConfigurationError
from prowess.governance.service.listing import MOST_ITEMS, ListPage, NoSuchItemError
from prowess.store.shared.audit_rows import SharedAuditRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.chain_walk import AuditFinding
    from prowess.audit.transparency.central_log import LogExport
    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.governance.service.service_call import ServiceCall

Moment = Annotated[str, Meta(extra_json_schema={"anyOf": [{"format": "date"}, {"format": "date-time"}]})]
_Cursor = Annotated[str, Meta(pattern="^[0-9]{1,18}$")]


class AuditSelection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which records are wanted. An empty tuple or None selects all; of several values one must match.

    `kind` also selects kinds that begin with it: `tool` selects `tool.started`. `since` is inclusive, `until`
    exclusive; each is a date or a time in RFC 3339, in UTC if it has no offset. A date in `until` is included. Lists
    find records by the times beside them, which are not signed; `store_faults` compares them with the signed ones.
    """

    skill: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    outcome: tuple[Outcome, ...] = ()
    tool: tuple[str, ...] = ()
    digest: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    publisher: tuple[str, ...] = ()
    layer: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    approval: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    trigger: tuple[str, ...] = ()
    since: Moment | None = None
    until: Moment | None = None

    def filter(self) -> RecordFilter:
        """Return the same criteria for records. Raises ConfigurationError if a time cannot be read."""
        facts = {fact: values for fact in FACTS if (values := getattr(self, fact, ()))}
        return RecordFilter(
            skills=self.skill,
            sessions=self.session,
            kinds=self.kind,
            outcomes=self.outcome,
            facts=facts,
            since=time_of(self.since, "since", end=False),
            until=time_of(self.until, "until", end=True),
        )


class AuditQuery(AuditSelection, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of records: from the oldest on, or from the newest back. `cursor` is the `next` of the page before.

    It has fewer than `limit` records if they are long: together at most `PAGE_BYTES`, or one.
    """

    order: Literal["oldest", "newest"] = "oldest"
    limit: Annotated[int, Meta(ge=1, le=MOST_ITEMS)] = 100
    cursor: _Cursor | None = None


class AuditPage(ListPage[AuditRecord], frozen=True, kw_only=True):
    """A page of records. `damaged` counts the records between them that were changed in the store."""

    damaged: int = 0


class LogState(Struct, frozen=True, kw_only=True):
    """The last signed checkpoint of a log. `root` is in base64, `checkpoint` the signed note.

    `public_key` is the one that the store states; whoever changes the store can change it too. `waiting` counts the
    records that have no place in the log yet.
    """

    origin: str
    size: int
    root: str
    checkpoint: str
    public_key: str
    waiting: int


class ProofOfRecord(Struct, frozen=True, kw_only=True):
    """A record with its place in the log, counted from 0, and its path to the root of the signed checkpoint.

    `line` is the record as it was hashed, None if its body was erased. `leaf` is its hash, `path` begins at the leaf;
    all hashes are in base64. `record` names its user if that name was not erased.
    """

    index: int
    leaf: str
    path: tuple[str, ...]
    checkpoint: str
    line: str | None
    record: AuditRecord | None


class ConsistencyProof(Struct, frozen=True, kw_only=True):
    """The proof that the first `old` of `new` records are those of an earlier checkpoint; hashes in base64."""

    old: int
    new: int
    path: tuple[str, ...]
    checkpoint: str


class AuditService:
    """The log of the tenant of `call`. Every method needs the right to read records of other people.

    Raises:
        PolicyDeniedError: by every method, if the actor may not read them.
        StoreError: by every method, if the store cannot be used.
        AuditReadError: no record has a place yet, or the store was changed.
    """

    def __init__(self, call: ServiceCall) -> None:
        self._call = call
        self._rows = SharedAuditRows(call.database)

    def list(self, query: AuditQuery) -> AuditPage:
        """Return a page of the records that match. Raises ConfigurationError for a wrong time or cursor."""
        self._call.require("audit")
        wanted = query.filter()
        try:
            cursor_number("", query.cursor)
        except AuditReadError as fault:
            raise ConfigurationError((f"cursor: {fault.reason}",)) from None
        if query.order == "newest":
            found = newest_before(self._rows, wanted, query.limit, query.cursor)
        else:
            found = page_of_store(self._rows, wanted, query.limit, query.cursor)
        return AuditPage(items=found.records, next=found.next, damaged=found.damaged)

    def get(self, number: int) -> ProofOfRecord:
        """Return the record with a number, counted from 1, and its proof. Raises NoSuchItemError."""
        self._call.require("audit")
        checkpoint = checkpoint_of(self._rows)
        row = next(self._rows.records(number, number), None) if 0 < number <= checkpoint.size else None
        if row is None:
            raise NoSuchItemError("record", str(number))
        return ProofOfRecord(
            index=number - 1,
            leaf=_text(row.leaf),
            path=tuple(map(_text, inclusion_proof(self._tree(), number - 1, checkpoint.size))),
            checkpoint=str(checkpoint),
            line=None if row.body is None else row.body.decode(),
            record=None if row.body is None else with_name(read_line(row.body), self._rows.people()),
        )

    def checkpoint(self) -> LogState:
        """Return the last signed checkpoint."""
        self._call.require("audit")
        return self._state(checkpoint_of(self._rows))

    def consistency(self, old: int, new: int | None = None) -> ConsistencyProof:
        """Return the proof that the log of `old` records was continued to `new`, or to the last checkpoint.

        Raises:
            NoSuchItemError: the log did not have that many records, or the sizes are not in order.
        """
        self._call.require("audit")
        checkpoint = checkpoint_of(self._rows)
        size = checkpoint.size if new is None else new
        if not 0 <= old <= size <= checkpoint.size:
            raise NoSuchItemError(kind="proof between logs of the sizes", id=f"{old} and {size}")
        path = tuple(map(_text, consistency_proof(self._tree(), old, size)))
        return ConsistencyProof(old=old, new=size, path=path, checkpoint=str(checkpoint))

    def export(self, selection: AuditSelection) -> LogExport:
        """Return an export of the records that match: its checkpoint, and its lines as they are read."""
        self._call.require("audit")
        return export_lines(self._rows, selection.filter())

    def save(self, selection: AuditSelection, path: str) -> None:
        """Write an export of the records that match into a file. Raises OSError too."""
        found = self.export(selection)
        write_export(path, found.header, found.lines)

    def store_faults(self) -> Iterator[AuditFinding]:
        """Yield what the store has beside the records of the log and is not as they were signed: times and tiles."""
        self._call.require("audit")
        return store_faults(self._rows, checkpoint_of(self._rows).size)

    def _tree(self) -> TileTree:
        return TileTree(self._rows.tile, self._rows.database.url)

    def _state(self, checkpoint: Checkpoint) -> LogState:
        return LogState(
            origin=checkpoint.origin,
            size=checkpoint.size,
            root=_text(checkpoint.root),
            checkpoint=str(checkpoint),
            public_key=self._rows.public_key(),
            waiting=self._rows.waiting(),
        )


def time_of(text: str | None, name: str, *, end: bool) -> str | None:
    """Return a date or time in the form of records. `end` as in `moment`. Raises ConfigurationError."""
    try:
        return None if text is None else moment(text, end=end)
    except (ValueError, OverflowError):
        fault = f"{name}: {text!r:.60} is not a date or time such as 2026-11-28 or 2026-11-28T10:00"
        raise ConfigurationError((fault,)) from None


def _text(digest: bytes) -> str:
    return base64.b64encode(digest).decode()
