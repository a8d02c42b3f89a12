"""`prowess eval run`: runs the evals of a skill with a model, with the skill and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.errors import InvalidArgumentsError, SkillError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import ConfigurationSummary, EvalRunReport

_SHARE = click.FloatRange(min=0, max=1)
_DRIFT = frozenset({"DriftError", "StaleRecordingError"})


@click.command(name="run")
@click.argument("path", metavar="PATH")
@click.option("--model", metavar="M", help="Model that does the tasks, such as anthropic:claude-sonnet-4-5.")
@click.option("--host", metavar="H", help="Agent that does the tasks: claude, codex, copilot, gemini; or our own.")
@click.option(
    "--baseline",
    metavar="B",
    help="What to compare with: without (default), none, old (the skill before the last edit), or a git revision.",
)
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs of each eval in each configuration; defaults to 3.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, help="Runs at the same time; defaults to 2.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed for the model and all statistics; defaults to 0.")
@click.option("--max-cost-usd", type=float, metavar="X", help="Make no call that could pass this cost.")
@click.option("--max-calls", type=int, metavar="N", help="Make at most N calls of models.")
@click.option("--max-tokens", type=int, metavar="N", help="Make no call that could pass this number of tokens.")
@click.option("--max-output-tokens", type=click.IntRange(min=1), metavar="N", help="Bound on each answer of the model.")
@click.option("--price", metavar="IN/OUT", help="Price of the model in US dollars per million tokens.")
@click.option("--judge", metavar="M", help="Model for assertions that no code can check, or none (default).")
@click.option("--until", type=click.Choice(["decided"]), help="Stop as soon as it is decided whether the skill helps.")
@click.option("--detect", type=_SHARE, metavar="D", help="Smallest difference that matters to --until (default: 0.15).")
@click.option("--with", "neighbours", multiple=True, metavar="SKILL", help="Install this skill too. Repeatable.")
@click.option("--min-pass-rate", type=_SHARE, metavar="R", help="Fail if fewer runs with the skill pass.")
@click.option("--min-delta", type=click.FloatRange(-1, 1), metavar="D", help="Fail if the skill improves less.")
@click.option(
    "--out", type=click.Path(file_okay=False), metavar="DIR", help="Where NAME-workspace is; beside the skill."
)
@click.option("--resume", is_flag=True, help="Continue the newest unfinished iteration, or start one.")
@click.option("--replay", metavar="RUN", help="Replay an iteration, without a model and without a network.")
@click.option("--report", "page", type=click.Path(dir_okay=False), metavar="F", help="Write a page in HTML.")
@click.option("--junit", type=click.Path(dir_okay=False), metavar="F", help="Write the results as JUnit XML.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", is_flag=True, help="Print no line for each run.")
def run(
    *,
    path: str,
    model: str | None,
    host: str | None,
    baseline: str | None,
    runs: int | None,
    jobs: int,
    seed: int | None,
    max_cost_usd: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_output_tokens: int | None,
    price: str | None,
    judge: str | None,
    until: str | None,
    detect: float | None,
    neighbours: tuple[str, ...],
    min_pass_rate: float | None,
    min_delta: float | None,
    out: str | None,
    resume: bool,
    replay: str | None,
    page: str | None,
    junit: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the evals of PATH with a model, with the skill and with a baseline.

    PATH is a skill, or a file or folder of evals in it. The results are files below NAME-workspace/iteration-N/.
    Scripts and programs that grade run in the sandbox.

    Exits with 1 if a gate that was named fails, and with 5 if a cap ended the run.

    Example: prowess eval run my-skill --model openai:gpt-4.1-mini --max-cost-usd 1
    """
    # Imported here: the other subcommands need no agent, no ledger and no sandbox.
    from prowess.cli.evals.report_files import ReportFiles
    from prowess.cli.live_progress import LiveProgress
    from prowess.evals.campaigns.options import EvalRunOptions
    from prowess.evals.campaigns.running import run_evals
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.prices import Price

    if detect is not None and until is None:
        raise click.UsageError("--detect is the smallest difference for --until decided; name both")
    try:
        options = EvalRunOptions(
            path=path,
            model=model,
            host=host,
            baseline=baseline,
            runs=runs,
            jobs=jobs,
            seed=seed,
            caps=Caps(usd=max_cost_usd, tokens=max_tokens, calls=max_calls),
            max_output_tokens=max_output_tokens,
            price=None if price is None else Price.parse(price),
            judge=None if judge == "none" else judge,
            until_decided=until is not None,
            detect=detect,
            neighbours=neighbours,
            min_pass_rate=min_pass_rate,
            min_delta=min_delta,
            out=out,
            resume=resume,
            replay=replay,
        )
        with LiveProgress(cap_usd=max_cost_usd, quiet=quiet or as_json) as progress:
            ended = run_evals(options, on_result=progress.show)
        ReportFiles(page=page, junit=junit).write(ended.report, cap_usd=max_cost_usd)
    except SkillError as fault:
        output.error(_printable(str(fault)))
        return _code_of(fault)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        for line in _lines(report):
            output.line(line)
        for name, text in ended.feedback.items():
            output.note(f"feedback on {printable_line(name)}: {printable_line(text)}")
    if ended.signalled is not None:
        output.note(f"stopped by a signal; continue with --resume: {printable_line(report.iteration)}")
        return exit_codes.SIGNALLED + ended.signalled
    if not report.complete:
        return exit_codes.CAPPED
    return exit_codes.OK if all(gate.passed for gate in report.summary.gates) else exit_codes.FAILED


def _printable(text: str) -> str:
    return "\n".join(map(printable_line, text.splitlines()))


def _code_of(fault: SkillError) -> int:
    if type(fault).__name__ in _DRIFT:
        return exit_codes.FAILED
    usage = isinstance(fault, InvalidArgumentsError) or fault.code == "invalid_arguments"
    return exit_codes.USAGE if usage else exit_codes.UNAVAILABLE


def _lines(report: EvalRunReport) -> Iterator[str]:
    summary = report.summary
    for name, found in summary.configurations.items():
        yield f"{name:14} {_rate(found)}"
    if summary.delta is not None:
        yield f"{'difference':14} {_delta(summary.delta.mean, summary.delta.low, summary.delta.high)}"
    if summary.decision is not None:
        yield f"{'decision':14} {summary.decision}"
    from prowess.evals.campaigns.summary import notes_of  # as in `run`

    for note in notes_of(summary, {unit.id: unit for unit in report.units}):
        yield f"note: {printable_line(note)}"
    spent = report.spent
    cost = "of unknown price" if spent.usd is None else f"for {spent.usd:.4f} US dollars"
    doubt = f", and {spent.in_doubt_usd:.4f} in doubt" if spent.in_doubt_usd else ""
    yield f"{counted(spent.calls, 'call')} {cost}{doubt}"
    for gate in summary.gates:
        value = "not measured" if gate.value is None else f"{gate.value:.3f}"
        yield f"gate {gate.name} {gate.wanted:g}: {value}, {'passed' if gate.passed else 'failed'}"
    if report.stopped is not None:
        yield f"stopped: {report.stopped}; raise the cap and continue with --resume"
    yield f"results: {printable_line(report.iteration)}"


def _rate(found: ConfigurationSummary) -> str:
    graded = found.passed + found.failed
    if found.rate is None or found.low is None or found.high is None:
        rate = "no run counts"
    else:
        rate = (
            f"{found.passed} of {graded} passed ({found.rate:.0%}, 95 % interval {found.low:.0%} to {found.high:.0%})"
        )
    more = [(found.errors, "error"), (found.contaminated, "contaminated"), (found.not_run, "not run")]
    rest = [counted(number, word) if word == "error" else f"{number} {word}" for number, word in more if number]
    return ", ".join([rate, *rest])


def _delta(mean: float, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" (95 % interval {low:+.0%} to {high:+.0%})"
    return f"{mean:+.0%}{interval}"
