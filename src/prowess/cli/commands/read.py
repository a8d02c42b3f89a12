"""`prowess read`: prints one file of one skill; paths outside the skill are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli import exit_codes, output
from prowess.cli.one_activation import activated
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import policy_option
from prowess.cli.options.skill_completion import complete_skill
from prowess.errors import NotAFileError, SkillError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.runtime import SyncSession

_PART = 1 << 20
_MOST_ENTRIES = 50


@click.command()
@click.argument("name", shell_complete=complete_skill)
@click.argument("path")
@catalog_options
@policy_option
def command(*, name: str, path: str, skills: CatalogOptions, policy_file: str | None) -> int:
    """Print the file PATH of the skill NAME.

    PATH is relative to the skill's directory. Symbolic links, other skills and paths outside of the skill are refused.
    The rules of a session apply: scripts are run, not shown. The bytes are exact in a file (> FILE); on a terminal and
    in a pipe, control characters are escaped.

    \b
    Example:
      prowess read csv-report SKILL.md --root examples/skills
    """  # noqa: D301 -- click needs the control character
    catalog, name = skills.open_one(name, asks=True)
    try:
        with activated(catalog, name, policy_file=policy_file) as (session, _):
            output.foreign_bytes(_parts(session, path))
    except NotAFileError as fault:
        raise NotAFileError(fault.skill, fault.path, _shortened(fault.suggestions)) from None
    return exit_codes.OK


def _parts(session: SyncSession, path: str) -> Iterator[bytes]:
    offset: int | None = 0
    while offset is not None:
        found = session.read(path, encoding="binary", offset=offset, limit=_PART)
        if found.encoding is None:
            raise NotShownError(str(found.skill), path)
        yield found.data
        offset = found.next_offset


class NotShownError(SkillError):
    """The file is a script. A session runs scripts and does not show their text."""

    code = "script_unsupported"
    skill: str
    path: str
    sentence = "{path!r} is a script: it is run, not shown; use prowess run {skill} {path}"


def _shortened(names: tuple[str, ...]) -> tuple[str, ...]:
    more = (f"and {len(names) - _MOST_ENTRIES} more",) if len(names) > _MOST_ENTRIES else ()
    return (*names[:_MOST_ENTRIES], *more)
