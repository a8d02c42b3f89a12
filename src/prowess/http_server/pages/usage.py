"""The page of usage: what skills are used for whom, and which are never chosen, abandoned or refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.service.analytics import AnalyticsService, UsageQuery
from prowess.governance.service.listing import MOST_ITEMS

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.http_server.pages.page_request import PageRequest

_GROUPINGS = {
    "skill": "Skill and version",
    "team": "Team",
    "skill,team": "Skill and team",
    "user": "User",
    "agent": "Agent",
    "source": "Source",
}
_DAYS = {"1": "1 day", "7": "7 days", "30": "30 days", "365": "1 year"}


class UsageTotals(Struct, frozen=True, kw_only=True):
    """Sums over all rows of a report."""

    activations: int
    success: int
    errors: int
    refusals: int
    script_failures: int
    tokens: int


def usage_page(page: PageRequest) -> Response:
    """Show the report of the last days by the chosen groups."""
    by = page.query("by") or "skill"
    by = by if by in _GROUPINGS else "skill"
    days = page.query("days") or "30"
    days = days if days in _DAYS else "30"
    since = datetime.now(UTC) - timedelta(days=int(days))
    report = AnalyticsService(page.call).report(UsageQuery(by=tuple(by.split(",")), since=since.isoformat()))
    rows = sorted(report.rows, key=lambda row: -int(str(row["activations"])))[:MOST_ITEMS]
    totals = UsageTotals(
        **{name: sum(int(str(row[name])) for row in report.rows) for name in UsageTotals.__struct_fields__}
    )
    return page.render(
        "usage.html",
        by=by,
        days=days,
        groupings=tuple(_GROUPINGS.items()),
        spans=tuple(_DAYS.items()),
        keys=by.split(","),
        report=report,
        rows=rows,
        totals=totals,
        most=max((int(str(row["activations"])) for row in rows), default=0),
    )
