"""`prowess eval ablate`: which passages of a skill matter?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import output
from prowess.cli.evals.campaign_options import (
    cap_options,
    capped,
    host_option,
    jobs_option,
    judge_option,
    neighbours_option,
    out_option,
    resume_option,
    seed_option,
)
from prowess.cli.evals.live_progress import LiveProgress
from prowess.cli.evals.run_ends import code_of_end, spent_text, tell_fault, tell_ungraded, unfinished_text
from prowess.cli.options import json_option
from prowess.cli.options.scheduler_options import scheduler_at, scheduler_option
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Collection

    from prowess.evals.ablation.report import AblatedPassage, AblationReport

_SHOWN = 70


@click.command(name="ablate")
@click.argument("path", metavar="PATH")
@click.option("--tests", "by_tests", is_flag=True, help="Run the tests of prowess test, without a model.")
@click.option(
    "--by",
    type=click.Choice(["sentence", "item", "section", "file"]),
    default="sentence",
    show_default=True,
    help="What is removed at once.",
)
@click.option("--negate", is_flag=True, help="Ask for the opposite of each passage, instead of removing it.")
@click.option("--model", metavar="M", help="Run the evals of eval run with this model.")
@host_option
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs of each eval, and the most without a passage; 5.")
@click.option("--detect", type=click.FloatRange(0.05, 1), help="Smallest loss of a pass rate that matters; 0.6.")
@jobs_option(anywhere=True)
@seed_option("Seed for the model.", default=None)
@judge_option
@neighbours_option
@cap_options
@out_option
@resume_option
@scheduler_option("Run")
@json_option
@click.option("--quiet", is_flag=True, help="Print the result only, at the end.")
def ablate(*, path: str, by_tests: bool, by: Any, as_json: bool, quiet: bool, **given: Any) -> int:  # noqa: ANN401 -- the options above, by name
    """Remove each passage of the skill at PATH in turn, and report which removals are noticed.

    With --tests the tests of prowess test notice, without a model; otherwise the evals of prowess eval run. A passage
    without effect can be removed, or nothing tests it. The skill itself is not changed.

    Exits with 5 if a cap ended the runs.

    Example: prowess eval ablate my-skill --tests
    """
    # Imported here: the other subcommands need no agent.
    from prowess.evals.ablation.by_tests import ablate_by_tests

    if by_tests and (unused := _first_of_command_line(given.keys() - {"negate"})) is not None:
        raise click.UsageError(f"--tests runs what prowess test runs, without a model; leave out {unused}")
    if not by_tests and given["model"] is None and given["host"] is None:
        raise click.UsageError("name --tests to run the skill's tests, or --model M to run its evals")
    signalled = None
    try:
        if by_tests:
            report = ablate_by_tests(path, by, negate=given["negate"], on_passage=None if quiet or as_json else _tell)
        else:
            report, signalled = _by_evals(path, by, quiet=quiet or as_json, **given)
    except SkillError as fault:
        return tell_fault(fault)
    if as_json:
        output.document(report.as_dict())
    else:
        _print(report, with_units=quiet or not by_tests)
    return code_of_end(signalled=signalled, complete=report.complete)


def _first_of_command_line(names: Collection[str]) -> str | None:
    """Return the first of these options that was given, as it is written; None if none was."""
    context = click.get_current_context()
    given = (one for one in context.command.params if one.name in names)
    told = (one.opts[0] for one in given if context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE)
    return next(told, None)


def _by_evals(
    path: str,
    by: Any,  # noqa: ANN401 -- a kind of passage
    *,
    quiet: bool,
    negate: bool,
    detect: float | None,
    judge: str | None,
    on: str | None,
    **given: Any,  # noqa: ANN401 -- options of a campaign, by name
) -> tuple[AblationReport, int | None]:
    # Imported here: --tests needs no ledger and no provider.
    from prowess.evals.ablation.by_evals import ablate_by_evals
    from prowess.evals.ablation.trials import DETECT
    from prowess.evals.campaigns.options import EvalRunOptions

    max_cost_usd = given["max_cost_usd"]
    options = EvalRunOptions(path=path, judge=None if judge == "none" else judge, **capped(given))
    with scheduler_at(on) as engine, LiveProgress(cap_usd=max_cost_usd, quiet=quiet) as progress:
        ended = ablate_by_evals(
            options,
            by,
            negate=negate,
            detect=detect or DETECT,
            engine=engine,
            on_begin=progress.begin,
            on_result=progress.show,
            on_ungraded=tell_ungraded,
        )
    return ended.report, ended.signalled


def _tell(passage: AblatedPassage) -> None:
    text = printable_line(" ".join(passage.text.split())[:_SHOWN])
    delta = "" if passage.delta is None else f"{passage.delta:+.0%}"
    output.line(f"{passage.verdict:9} {delta:>5}  {printable_line(passage.path)}:{passage.line}  {text}")


def _print(report: AblationReport, *, with_units: bool) -> None:
    for unit in report.units if with_units else ():
        _tell(unit)
    for name in report.without_verdict:
        output.note(f"left out, because it does not pass with the whole skill: {printable_line(name)}")
    tell_ungraded(report.ungraded)
    for eval_ in report.evals:
        if eval_.verdict == "silent":
            output.line(f"notices no removal: {printable_line(eval_.eval)}")
    counts = {verdict: sum(unit.verdict == verdict for unit in report.units) for verdict in ("needed", "no_effect")}
    unsure = len(report.units) - sum(counts.values())
    passages = counted(len(report.units), "passage")
    output.line(f"{passages}: {counts['needed']} needed, {counts['no_effect']} without effect, {unsure} unsure")
    if report.score is not None:
        decided = counts["needed"] + counts["no_effect"]
        output.line(
            f"the suite notices the removal of {counts['needed']} of {counted(decided, 'passage')} ({report.score:.0%})"
        )
    if report.stopped is not None:
        output.note(unfinished_text(report.stopped, None, is_replay=False))
    if report.iteration is not None:
        output.line(spent_text(report.spent))
        output.line(f"results: {printable_line(report.iteration)}")
