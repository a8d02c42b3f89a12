"""Policies of an organisation: TOML texts in the store, above every policy file of a machine or user.

A policy of the tenant `*` holds for all tenants. No policy can permit what another one denies.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct, structs

from prowess._internal.text.canonical_json import sha256_of
from prowess.errors import ConfigurationError, PolicyError
from prowess.governance.replay.replay import Replayed
from prowess.governance.service.listing import NoSuchItemError, page_of
from prowess.governance.service.replay import PolicyText, ReplayService
from prowess.governance.shared_decisions import stored_policy_file
from prowess.policy.expectations import check_expectations
from prowess.store.shared.decisions import SharedPolicyStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.service.listing import ListPage, ListQuery
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.policy_file import PolicyFile
    from prowess.store import PolicyRow

POLICY_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?"
_NAME = re.compile(POLICY_NAME)


class NewPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The text of a policy that is wanted, as in a policy file."""

    toml: PolicyText


class PushQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many recorded calls a new policy may newly deny."""

    accept: Annotated[int, Meta(ge=0, le=2**53)] = 0


class PolicySummary(Struct, frozen=True, kw_only=True):
    """One policy of a list. `number` counts its versions from 1; `at` is a time in UTC."""

    name: str
    tenant: str
    number: int
    by: str
    at: str
    digest: str
    rules: int
    approvals: int


class StoredPolicy(PolicySummary, frozen=True, kw_only=True, omit_defaults=True):
    """One policy with its text. After an act, `generation` is the one from which on it holds."""

    toml: str
    generation: int | None = None


class PushedPolicy(StoredPolicy, frozen=True, kw_only=True, omit_defaults=True):
    """A policy that was pushed, and what it would have decided about the recorded calls of the last days."""

    replay: Replayed


class PolicyService:
    """The policies that hold for the tenant of a call.

    Raises:
        StoreError: by every method, if the store cannot be used.
    """

    def __init__(self, call: ServiceCall) -> None:
        self._call = call
        self._store = SharedPolicyStore(call.database)

    def list(self, query: ListQuery) -> ListPage[PolicySummary]:
        """Return policies, the organisation's first."""
        rows = map(_summary, self._store.policies())
        return page_of(rows, query, lambda one: f"{one.tenant != EVERY:d} {one.tenant} {one.name}")

    def get(self, name: str) -> StoredPolicy:
        """Return the policy of this name: the tenant's, else the organisation's. Raises NoSuchItemError."""
        return _stored(self._row(name))

    def put(self, name: str, new: NewPolicy, *, accept: Callable[[PolicyFile], object] | None = None) -> StoredPolicy:
        """Add a policy for the tenant of the call, or replace it. It holds for every call that begins afterwards.

        `accept` gets the new policy before it is written, and refuses it by an exception.

        Raises:
            PolicyError: the text has faults, each with its place, or the policy does not do what it expects.
            ConfigurationError: a policy cannot have this name.
            PolicyDeniedError: the actor's role does not permit it.
            AuditError: the act cannot be recorded, so it was not done.
        """
        self._call.require("administer")
        file = self.checked(name, new)
        if accept is not None:
            accept(file)
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._call.act("policy", {"policy": name, "digest": file.digest}):
            row, generation = self._store.put_policy(name, new.toml, by=self._call.actor.user, at=at)
        return _stored(row, generation)

    def push(self, name: str, new: NewPolicy, query: PushQuery) -> PushedPolicy:
        """Add or replace a policy as `put` does, after one replay of the recorded calls of the last days.

        Raises:
            PolicyDeniedError: also if it would newly deny more calls than are accepted.
        """
        gate, replays = ReplayService(self._call).gate(query.accept), list[Replayed]()
        stored = self.put(name, new, accept=lambda file: replays.append(gate(file)))
        return PushedPolicy(**structs.asdict(stored), replay=replays[0])

    def checked(self, name: str, new: NewPolicy) -> PolicyFile:
        """Return the policy of a text without a change of the store. Raises as `put`."""
        if _NAME.fullmatch(name) is None:
            why = f"{name[:80]!r} is no name of a policy: 1 to 64 letters and digits, and .-_ inside"
            raise ConfigurationError((why,))
        file = stored_policy_file(self._call.tenant, name, new.toml)
        failed = [one.sentence for one in check_expectations(file, None) if not one.holds]
        if failed:
            raise PolicyError(tuple(failed))
        return file

    def remove(self, name: str) -> StoredPolicy:
        """Remove a policy of the tenant of the call. Raises as `put`, and NoSuchItemError."""
        self._call.require("administer")
        row = self._row(name)
        with self._call.act("policy-removed", {"policy": name, "digest": _digest(row)}):
            generation = self._store.remove_policy(name)
            if generation is None:
                raise NoSuchItemError(kind=f"policy of the tenant {self._call.tenant}", id=name)
        return _stored(row, generation)

    def _row(self, name: str) -> PolicyRow:
        rows = self._store.policies()
        tenants = (self._call.tenant, EVERY)
        found = [row for tenant in tenants for row in rows if (row.tenant, row.name) == (tenant, name)]
        if not found:
            raise NoSuchItemError(kind="policy", id=name)
        return found[0]


def _digest(row: PolicyRow) -> str:
    return sha256_of(row.toml.encode("utf-8", "surrogatepass"))


def _summary(row: PolicyRow) -> PolicySummary:
    file = stored_policy_file(row.tenant, row.name, row.toml)
    return PolicySummary(
        name=row.name,
        tenant=row.tenant,
        number=row.number,
        by=row.by,
        at=row.at,
        digest=file.digest,
        rules=len(file.rules),
        approvals=len(file.approval_rules),
    )


def _stored(row: PolicyRow, generation: int | None = None) -> StoredPolicy:
    summary = _summary(row)
    known = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return StoredPolicy(**known, toml=row.toml, generation=generation)
