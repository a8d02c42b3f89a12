"""`prowess eval convert`: writes the evals of one form in another."""

from __future__ import annotations

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.evals.lost_members import print_lost
from prowess.cli.options import json_option
from prowess.format.suites.files import read_suite, write_suite
from prowess.format.suites.forms import FORMS, converted, form_named, original
from prowess.format.suites.suite import SuiteError


@click.command(name="convert")
@click.argument("source", metavar="SRC")
@click.option("--to", "form", required=True, type=click.Choice(tuple(FORMS)), help="The form to write.")
@click.option("--out", "out", required=True, metavar="PATH", help="A new file, or a new folder for a form of folders.")
@click.option("--lossy", is_flag=True, help="Succeed even if other tools will not see everything.")
@json_option
def convert(*, source: str, form: str, out: str, lossy: bool, as_json: bool) -> int:
    """Write the evals of SRC in another form.

    SRC is a skill, a file or a folder of evals. Members that the form lacks are kept beside it, so that
    converting back gives the same data. Other tools do not see them: they are listed, and without --lossy the exit code
    is 1.

    Example: prowess eval convert evals.json --to skill-creator --out new.json
    """
    try:
        read = read_suite(source)
        first = original(read)
        suite, lost = converted(first, form_named(form))
        write_suite(suite, out)
    except SuiteError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    count = len(suite.suite().cases)
    if as_json:
        rows = [to_builtins(row) for row in lost]
        output.document({"from": first.form.name, "to": form, "evals": count, "lost": rows, "out": out})
    else:
        output.line(f"wrote {counted(count, 'eval')} in the form {form} to {printable_line(out)}")
        print_lost(lost, form, are_kept=True)
    return exit_codes.OK if lossy or not lost else exit_codes.FAILED
