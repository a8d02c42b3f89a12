"""`prowess load`: activates one skill and prints its instructions."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from prowess._internal.files.session_table import first_argument_setting
from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.one_activation import activated
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import first_argument_option, policy_option
from prowess.cli.options.skill_completion import complete_skill
from prowess.runtime.activation.rendering import rendered

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
    first = first_argument_setting() if first_argument is None else first_argument
    # several words are quoted, because the text is split as a shell does
    given = None if not args else args[0] if len(args) == 1 else shlex.join(args)
    with activated(catalog, name, given, policy_file=policy_file) as (session, notices):
        (active,) = session.active_skills
        skill = catalog.skill(active.name, active.location)
        body = rendered(active, skill.body, session.session_id, expose_location=True, first_argument=first)
    if as_json:
        output.document(
            {
                "name": skill.name,
                "location": skill.location,
                "root_dir": skill.root_dir,
                "digest": skill.digest,
                "document_digest": skill.document_digest,
                "properties": skill.frontmatter.properties(),
                "body": body.text,
                "substitutions": body.substitutions.as_dict(),
                "notices": [notice.as_dict() for notice in notices],
                "resources": [
                    {"path": file.path, "kind": file.kind, "size": file.size, "executable": file.executable}
                    for file in skill.resources
                ],
            }
        )
    else:
        for notice in () if skills.quiet else notices:
            output.note(printable_line(notice.message))
        output.foreign(f"{body.text}\n" if sys.stdout.isatty() else body.text)
    return exit_codes.OK
