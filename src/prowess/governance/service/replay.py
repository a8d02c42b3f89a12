"""The replay of a tenant's recorded calls under a new policy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from prowess._internal.text.terminal_text import counted
from prowess.audit.record import time_text
from prowess.errors import PolicyDeniedError
from prowess.governance.replay.recorded_calls import replay_store
from prowess.governance.service.audit import Moment, time_of
from prowess.policy.policy_in_force import policy_alone_of, policy_of_text
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import tenants_in
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.replay.replay import Replayed
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.policy_file import PolicyFile

PUSH_DAYS = 30  # of recorded calls that a new policy is tried on

PolicyText = Annotated[str, Meta(extra_json_schema={"format": "prowess-policy"})]


class ReplayRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The text of the new policy, its name in results, and the time of the records as in `AuditSelection`."""

    toml: PolicyText
    name: Annotated[str, Meta(min_length=1, max_length=256)] = "policy.toml"
    since: Moment | None = None
    until: Moment | None = None


class ReplayService:
    """Replays the log of the tenant of `call`; for the organisation (`*`), the logs of all its tenants."""

    def __init__(self, call: ServiceCall) -> None:
        self._call = call

    def replay(self, request: ReplayRequest) -> Replayed:
        """Decide the recorded calls again by the new policy alone.

        Raises:
            PolicyDeniedError: the actor may not read records of other people.
            PolicyError: the text is no policy; names every fault.
            ConfigurationError: a time cannot be read.
            StoreError: the store cannot be used.
            LimitExceededError: the call has a limit, and its time is over.
        """
        self._call.require("audit")
        since, until = time_of(request.since, "since", end=False), time_of(request.until, "until", end=True)
        policy = policy_of_text(request.name, request.toml)
        return replay_store(policy, self._logs(), since=since, until=until, check=self._call.limit.check)

    def gate(self, accept: int = 0) -> Callable[[PolicyFile], Replayed]:
        """Return a check of new policies for `PolicyService.put`: it replays the calls of the last `PUSH_DAYS` days.

        Raises:
            PolicyDeniedError: by the check, if the policy would newly deny more than `accept` of these calls.
            StoreError: by the check, if the store cannot be used.
        """

        def check(file: PolicyFile) -> Replayed:
            since = time_text(datetime.now(UTC) - timedelta(days=PUSH_DAYS))
            found = replay_store(policy_alone_of(file), self._logs(), since=since, check=self._call.limit.check)
            try:
                require_accepted(found, accept)
            except PolicyDeniedError as fault:
                raise self._call.refused("administer", fault.rule, fault.reason) from None
            return found

        return check

    def _logs(self) -> tuple[SharedAuditRows, ...]:
        database = self._call.database
        tenants = (*tenants_in(database), EVERY) if database.tenant == EVERY else (database.tenant,)
        return tuple(SharedAuditRows(database, tenant) for tenant in tenants)


def require_accepted(found: Replayed, accept: int) -> None:
    """Raise PolicyDeniedError if a policy newly denies more calls than are accepted."""
    if found.newly_denied <= accept:
        return
    rule = next((one for one in found.by_rule if one.effect == "deny"), None)
    by = "" if rule is None else f", most by {rule.rule!r}: records {rule.first} to {rule.last}"
    calls = counted(found.newly_denied, "call")
    reason = f"it would newly deny {calls} of the last {PUSH_DAYS} days{by}; {accept} are accepted"
    raise PolicyDeniedError("policy.push", f"{reason}. If that is meant, push with --accept {found.newly_denied}")
