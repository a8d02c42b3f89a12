"""The page of usage: what skills are used for whom, and which are never chosen, abandoned or refused."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.responses import Response

from prowess.distribution.deployment.store_releases import deployed_names
from prowess.governance.service.analytics import AnalyticsService, UsageQuery
from prowess.governance.service.listing import MOST_ITEMS

if TYPE_CHECKING:
    from prowess.governance.usage import UsageReport
    from prowess.http_server.pages.rendering.page_request import PageRequest

_GROUPINGS = {
    "skill": "Skill and version",
    "team": "Team",
    "skill,team": "Skill and team",
    "user": "User",
    "agent": "Agent",
    "source": "Source",
}
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
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
    by, days, report = _report(page)
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


def usage_download(page: PageRequest) -> Response:
    """Return the rows of the report as CSV. They have names and numbers, and no contents of messages."""
    by, days, report = _report(page)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    columns = [*report.rows[0]] if report.rows else by.split(",")
    writer.writerow(columns)
    writer.writerows([_cell(row[column]) for column in columns] for row in report.rows)
    headers = {"content-disposition": f'attachment; filename="usage-{days}-days.csv"'}
    return Response(text.getvalue().encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


def _cell(value: object) -> object:
    """Return a value for a table in a spreadsheet, which must not take the name of a skill for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULAS else value


def _report(page: PageRequest) -> tuple[str, str, UsageReport]:
    by, days = page.query("by") or "skill", page.query("days") or "30"
    by, days = by if by in _GROUPINGS else "skill", days if days in _DAYS else "30"
    since = (datetime.now(UTC) - timedelta(days=int(days))).isoformat()
    service = AnalyticsService(page.call, deployed_names(page.call.database))
    return by, days, service.report(UsageQuery(by=tuple(by.split(",")), since=since))
