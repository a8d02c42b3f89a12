"""`prowess rule`: what a rule does, why it matters, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from prowess.cli import exit_codes, output
from prowess.errors import InvalidArgumentsError
from prowess.lint.rule_page import rule_page, rule_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lint.rule_page import RulePage


@click.command("rule")
@click.argument("rule", required=False, metavar="[ID]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(rule: str | None, *, as_json: bool) -> int:
    """Explain one rule, or list all of them with how bad each is in every profile.

    The same pages are in docs/rules. What holds here, settings included: `prowess config show`.

    Example: prowess rule reference.missing
    """
    if rule is None:
        pages = list(rule_pages())
        if as_json:
            output.document([_document(page) for page in pages])
            return exit_codes.OK
        for line in _listed(pages):
            output.line(line)
        return exit_codes.OK
    try:
        page = rule_page(rule)
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from None
    if as_json:
        output.document(_document(page))
    else:
        output.raw(page.markdown())
    return exit_codes.OK


def _listed(pages: list[RulePage]) -> Iterator[str]:
    """Yield a table: a head with the profiles, then a line for each rule; `-` where a profile does not report it."""
    rows = [["rule", *pages[0].severities, "what is asked"]]
    rows += [[page.id, *(level or "-" for level in page.severities.values()), page.summary] for page in pages]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for *cells, last in rows:
        yield "  ".join((*map(str.ljust, cells, widths), last))


def _document(page: RulePage) -> dict[str, object]:
    return {
        "rule": page.id,
        "family": page.family,
        "summary": page.summary,
        **asdict(page.page),
        "severities": dict(page.severities),
        "fix": page.fix,
        "since": page.since,
        "source": page.source,
    }
