"""How the skills of a tenant are used, by the records of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from prowess._internal.text.near_words import near_words
from prowess.audit.transparency.central_log import stored_records
from prowess.errors import ConfigurationError
from prowess.governance.service.audit import Moment, time_of
from prowess.governance.usage import GROUPS, UsageCounter
from prowess.store.shared.audit_rows import SharedAuditRows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.governance.service.service_call import ServiceCall
    from prowess.governance.usage import UsageReport

_Group = Annotated[str, Meta(extra_json_schema={"enum": list(GROUPS)})]


class UsageQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a report is about: the keys of its rows (`GROUPS`), and the time of the records as in `AuditSelection`."""

    by: tuple[_Group, ...] = ("skill",)
    since: Moment | None = None
    until: Moment | None = None


class AnalyticsService:
    """Reports about the tenant of `call`. `listed` are the names of the skills that could have been chosen."""

    def __init__(self, call: ServiceCall, listed: Iterable[str] = ()) -> None:
        self._call, self._listed = call, listed

    def report(self, query: UsageQuery) -> UsageReport:
        """Return the report.

        Raises:
            PolicyDeniedError: the actor may not read records of other people.
            ConfigurationError: a key of `by` or a time is not known.
            StoreError: the store cannot be used.
            AuditReadError: a record in the store was changed.
        """
        self._call.require("audit")
        for key in query.by:
            if key not in GROUPS:
                near = near_words(key, GROUPS)
                meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(GROUPS)}"
                raise ConfigurationError((f"by: {key!r:.60} is not a key; {meant}",))
        since, until = time_of(query.since, "since", end=False), time_of(query.until, "until", end=True)
        counter = UsageCounter(tuple(dict.fromkeys(query.by)))
        rows = SharedAuditRows(self._call.database)
        for record in stored_records(rows, since=since, until=until, check=self._call.limit.check):
            counter.take(record)
        return counter.report(self._listed)
