"""`prowess eval run`: runs the evals of a skill with a model, with the skill and without it."""

from __future__ import annotations

from typing import Any

import click

from prowess.cli.evals.campaign_options import (
    DIFFERENCE,
    SHARE,
    cap_options,
    host_option,
    iteration_options,
    jobs_option,
    judge_option,
    neighbours_option,
    quiet_option,
    seed_option,
)
from prowess.cli.options import json_option
from prowess.cli.options.scheduler_options import scheduler_option


@click.command(name="run")
@click.argument("path", metavar="PATH")
@click.option("--model", metavar="M", help="Model that does the tasks, such as anthropic:claude-sonnet-4-5.")
@host_option
@click.option(
    "--baseline",
    metavar="B",
    help="What to compare with: without (default), none, old (the skill before the last edit), or a git revision.",
)
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs of each eval in each configuration; defaults to 3.")
@jobs_option(anywhere=True)
@seed_option("Seed for the model and all statistics.", default=None)
@cap_options
@judge_option
@click.option("--until", type=click.Choice(["decided"]), help="Stop as soon as it is decided whether the skill helps.")
@click.option("--detect", type=DIFFERENCE, metavar="D", help="Smallest difference for --until; defaults to 0.15.")
@neighbours_option
@click.option("--min-pass-rate", type=SHARE, metavar="R", help="Fail if fewer runs with the skill pass.")
@click.option("--min-delta", type=click.FloatRange(-1, 1), metavar="D", help="Fail if the skill improves less.")
@iteration_options
@scheduler_option("Run")
@click.option("--report", "page", type=click.Path(dir_okay=False), metavar="F", help="Write a page in HTML.")
@click.option("--junit", type=click.Path(dir_okay=False), metavar="F", help="Write the results as JUnit XML.")
@json_option
@quiet_option
def run(**given: Any) -> int:  # noqa: ANN401 -- the options above, by name
    """Run the evals of PATH with a model, with the skill and with a baseline.

    PATH is a skill, or a file or folder of evals in it. The results are files below NAME-workspace/iteration-N/.
    Scripts and programs that grade run in the sandbox.

    --on needs the extra scale. The workers use their own credentials; share the folders of the skill and the results.

    Exits with 1 if a gate that was named fails, and with 5 if a cap ended the run.

    Example: prowess eval run my-skill --model openai:gpt-4.1-mini --max-cost-usd 1
    """
    # Imported here: the other subcommands need no agent, no ledger and no sandbox.
    from prowess.cli.evals.carried_out import carried_out

    return carried_out(**given)
