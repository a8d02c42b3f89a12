"""`prowess fmt`: formats SKILL.md files without changing their content."""

from __future__ import annotations

import os
from importlib.util import find_spec

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.targets import STANDARD_INPUT, targets
from prowess.diagnostics import Severity


@click.command("fmt")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--check", is_flag=True, help="Name the files that would change; write nothing.")
@click.option("--diff", is_flag=True, help="Show what would change; write nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
def command(*, paths: tuple[str, ...], check: bool, diff: bool, quiet: bool) -> int:
    """Lay out the frontmatter of skills evenly: same values, order, comments and quotes.

    PATH is a skill, its SKILL.md or a folder of skills; the working directory by default, and - formats standard input
    to standard output. Exits with 1 where --check or --diff find something to change, or a file cannot be laid out.

    Example: prowess fmt skills --check
    """
    if find_spec("ruamel") is None:
        output.error("fmt needs a library that keeps comments: pip install 'prowess[fmt]'")
        return exit_codes.USAGE
    # Imported here because `--help` does not need it.
    from prowess.cli.fixing import show_difference
    from prowess.fix.applying import replace_file
    from prowess.fix.formatting import format_source

    changed = same = failed = 0
    for target in targets(paths or (".",)):
        document, data, named = target.read(), target.data, target.named
        path = document.path or ""
        unreadable = next((one for one in document.diagnostics if one.rule.startswith("file.")), None)
        formatted = format_source(data)
        new, reason = formatted.data, formatted.reason
        if unreadable is not None and unreadable.severity is Severity.ERROR:
            reason = unreadable.message
        if reason is None and new != data and not (check or diff) and named != STANDARD_INPUT:
            file = os.path.join(document.directory or "", os.path.basename(path))
            reason = replace_file(file, data, new, within=named)
        if reason is not None:
            failed += 1
            output.error(printable_line(f"{path} was not laid out: {reason}"))
            continue
        if diff:
            show_difference(path, data, new)
        elif check and new != data:
            output.line(printable_line(path))
        elif named == STANDARD_INPUT and not check:
            output.raw_bytes(new)
        changed += new != data
        same += new == data
    if not quiet:
        verb = "would be laid out" if check or diff else "laid out"
        output.note(
            f"{counted(changed, 'file')} {verb}, {same} already even" + (f", {failed} left alone" if failed else "")
        )
    return exit_codes.FAILED if failed or (changed and (check or diff)) else exit_codes.OK
