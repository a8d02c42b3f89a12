"""`prowess load`: activates one skill and prints its instructions."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from prowess._internal.files.session_table import first_argument_setting
from prowess.cli import exit_codes
from prowess.cli.one_activation import activated, print_instructions
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import first_argument_option, policy_option
from prowess.cli.options.skill_completion import complete_skill

if TYPE_CHECKING:
    from prowess.runtime.activation.substitution import FirstArgument


@click.command()
@click.argument("name", shell_complete=complete_skill)
@click.argument("args", nargs=-1)
@catalog_options
@policy_option
@first_argument_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with properties and files.")
def command(
    *,
    name: str,
    args: tuple[str, ...],
    skills: CatalogOptions,
    policy_file: str | None,
    first_argument: FirstArgument | None,
    as_json: bool,
) -> int:
    """Activate the skill NAME once, with ARGS if it takes arguments, and print its instructions.

    ARGS is one text, as a user would type it, or several arguments.

    The rules of a session apply: policy, trust, hooks and the audit log. The text is exact in a file; on a terminal and
    in a pipe, control characters are escaped.

    \b
    Example:
      prowess load csv-report --root examples/skills
    """  # noqa: D301 -- click needs the control character
    catalog, name = skills.open_one(name, quiet=as_json, asks=not as_json)
    # several words are quoted, because the text is split as a shell does
    given = None if not args else args[0] if len(args) == 1 else shlex.join(args)
    first = first_argument_setting() if first_argument is None else first_argument
    with activated(catalog, name, given, policy_file=policy_file) as (session, notices):
        print_instructions(catalog, session, notices, first_argument=first, as_json=as_json, quiet=skills.quiet)
    return exit_codes.OK
