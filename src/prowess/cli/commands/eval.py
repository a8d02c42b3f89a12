"""`prowess eval`: evals with a model, and files of evals."""

from __future__ import annotations

import click

from prowess.cli.dispatch import LazyGroup

SUBCOMMANDS = {
    "run": "Run evals with a model, with the skill and without it.",
    "triggers": "Ask whether a skill is chosen for its requests.",
    "ablate": "Remove each passage of a skill, and see what fails.",
    "improve": "Search for a better description.",
    "compare": "Let a judge compare two versions blindly.",
    "judge": "Judge transcripts: was the skill chosen?",
    "stats": "Compare the outcomes of two configurations.",
    "report": "Write the report of a run as a page, JUnit or Markdown.",
    "convert": "Write files of evals in another form.",
    "export": "Write evals or results for another tool.",
}


@click.group(name="eval", cls=LazyGroup, table=SUBCOMMANDS, package="prowess.cli.evals")
def command() -> None:
    """Evaluate skills, with a model or by recorded runs.

    Example: prowess eval run my-skill --model openai:gpt-4.1-mini --max-cost-usd 1
    """
