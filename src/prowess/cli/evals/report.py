"""`prowess eval report`: the report of a finished run of evals as a page, JUnit and a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.evals.report_files import ReportFiles, write_improvement
from prowess.cli.options import json_option
from prowess.errors import InvalidArgumentsError, MissingExtraError
from prowess.evals.reports.ablation_view import read_ablation
from prowess.evals.reports.answer import answer_of
from prowess.evals.reports.improve_view import improvement_headline, improvement_limits, read_improvement
from prowess.evals.reports.iteration_files import read_json, read_report
from prowess.evals.reports.trigger_view import read_triggers

if TYPE_CHECKING:
    from prowess.evals.campaigns.report import EvalRunReport
    from prowess.evals.optimising.report import ImproveReport


@click.command(name="report")
@click.argument("run", metavar="RUN")
@click.option("--out", "page", metavar="FILE", help="Write a page: one HTML file without scripts.")
@click.option("--junit", "junit", metavar="FILE", help="Write JUnit XML.")
@click.option("--summary", "summary", metavar="FILE", help="Append Markdown: $GITHUB_STEP_SUMMARY in a job on GitHub.")
@click.option(
    "--ablation", "ablation", metavar="FILE", help="Show what each part of the skill is worth: eval ablate --json."
)
@click.option(
    "--triggers", "triggers", metavar="FILE", help="Show who answers whose requests: eval triggers --together --json."
)
@click.option(
    "--max-cost-usd", "cap", type=click.FloatRange(min=0, min_open=True), metavar="X", help="The cap to show."
)
@json_option
def report(
    *,
    run: str,
    page: str | None,
    junit: str | None,
    summary: str | None,
    ablation: str | None,
    triggers: str | None,
    cap: float | None,
    as_json: bool,
) -> int:
    """Write reports of RUN, a folder iteration-N that prowess eval run made; or the page of one of eval improve.

    Without a file to write, the answer is printed.

    Example: prowess eval report invoices-workspace/iteration-1 --out report.html
    """
    files = ReportFiles(page=page, junit=junit, summary=summary)
    try:
        if (search := read_improvement(run)) is not None:
            if any((junit, summary, ablation, triggers)):
                output.error(f"{printable_line(run)} is of eval improve, which has a page alone: --out, --max-cost-usd")
                return exit_codes.USAGE
            return _tell_improvement(search, page, cap, as_json=as_json)
        found = read_report(run)
        view = None if ablation is None else read_ablation(read_json(ablation), skill=found.skill)
        matrix = None if triggers is None else read_triggers(read_json(triggers))
        files.write(found, folder=run, cap_usd=cap, ablation=view, triggers=matrix)
    except InvalidArgumentsError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    except MissingExtraError as fault:
        output.error(str(fault))
        return exit_codes.UNAVAILABLE
    if as_json:
        output.document(found.as_dict())
    else:
        print_answer(found)
    return exit_codes.OK


def _tell_improvement(found: ImproveReport, page: str | None, cap: float | None, *, as_json: bool) -> int:
    if page is not None:
        write_improvement(page, found, cap_usd=cap)
    if as_json:
        output.document(found.as_dict())
        return exit_codes.OK
    output.line(printable_line(improvement_headline(found)))
    for sentence in improvement_limits(found):
        output.line(printable_line(f"- {sentence}"))
    return exit_codes.OK


def print_answer(found: EvalRunReport) -> None:
    """Print the answer of a run, with its limits."""
    answer = answer_of(found)
    output.line(printable_line(answer.headline))
    for note in answer.notes:
        output.line(printable_line(f"- {note}"))
