"""`prowess watch`: prints each skill that is added, changed or removed, until it is interrupted."""

from __future__ import annotations

import select
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import json_text, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.catalog import Notice
    from prowess.catalog.watching.skill_changes import SkillChange


@click.command()
@catalog_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document per line, one for each change.")
def command(*, skills: CatalogOptions, as_json: bool) -> int:
    """Print each skill that is added, changed or removed, until Ctrl-C.

    A skill is changed if its SKILL.md has other contents. Changes in quick succession are printed together. The
    operating system tells of changes if watchfiles is installed (pip install 'prowess[watch]'); otherwise the skills
    are looked at every few seconds.

    \b
    Example:
      prowess watch --root examples/skills --json
    """  # noqa: D301 -- click needs the control character
    catalog = skills.open(quiet=as_json)
    if not skills.quiet:
        count = len(catalog.entries())
        output.note(f"Watching {count} skill{'' if count == 1 else 's'}; Ctrl-C stops it.")

    def tell(notice: Notice) -> None:
        if not skills.quiet:
            output.note(printable_line(notice.message))

    with closing(catalog.watch(stopped=_reader_has_left(), tell=tell)) as batches:
        for batch in batches:
            rows = map(_json_row if as_json else _row, batch)
            if not output.raw_bytes("".join(rows).encode("utf-8", "surrogateescape")):
                break
    return exit_codes.OK


def _row(change: SkillChange) -> str:
    return f"{change.event:<7}  {printable_line(change.name)}  {output.shown_path(change.location)}\n"


def _json_row(change: SkillChange) -> str:
    return json_text(change) + "\n"


def _reader_has_left() -> Callable[[], bool]:
    """Return a function that tells whether the pipe on standard output was closed at its other end."""
    if not hasattr(select, "poll"):
        return lambda: False
    poller = select.poll()
    try:
        poller.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        return lambda: False
    return lambda: any(found & (select.POLLERR | select.POLLNVAL) for _, found in poller.poll(0))
