"""`prowess eval`: evals with a model, and files of evals."""

from __future__ import annotations

import click

from prowess.cli.evals.ablate import ablate
from prowess.cli.evals.compare import compare
from prowess.cli.evals.convert import convert
from prowess.cli.evals.export import export
from prowess.cli.evals.improve import improve
from prowess.cli.evals.judge import judge
from prowess.cli.evals.report import report
from prowess.cli.evals.run import run
from prowess.cli.evals.stats import stats
from prowess.cli.evals.triggers import triggers


@click.group(name="eval")
def command() -> None:
    """Work with files of evals.

    Example: prowess eval convert my-skill --to waza --out my-skill-waza
    """


command.add_command(ablate)
command.add_command(compare)
command.add_command(convert)
command.add_command(report)
command.add_command(export)
command.add_command(improve)
command.add_command(judge)
command.add_command(run)
command.add_command(stats)
command.add_command(triggers)
