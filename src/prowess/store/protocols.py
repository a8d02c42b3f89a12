"""Protocols of the stores, and their values: session rows and numbered events, both with JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

if TYPE_CHECKING:
    from collections.abc import Callable


class SessionRow(Struct, frozen=True, kw_only=True):
    """One stored session. `state` is JSON text, not parsed; `touched_at` is in seconds since the epoch.

    A row that was read from a shared store has the `generation` of governance at that moment: it grows with each act
    that holds for the tenant. Writing a row does not change it. It is 0 in the stores of one machine.
    """

    session_id: str
    version: int
    state: str
    touched_at: float
    generation: int = 0


class SessionStore(Protocol):
    """Stores session rows. Every operation is atomic, even with other processes on the same store.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    async def create(self, row: SessionRow) -> bool:
        """Add a row. Return False, without a change, if the id exists."""

    async def get(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        """Replace the stored row with this id if it has `expected_version`; otherwise return False."""

    async def touch(self, session_id: str, at: float) -> bool:
        """Set the last touch to `at`, unless the stored time is later. The version stays. False if there is no row."""

    async def delete(self, session_id: str) -> bool:
        """Remove the row; return False if there is none."""

    async def expire(self, before: float) -> list[str]:
        """Remove every row last touched before the time `before`. Return the removed ids, sorted."""

    async def count(self) -> int:
        """Return the number of rows."""

    async def close(self) -> None:
        """Release resources. Closing twice is allowed; other operations fail afterwards."""


@runtime_checkable
class PeekingStore(Protocol):
    """A store that can read a row without an event loop, so that a session has its state when it is created."""

    def peek(self, session_id: str) -> SessionRow | None:
        """Return the row, or None. Blocks briefly and does not create the store. Raises StoreError."""


class KeptEvent(Struct, frozen=True, kw_only=True):
    """One stored event. `sequence` counts the events of a session from 1, over all writers; `body` is JSON text."""

    sequence: int
    body: str


@runtime_checkable
class EventStore(Protocol):
    """Stores the events of sessions in one order, even with other processes on the same store.

    A number is assigned when an event is written, and is not reused while any event of that session exists. Events
    remain after the row of their session is removed, so that the end of a session can be read. `SessionStore.expire`
    removes events that are older than its time and belong to no session.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    async def append_event(self, session_id: str, body: str, *, at: float, keep: int) -> int:
        """Append one event and return its number. The newest events, about `keep`, remain; older ones may go."""

    async def events_after(self, session_id: str, sequence: int, limit: int) -> list[KeptEvent]:
        """Return the first `limit` events with a number above `sequence`, in order."""

    async def last_event(self, session_id: str) -> int:
        """Return the highest event number, or 0 if the session has no events."""


class Token(Struct, frozen=True, kw_only=True):
    """One token of a shared store, without its text. Times are in seconds since the epoch; None: never."""

    id: str
    tenant: str
    role: str
    user: str
    team: str | None = None
    created_at: float
    expires_at: float | None = None
    used_at: float | None = None


class VoteStore(Protocol):
    """Stores the votes of people about skills, in one order, for one tenant. None is changed or removed. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def add_vote(self, body: str, *, number: int) -> bool:
        """Add a vote as JSON text, with the next number, counted from 1. Return False if the number is taken."""

    def votes(self) -> list[str]:
        """Return all votes, in their order."""

    def numbered_votes(self) -> tuple[int, list[str]]:
        """Return the number of the last vote, 0 if there is none, and all votes, in their order."""

    def generation(self) -> int:
        """Return a number that grows with each vote, and with each other act that holds for the tenant."""

    def close(self) -> None:
        """Release resources. Closing twice is allowed; other operations fail afterwards."""


class TokenStore(Protocol):
    """Stores tokens by the SHA-256 of their text; the text itself is not stored. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def add_token(self, token: Token, digest: bytes) -> bool:
        """Add a token. Return False, without a change, if its tenant does not exist."""

    def use_token(self, digest: bytes, at: float) -> Token | None:
        """Return the token with this digest, None if there is none, or it has expired.

        Its last use is set to `at`, unless it is less than a minute away.
        """

    def tokens(self) -> list[Token]:
        """Return all tokens, the oldest first."""

    def remove_token(self, token_id: str) -> bool:
        """Remove a token; return False if there is none with this id."""


class LoginRow(Struct, frozen=True, kw_only=True):
    """One login of a browser, or one attempt at an issuer, which has no user. `body` is JSON text.

    Times are in seconds since the epoch.

    A row that was read has the `generation` of governance for its tenant, and the role of its token at that moment.
    """

    tenant: str
    body: str
    expires_at: float
    user: str | None = None
    token_id: str | None = None
    token_role: str | None = None
    generation: int = 0


class LoginStore(Protocol):
    """Stores logins by the SHA-256 of their secret; the secret itself is not stored. Blocking.

    A login ends when its time is over, when it is removed, and when its token is removed or expires.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def add_login(self, digest: bytes, row: LoginRow) -> None:
        """Add a login; `token_role` and `generation` of `row` are not used."""

    def login(self, digest: bytes, at: float) -> LoginRow | None:
        """Return the login with this digest, None if there is none at the time `at`."""

    def extend_login(self, digest: bytes, expires_at: float) -> None:
        """Let a login end at `expires_at`, unless it ends later already, or is gone."""

    def take_login(self, digest: bytes, at: float) -> LoginRow | None:
        """Remove the login and return it, None as `login` does. Of several callers, one gets it."""

    def remove_logins(self, user: str) -> int:
        """Remove every login of a user. Return their number."""

    def expire_logins(self, before: float) -> int:
        """Remove every login that ended before the time `before`. Return their number."""


class RateLimitStore(Protocol):
    """Counts how often something happened in a window of time. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def count(self, key: str, window: int) -> int:
        """Count once more for `key` in the window, and return how often it was counted, this time included.

        A window is named by its first second since the epoch. Counts of windows that began more than a day before
        this one are removed.
        """

    def uncount(self, key: str, window: int) -> None:
        """Take one count back."""


class MachineRow(Struct, frozen=True, kw_only=True):
    """One enrolled machine of a shared store. Times are in seconds since the epoch.

    `bundle` is the version of the bundle that it follows. `state`, `log` and `inventory` are JSON texts: what it
    reported, the end of the chain of its records, and its copies of skills.
    """

    tenant: str
    id: str
    name: str
    team: str | None = None
    environment: str | None = None
    enrolled_at: float
    seen_at: float
    bundle: int | None = None
    state: str | None = None
    log: str | None = None
    inventory: str | None = None


class MachineStore(Protocol):
    """Stores the enrolled machines of one tenant. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def machine(self, machine_id: str) -> MachineRow | None:
        """Return the machine with this id, None if there is none."""

    def machines(self, after: str = "", limit: int | None = None) -> list[MachineRow]:
        """Return the first machines whose id is above `after`, in the order of their ids."""

    def put_machine(self, row: MachineRow) -> None:
        """Add a machine, or replace the one with its id. The end of its log stays."""

    def replace_log(self, machine_id: str, log: str, *, expected: str | None) -> bool:
        """Set `log` of a machine if it is `expected`; otherwise return False."""

    def remove_machine(self, machine_id: str) -> bool:
        """Remove a machine; return False if there is none with this id."""


class PolicyRow(Struct, frozen=True, kw_only=True):
    """One stored policy. `number` counts its versions from 1; `at` is a time in UTC (ISO 8601)."""

    tenant: str
    name: str
    number: int
    toml: str
    by: str
    at: str


class PolicyStore(Protocol):
    """Stores the policies of one tenant, and shows those of the organisation (tenant `*`) too. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def put_policy(self, name: str, toml: str, *, by: str, at: str) -> tuple[PolicyRow, int]:
        """Add a policy, or replace the tenant's own one of this name. Return it, and the generation that has it."""

    def policies(self) -> list[PolicyRow]:
        """Return all policies: the organisation's first, then by name."""

    def remove_policy(self, name: str) -> int | None:
        """Remove the tenant's own policy. Return the generation without it; None if there is none of this name."""


class BlockRow(Struct, frozen=True, kw_only=True):
    """One stored block: every skill whose fact `kind` is `value`. `at` is a time in UTC (ISO 8601).

    `subject` is a digest of this fact; a tenant has one block with it.
    """

    tenant: str
    id: str
    subject: str
    kind: str
    value: str
    reason: str
    by: str
    at: str


class BlockStore(Protocol):
    """Stores the blocks of one tenant, and shows those of the organisation (tenant `*`) too. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def add_block(self, block: BlockRow) -> int | None:
        """Add a block. Return the generation that has it; None if the tenant has one with the same subject."""

    def blocks(self) -> list[BlockRow]:
        """Return all blocks, the oldest first."""

    def remove_block(self, block_id: str) -> int | None:
        """Remove one of the tenant's own blocks. Return the generation without it; None if there is none."""


class RequestRow(Struct, frozen=True, kw_only=True):
    """One question to people about the skill with a tree digest. `body` is JSON text, not parsed.

    `at` is the time in UTC (ISO 8601) at which the question was known first. `of_person` is whether a person has asked
    or voted: others were left by sessions, and can be dropped.
    """

    id: str
    digest: str
    at: str
    body: str
    of_person: bool = True


class ApprovalRequestStore(Protocol):
    """Stores the questions to people of one tenant. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def put_request(self, request: RequestRow, *, expected: RequestRow | None) -> bool:
        """Add a question, or replace `body` and `of_person` of the `expected` one: its digest and its time stay.

        Return False, without a change, if there is another one.
        """

    def drop_requests(self, *, before: str, most: int) -> int:
        """Remove questions of sessions that are older than `before`, and the oldest of more than `most` of them.

        Return how many were removed. Those of persons stay.
        """

    def requests(self, *, digests: Collection[str] | None = None) -> list[RequestRow]:
        """Return all questions, or those about these digests, the oldest first."""


class DeployerStore(Protocol):
    """Stores who deployed skills for one tenant, and shows those of the organisation (tenant `*`) too. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def add_deployer(self, digests: Collection[str], user: str) -> None:
        """Remember that a person deploys the skills with these digests."""

    def deployers(self, digest: str) -> list[str]:
        """Return who deployed the skill with a digest, sorted, each once."""


class CallRequestRow(Struct, frozen=True, kw_only=True):
    """One question about a single call, and its answer. `expires_at` is in seconds since the epoch."""

    id: str
    body: str
    expires_at: float


class CallRequestStore(Protocol):
    """Stores questions about single calls of one tenant. A question that has expired is not returned. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def change_call(
        self, request_id: str, change: Callable[[str | None], CallRequestRow | None], *, at: float
    ) -> CallRequestRow | None:
        """Replace the question with this id by the result of `change`, which gets its body, None if there is none.

        Nothing else changes the question meanwhile. If the result is None, the question is removed. What `change`
        raises is raised, and nothing is changed.
        """

    def calls(self, at: float) -> list[CallRequestRow]:
        """Return all questions that have not expired at this time."""


class ReleaseFileStore(Protocol):
    """Stores the files of the deployment of one owner, by their paths. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached, read or written.
    """

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""

    def publish(self, files: Mapping[str, bytes], expected: Mapping[str, bytes | None], *, is_act: bool = True) -> bool:
        """Write all files, if those of `expected` still have this content; otherwise write nothing and return False.

        `is_act` states whether it changes what sessions may do. Then the generation of governance grows.
        """
