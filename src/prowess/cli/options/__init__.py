"""Options that several commands share, and shell completion of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

Command = TypeVar("Command", bound="Callable[..., object]")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Combine several options into one decorator. `--help` lists them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def completing(words: Callable[[], Mapping[str, str]]) -> Complete:
    """Return a completion for the last of comma-separated values. `words` returns each word with its explanation."""

    def complete(context: click.Context, parameter: click.Parameter, text: str) -> list[CompletionItem]:
        del context, parameter
        from click.shell_completion import CompletionItem  # Imported here because only shell completion needs it.

        before, comma, begun = text.rpartition(",")
        known = words()
        return [CompletionItem(f"{before}{comma}{word}", help=known[word]) for word in known if word.startswith(begun)]

    return complete
