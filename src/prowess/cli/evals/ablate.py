"""`prowess eval ablate`: which passages of a skill matter?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.errors import SkillError

if TYPE_CHECKING:
    from prowess.evals.ablation.report import AblatedPassage, AblationReport

_SHOWN = 70


@click.command(name="ablate")
@click.argument("path", metavar="PATH")
@click.option("--tests", "by_tests", is_flag=True, help="Run the tests of prowess test, without a model.")
@click.option(
    "--by",
    type=click.Choice(["sentence", "item", "section"]),
    default="sentence",
    show_default=True,
    help="What is removed at once.",
)
@click.option("--negate", is_flag=True, help="Ask for the opposite of each passage, instead of removing it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", is_flag=True, help="Print the result only.")
def ablate(*, path: str, by_tests: bool, by: Any, negate: bool, as_json: bool, quiet: bool) -> int:  # noqa: ANN401 -- a kind of passage
    """Remove each passage of the skill at PATH in turn, and report which removals are noticed.

    A passage without effect can be removed, or the suite does not test it. The skill itself is not changed.

    Example: prowess eval ablate my-skill --tests
    """
    # Imported here: the other subcommands need no agent.
    from prowess.evals.ablation.by_tests import ablate_by_tests

    if not by_tests:
        raise click.UsageError("name --tests")
    try:
        report = ablate_by_tests(path, by, negate=negate, on_passage=None if quiet or as_json else _tell)
    except SkillError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE if fault.code == "invalid_arguments" else exit_codes.UNAVAILABLE
    if as_json:
        output.document(report.as_dict())
    else:
        _print(report, quiet=quiet)
    return exit_codes.OK


def _tell(passage: AblatedPassage) -> None:
    text = printable_line(" ".join(passage.text.split())[:_SHOWN])
    delta = "" if passage.delta is None else f"{passage.delta:+.0%}"
    output.line(f"{passage.verdict:9} {delta:>5}  {printable_line(passage.path)}:{passage.line}  {text}")


def _print(report: AblationReport, *, quiet: bool) -> None:
    if quiet:
        for unit in report.units:
            if unit.verdict != "needed":
                _tell(unit)
    for name in report.without_verdict:
        output.note(f"left out, because it does not pass with the whole skill: {printable_line(name)}")
    counts = {verdict: sum(unit.verdict == verdict for unit in report.units) for verdict in ("needed", "no_effect")}
    unsure = len(report.units) - sum(counts.values())
    passages = counted(len(report.units), "passage")
    output.line(f"{passages}: {counts['needed']} needed, {counts['no_effect']} without effect, {unsure} unsure")
    if report.score is not None:
        output.line(f"score of the suite: {report.score:.0%} of the passages are missed when they are gone")
