"""The options that several subcommands of `prowess eval` have: caps, seed, places, and the forms of the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from prowess.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Callable

_Decorated = TypeVar("_Decorated", bound="Callable[..., Any]")
SHARE = click.FloatRange(min=0, max=1)
DIFFERENCE = click.FloatRange(min=0, max=1, min_open=True)

host_option = click.option(
    "--host", metavar="H", help="Agent that does the tasks: claude, codex, copilot, gemini; or our own."
)
judge_option = click.option(
    "--judge", metavar="M", help="Model for assertions that no code can check, or none (default)."
)
neighbours_option = click.option(
    "--with", "neighbours", multiple=True, metavar="SKILL", help="Install this skill too. Repeatable."
)
out_option = click.option(
    "--out", type=click.Path(file_okay=False), metavar="DIR", help="Folder in which that of the results is made."
)
resume_option = click.option("--resume", is_flag=True, help="Continue the newest unfinished iteration, or start one.")
replay_option = click.option(
    "--replay", metavar="RUN", help="Replay an iteration, without a model and without a network."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print no line for each run.")

iteration_options = together(out_option, resume_option, replay_option)

cap_options = together(
    click.option("--max-cost-usd", type=float, metavar="X", help="Make no call that could pass this cost."),
    click.option("--max-calls", type=int, metavar="N", help="Make at most N calls of models."),
    click.option("--max-tokens", type=int, metavar="N", help="Make no call that could pass this number of tokens."),
    click.option(
        "--max-output-tokens", type=click.IntRange(min=1), metavar="N", help="Bound on each answer of the model."
    ),
    click.option("--price", metavar="IN/OUT", help="Price of the model in US dollars per million tokens."),
)


def jobs_option(unit: str = "Runs", *, anywhere: bool = False) -> Callable[[_Decorated], _Decorated]:
    """Return the option --jobs for units of this name, in the plural. If it is given `anywhere`, also with --on."""
    text = f"{unit} at the same time"
    if anywhere:
        text += "; defaults to 2, and with --on to the number of its workers' threads."
        return click.option("--jobs", type=click.IntRange(1, 1000), metavar="N", help=text)
    return click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help=f"{text}.")


def seed_option(use: str, *, default: int | None = 0) -> Callable[[_Decorated], _Decorated]:
    """Return the option --seed. With `default` None a command can tell that it was not given."""
    return click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=default, help=f"{use} Defaults to 0.")


def capped(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a command's options, with `caps` and `price` in the place of those of `cap_options`.

    Raises:
        InvalidArgumentsError: a cap is not above 0, or the price cannot be read.
    """
    # Imported here: some subcommands need no ledger.
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.prices import Price

    values = dict(given)
    usd, tokens, calls = (values.pop(name) for name in ("max_cost_usd", "max_tokens", "max_calls"))
    price = values.pop("price")
    return values | {
        "caps": Caps(usd=usd, tokens=tokens, calls=calls),
        "price": None if price is None else Price.parse(price),
    }
