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
@click.option("--check", is_flag=True, help="List the files that would change, without writing.")
@click.option("--diff", is_flag=True, help="Show what would change, without writing.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
def command(*, paths: tuple[str, ...], check: bool, diff: bool, quiet: bool) -> int:
    """Format the front matter of skills. Values, order, comments and quotes stay the same.

    PATH is a skill, its SKILL.md or a folder of skills. It defaults to the working directory. With -, standard input is
    formatted to standard output. Exits with 1 if --check or --diff find a difference, or if a file cannot be formatted.

    Example: prowess fmt skills --check
    """
    if find_spec("ruamel") is None:
        output.error("fmt needs a library that keeps comments: pip install 'prowess[fmt]'")
        return exit_codes.USAGE
    from prowess.cli.fixing import show_difference  # Imported here because `--help` does not need it.
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
            output.error(printable_line(f"{path} was not formatted: {reason}"))
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
        verb = "would be formatted" if check or diff else "formatted"
        output.note(f"{counted(changed, 'file')} {verb}, {same} unchanged" + (f", {failed} failed" if failed else ""))
    return exit_codes.FAILED if failed or (changed and (check or diff)) else exit_codes.OK
