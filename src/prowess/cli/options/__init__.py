"""Options that several commands share, and what a shell offers for their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from prowess.errors import InvalidArgumentsError
from prowess.format.profiles import profile_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

    from prowess.config.settings import Preset
    from prowess.format.profiles import Profile

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

Command = TypeVar("Command", bound="Callable[..., object]")


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator for several options; `--help` lists them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def completing(words: Callable[[], Mapping[str, str]]) -> Complete:
    """Complete a value, or the last of several with commas between them; each word has its explanation."""

    def complete(context: click.Context, parameter: click.Parameter, text: str) -> list[CompletionItem]:
        del context, parameter
        # Imported here, not at the top: only a shell that completes needs it.
        from click.shell_completion import CompletionItem

        before, comma, begun = text.rpartition(",")
        known = words()
        return [CompletionItem(f"{before}{comma}{word}", help=known[word]) for word in known if word.startswith(begun)]

    return complete


def completing_names(known: Mapping[str, Profile] | Mapping[str, Preset]) -> Complete:
    """Complete the names of profiles or presets, each with its summary."""
    return completing(lambda: {name: one.summary for name, one in known.items()})


def require_profile(name: str) -> None:
    """Refuse the name of a profile that there is not.

    Raises:
        click.UsageError: with the names that there are.
    """
    try:
        profile_named(name)
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from fault
