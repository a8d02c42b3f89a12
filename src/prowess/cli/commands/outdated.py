"""`prowess outdated`: installed skills of which there is something newer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.package_options import allow_host_option, scope_option
from prowess.cli.packages.permission import permission_for
from prowess.cli.packages.registries import resolving_access
from prowess.distribution.installation.newer import newer_skills
from prowess.distribution.installation.scope import InstallScope

if TYPE_CHECKING:
    from prowess.distribution.installation.newer import NewerSkill
    from prowess.lockfile.places import Scope

_COLUMNS = ("SKILL", "INSTALLED", "ALLOWED", "NEWEST", "SOURCE")


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@allow_host_option
@scope_option
@json_option
def command(*, names: tuple[str, ...], allowed_hosts: tuple[str, ...], kind: Scope, as_json: bool) -> int:
    """List installed skills of which their sources have something newer. Nothing is changed.

    ALLOWED is the version that `prowess update` would choose, NEWEST the newest one of the source. A skill can be
    outdated without another version: its files changed at the source.

    \b
    Example:
      prowess outdated
      prowess outdated --json
    """  # noqa: D301 -- click needs the control character
    scope = InstallScope.find(kind)
    permission = permission_for("packages.update", kind)
    found, contacted = newer_skills(scope, names, resolving_access(allowed_hosts), permission=permission)
    if as_json:
        skills = [one.as_dict() for one in found]
        output.document({"scope": scope.kind, "lock": scope.lock, "contacted": list(contacted), "skills": skills})
        return exit_codes.OK
    rows = [_row(one) for one in found if one.is_outdated]
    if not rows:
        output.line(f"{counted(len(found), 'skill')} in {output.shown_path(scope.lock)}: all up to date")
        return exit_codes.OK
    table = [_COLUMNS, *rows]
    widths = [max(len(row[at]) for row in table) for at in range(len(_COLUMNS))]
    for row in table:
        output.line("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return exit_codes.OK


def _row(one: NewerSkill) -> tuple[str, ...]:
    allowed = "other files" if one.has_changed and one.allowed == one.installed else one.allowed
    texts = (one.name, one.installed or "-", allowed or "-", one.newest or "-", one.source)
    return tuple(map(printable_line, texts))
