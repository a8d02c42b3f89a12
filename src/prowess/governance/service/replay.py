"""The replay of a tenant's recorded calls under a new policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.replay.recorded_calls import replay_store
from prowess.governance.service.audit import time_of
from prowess.policy.policy_in_force import policy_of_text
from prowess.store.shared.audit_rows import SharedAuditRows

if TYPE_CHECKING:
    from prowess.governance.replay.replay import Replayed
    from prowess.governance.service.service_call import ServiceCall


class ReplayRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The text of the new policy, its name in results, and the time of the records as in `AuditSelection`."""

    toml: str
    name: str = "policy.toml"
    since: str | None = None
    until: str | None = None


class ReplayService:
    """Replays the log of the tenant of `call`."""

    def __init__(self, call: ServiceCall) -> None:
        self._call = call

    def replay(self, request: ReplayRequest) -> Replayed:
        """Decide the recorded calls again by the new policy alone.

        Raises:
            PolicyDeniedError: the actor may not read records of other people.
            PolicyError: the text is no policy; names every fault.
            InvalidArgumentsError: a time cannot be read.
            StoreError: the store cannot be used.
        """
        self._call.require("audit")
        since, until = time_of(request.since, "since", end=False), time_of(request.until, "until", end=True)
        policy = policy_of_text(request.name, request.toml)
        return replay_store(policy, SharedAuditRows(self._call.database), since=since, until=until)
