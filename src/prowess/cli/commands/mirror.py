"""`prowess mirror`: writes everything that a lock names into one directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.package_options import scope_option
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.scope import InstallScope
from prowess.distribution.publishing.mirror import write_mirror
from prowess.errors import DistributionError
from prowess.lockfile.places import read_lock

if TYPE_CHECKING:
    from prowess.lockfile.places import Scope


@click.command()
@click.option("--to", "to", required=True, metavar="DIR", type=click.Path(file_okay=False), help="Where to write.")
@scope_option
@json_option
def command(*, to: str, kind: Scope, as_json: bool) -> int:
    """Write every skill that the lock names, with its signature, and the lock itself to DIR.

    DIR becomes an OCI image layout, which `skopeo` and other tools for container registries can carry. On a machine
    without network, `prowess install --from DIR --offline` needs nothing else. The skills are taken from the store and
    compared with the lock. Nothing is contacted.

    \b
    Example:
      prowess mirror --to build/mirror
    """  # noqa: D301 -- click needs the control character
    scope = InstallScope.find(kind)
    lock = read_lock(scope.lock)
    if not lock.skills:
        raise DistributionError(f"the lock {scope.lock} names no skill, so there is nothing to mirror")
    skills = write_mirror(lock, SkillStore(scope.home), to)
    if as_json:
        rows = to_builtins(skills)
        output.document({"lock": scope.lock, "to": os.path.abspath(to), "skills": rows})
        return exit_codes.OK
    for skill in skills:
        output.line(printable_line(f"{skill.ref}  {skill.artifact}"))
    output.line(f"{counted(len(skills), 'skill')} in {output.shown_path(os.path.abspath(to))}")
    return exit_codes.OK
