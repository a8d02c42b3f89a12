"""`prowess eval run`: runs the evals of a skill with a model, with the skill and without it."""

from __future__ import annotations

from typing import Any

import click

_SHARE = click.FloatRange(min=0, max=1)


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
def run(**given: Any) -> int:  # noqa: ANN401 -- the options above, by name
    """Run the evals of PATH with a model, with the skill and with a baseline.

    PATH is a skill, or a file or folder of evals in it. The results are files below NAME-workspace/iteration-N/.
    Scripts and programs that grade run in the sandbox.

    Exits with 1 if a gate that was named fails, and with 5 if a cap ended the run.

    Example: prowess eval run my-skill --model openai:gpt-4.1-mini --max-cost-usd 1
    """
    # Imported here: the other subcommands need no agent, no ledger and no sandbox.
    from prowess.cli.evals.carried_out import carried_out

    return carried_out(**given)
