"""`prowess eval export`: evals, or the results of a run, for other tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.errors import InvalidArgumentsError, SkillParseError
from prowess.evals.export.exported_skill import exported_skill, write_files
from prowess.evals.export.inspect_log import inspect_log_files
from prowess.evals.export.inspect_task import inspect_files
from prowess.evals.export.promptfoo import promptfoo_files
from prowess.evals.reports.iteration_files import REPORT_FILE, read_report, transcripts_of
from prowess.format.suites.files import read_suite, write_suite
from prowess.format.suites.forms import converted, form_named
from prowess.format.suites.suite import SuiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.evals.export.exported_skill import ExportedSkill

_FORMS = ("waza", "plugin-eval")
_OF_EVALS: Mapping[str, Callable[[ExportedSkill], dict[str, bytes]]] = {
    "promptfoo": promptfoo_files,
    "inspect": inspect_files,
}
_LOG = "inspect-log"


@click.command(name="export")
@click.argument("source", metavar="SRC")
@click.option("--to", "target", required=True, type=click.Choice((*_FORMS, *_OF_EVALS, _LOG)), help="The other tool.")
@click.option("--out", "out", required=True, metavar="PATH", help="A new folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def export(*, source: str, target: str, out: str, as_json: bool) -> int:
    """Write evals or results for another tool.

    SRC is a skill with evals: for promptfoo, inspect (a task of Inspect), waza and plugin-eval (claude plugin eval).
    For inspect-log it is a folder iteration-N of prowess eval run: its results become logs that inspect view opens.

    Example: prowess eval export my-skill --to promptfoo --out my-skill-promptfoo
    """
    try:
        files = _written(source, target, out)
    except (SuiteError, InvalidArgumentsError) as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    except SkillParseError as fault:
        output.error(f"{printable_line(str(fault))}; see prowess check")
        return exit_codes.USAGE
    if as_json:
        output.document({"to": target, "out": out, "files": files})
    else:
        output.line(f"wrote {counted(len(files), 'file')} for {target} to {printable_line(out)}")
    return exit_codes.OK


def _written(source: str, target: str, out: str) -> list[str]:
    """Write the files, and return their paths below `out`."""
    if target in _FORMS:
        suite, _ = converted(read_suite(source), form_named(target))
        write_suite(suite, out)
        below = (os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names)
        return sorted(os.path.relpath(path, out) for path in below)
    if target == _LOG:
        report = read_report(source)
        created = os.stat(os.path.join(source, REPORT_FILE)).st_mtime
        files = inspect_log_files(report, transcripts_of(source, report), created=created)
    else:
        files = _OF_EVALS[target](exported_skill(source))
    write_files(files, out)
    return sorted(files)
