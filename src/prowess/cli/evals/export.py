"""`prowess eval export`: evals, or the results of a run, for other tools."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.evals.lost_members import print_lost
from prowess.cli.options import json_option
from prowess.errors import InvalidArgumentsError, SkillParseError
from prowess.evals.export.exported_skill import exported_skill, write_files
from prowess.evals.export.inspect_log import inspect_log_files
from prowess.evals.export.inspect_task import inspect_files, lost_to_inspect
from prowess.evals.export.promptfoo import lost_to_promptfoo, promptfoo_files
from prowess.evals.export.recorded_case import guide_of_run, tests_of_run
from prowess.evals.reports.iteration_files import REPORT_FILE, read_report, transcripts_of
from prowess.evals.transcripts.reading import TranscriptFileError, read_transcript
from prowess.format.suites.files import read_suite, write_suite
from prowess.format.suites.forms import converted, form_named, original
from prowess.format.suites.suite import SuiteError
from prowess.format.suites.yaml_text import yaml_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prowess.evals.export.exported_skill import ExportedSkill
    from prowess.evals.transcripts.transcript import RunTranscript
    from prowess.format.suites.forms import LostMember

_FORMS = ("waza", "plugin-eval")
_OF_EVALS: Mapping[str, Callable[[ExportedSkill], dict[str, bytes]]] = {
    "promptfoo": promptfoo_files,
    "inspect": inspect_files,
}
_LOST: Mapping[str, Callable[[ExportedSkill], Iterable[LostMember]]] = {
    "promptfoo": lost_to_promptfoo,
    "inspect": lost_to_inspect,
}
_LOG = "inspect-log"
_OF_A_RUN: Mapping[str, Callable[[RunTranscript, str, str | None], dict[str, Any]]] = {
    "guide": guide_of_run,
    "tests": tests_of_run,
}


@click.command(name="export")
@click.argument("source", metavar="SRC")
@click.option(
    "--to", "target", required=True, type=click.Choice((*_FORMS, *_OF_EVALS, _LOG, *_OF_A_RUN)), help="The form."
)
@click.option("--out", "out", required=True, metavar="PATH", help="A new folder; a new file for guide and tests.")
@click.option("--skill", "skill", metavar="NAME", help="The skill that a recorded run becomes a case of.")
@click.option("--query", "query", metavar="TEXT", help="The request of the run, if its transcript has none.")
@json_option
def export(*, source: str, target: str, out: str, skill: str | None, query: str | None, as_json: bool) -> int:
    """Write evals or results for another tool.

    SRC is a skill with evals: for promptfoo, inspect (a task of Inspect), waza and plugin-eval (claude plugin eval).
    For inspect-log it is a folder iteration-N of prowess eval run: its results become logs that inspect view opens.
    For guide and tests it is the transcript of a run, which becomes an eval or a test case of the skill --skill.

    Parts of the evals that the other tool will not see are listed.

    Example: prowess eval export my-skill --to promptfoo --out my-skill-promptfoo
    """
    lost: tuple[LostMember, ...] = ()
    try:
        if target in _OF_A_RUN:
            files = _case_of_run(source, target, out, skill, query)
        else:
            files, lost = _written(source, target, out)
    except (SuiteError, InvalidArgumentsError, TranscriptFileError) as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    except SkillParseError as fault:
        output.error(f"{printable_line(str(fault))}; see prowess check")
        return exit_codes.USAGE
    if as_json:
        output.document({"to": target, "out": out, "files": files, "lost": [to_builtins(row) for row in lost]})
    else:
        output.line(f"wrote {counted(len(files), 'file')} for {target} to {printable_line(out)}")
        print_lost(lost, target, are_kept=target in _FORMS)
    return exit_codes.OK


def _written(source: str, target: str, out: str) -> tuple[list[str], tuple[LostMember, ...]]:
    """Write the files, and return their paths below `out`, and the parts that the other tool will not see."""
    lost: tuple[LostMember, ...] = ()
    if target in _FORMS:
        suite, lost = converted(original(read_suite(source)), form_named(target))
        write_suite(suite, out)
        below = (os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names)
        return sorted(os.path.relpath(path, out) for path in below), lost
    if target == _LOG:
        report = read_report(source)
        created = os.stat(os.path.join(source, REPORT_FILE)).st_mtime
        files = inspect_log_files(report, transcripts_of(source, report), created=created)
    else:
        skill = exported_skill(source)
        files, lost = _OF_EVALS[target](skill), tuple(_LOST[target](skill))
    write_files(files, out)
    return sorted(files), lost


def _case_of_run(source: str, target: str, out: str, skill: str | None, query: str | None) -> list[str]:
    if skill is None:
        raise click.UsageError(f"--to {target} needs --skill")
    run = read_transcript(source)
    if run.host is None:
        raise InvalidArgumentsError((f"{source} is no transcript of a known host",))
    data = _OF_A_RUN[target](run, skill, query)
    text = yaml_of(data) if target == "tests" else json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    try:
        with open(out, "xb") as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as fault:
        raise InvalidArgumentsError((f"{out} cannot be written: {fault.strerror}; name a new file",)) from None
    return [out]
