"""`prowess load`: the instructions of one skill, as a model gets them."""

from __future__ import annotations

import sys

import click

from prowess.cli import exit_codes, output
from prowess.cli.catalog_options import catalog_options, open_catalog


@click.command()
@click.argument("name")
@catalog_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with properties and files.")
def command(  # noqa: PLR0917 -- click passes options by name
    name: str,
    roots: tuple[str, ...],
    plugins: tuple[str, ...],
    trust_project: bool,  # noqa: FBT001 -- click passes options by name
    quiet: bool,  # noqa: FBT001 -- as trust_project
    as_json: bool,  # noqa: FBT001 -- as trust_project
) -> int:
    """Print the instructions of the skill NAME: the text after its front matter.

    A pipe gets the exact text; on a terminal, control characters are escaped.

    \b
    Example:
      prowess load csv-report --root examples/skills
    """  # noqa: D301 -- click looks for the character itself
    catalog = open_catalog(roots, plugins, trust_project=trust_project, quiet=quiet or as_json)
    skill = catalog.skill(name)
    if as_json:
        output.document(
            {
                "name": skill.name,
                "location": skill.location,
                "root_dir": skill.root_dir,
                "digest": skill.digest,
                "document_digest": skill.document_digest,
                "properties": skill.frontmatter.properties(),
                "body": skill.body,
                "resources": [
                    {"path": file.path, "kind": file.kind, "size": file.size, "executable": file.executable}
                    for file in skill.resources
                ],
            }
        )
    elif sys.stdout.isatty():
        output.line(skill.body)
    else:
        output.raw(skill.body)
    return exit_codes.OK
