"""`prowess rule`: explains a rule, why it matters, and how to correct a skill that breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from prowess._internal.text.terminal_text import wrapped
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.errors import InvalidArgumentsError
from prowess.lint.rule_page import rule_page, rule_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lint.rule_page import RulePage

_COLUMNS = 80  # width of a page in a pipe


@click.command("rule")
@click.argument("rule", required=False, metavar="[ID]")
@json_option
def command(rule: str | None, *, as_json: bool) -> int:
    """Explain one rule, or list all rules with their severity in every profile.

    The same pages are in docs/reference/rules. `prowess config show` prints the settings that change them here.

    Example: prowess rule reference.missing
    """
    if rule is None:
        pages = list(rule_pages())
        if as_json:
            output.document([_document(page) for page in pages])
            return exit_codes.OK
        for line in _listed(pages, output.width()):
            output.line(line)
        return exit_codes.OK
    try:
        page = rule_page(rule)
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from None
    if as_json:
        output.document(_document(page))
    else:
        for line in _laid_out(page.markdown(), output.width() or _COLUMNS):
            output.line(line)
    return exit_codes.OK


def _laid_out(text: str, width: int) -> Iterator[str]:
    """Yield a page in lines of at most `width` columns. In a paragraph that begins with code, lines are not joined."""
    paragraphs = text.rstrip("\n").split("\n\n")
    for at, paragraph in enumerate(paragraphs):
        lines = paragraph.split("\n") if paragraph.startswith("`") else [" ".join(paragraph.split("\n"))]
        for line in lines:
            yield from wrapped(line, width)
        if at + 1 < len(paragraphs):
            yield ""


def _listed(pages: list[RulePage], width: int | None) -> Iterator[str]:
    """Yield a table of rules with a column for each profile (`-`: not reported), abbreviated to fit `width`."""
    profiles = list(pages[0].severities)
    rows = [["rule", *profiles, "requirement"]]
    rows += [[page.id, *(level or "-" for level in page.severities.values()), page.summary] for page in pages]
    table = list(_aligned(rows))
    if width is None or max(map(len, table)) <= width:
        yield from table
        return
    yield from wrapped(f"E error, W warning, I info, - off, in the profiles {', '.join(profiles)}", width)
    longest = max(len(page.id) for page in pages)
    for page in pages:
        letters = "".join((level or "-")[0].upper() for level in page.severities.values())
        head = f"{page.id:<{longest}}  {letters}  "
        yield from wrapped(f"{head}{page.summary}", width, " " * len(head))


def _aligned(rows: list[list[str]]) -> Iterator[str]:
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
