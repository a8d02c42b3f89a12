"""What a shell offers for the values of options; the words are looked up when a shell asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


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


def profiles() -> Mapping[str, str]:
    """Return the profiles and what each is."""
    from prowess.format.profiles import PROFILES  # here, not at the top: only a shell that completes asks

    return {profile.name: profile.summary for profile in PROFILES.values()}


def presets() -> Mapping[str, str]:
    """Return the presets and what each means."""
    from prowess.config.settings import PRESETS  # here, not at the top: only a shell that completes asks

    return {preset.name: preset.summary for preset in PRESETS.values()}


def selectors() -> Mapping[str, str]:
    """Return all families, beginnings of ids and ids of rules."""
    from prowess.lint import RULES  # here, not at the top: only a shell that completes asks

    words = {rule.family: "family" for rule in RULES.values()}
    words |= {rule.partition(".")[0]: "rules that begin so" for rule in RULES}
    return words | {rule.id: rule.summary for rule in RULES.values()}
