"""Options that change settings for one command line, used by every command that checks skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.options import completing, together
from prowess.cli.options.profile_names import completing_names
from prowess.config import load_configuration
from prowess.config.settings import PRESETS, SETTINGS
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prowess.cli.options import Command, Complete
    from prowess.config import Configuration


def _selectors() -> Mapping[str, str]:
    """Return every family, every first part of a rule id, and every rule id, each with an explanation."""
    from prowess.lint import RULES  # imported here because only shell completion needs it

    words = {rule.family: "family" for rule in RULES.values()}
    words |= {rule.partition(".")[0]: "rules that begin so" for rule in RULES}
    return words | {rule.id: rule.summary for rule in RULES.values()}


def _several(flag: str, metavar: str, text: str, complete: Complete | None = None) -> Callable[[Command], Command]:
    return click.option(flag, multiple=True, metavar=metavar, help=text, shell_complete=complete)


configuration_options = together(
    _several("--profile", "P", f"Profile to check against: {', '.join(PROFILES)}.", completing_names(PROFILES)),
    _several("--preset", "P", f"Named bundle of settings: {', '.join(PRESETS)}.", completing_names(PRESETS)),
    _several("--select", "RULES", "Run only these rules: families, id prefixes or ids.", completing(_selectors)),
    _several(
        "--ignore",
        "RULES",
        "Leave out these rules. If --select names them too, the more exact selector wins.",
        completing(_selectors),
    ),
    _several("--severity", "RULES=LEVEL", "Severity of rules: error, warning, info or off."),
    _several("--exclude", "GLOBS", "Leave out the skills at these paths."),
    _several(
        "--suppressions", "WHEN", "Let comments in skills suppress findings: on, off or trusted (in trusted projects)."
    ),
    click.option("--config", "config_file", metavar="FILE", help="Read FILE instead of the project's prowess.toml."),
    click.option("--isolated", is_flag=True, help="Read no settings files."),
)


def open_configuration(
    *, config_file: str | None, isolated: bool, quiet: bool = False, **given: Iterable[str]
) -> Configuration:
    """Return the settings from options, environment and files, and print their notices unless `quiet`.

    `given` holds the texts of each option by the name of its setting.

    Raises:
        ConfigurationError: as in `load_configuration`.
    """
    configuration = load_configuration(flags=_flags(given), file=config_file, isolated=isolated, is_trusted=_is_trusted)
    if not quiet:
        for notice in configuration.notices:
            output.note(printable_line(notice))
    return configuration


def configuration_loader(
    *, config_file: str | None, isolated: bool, **given: Iterable[str]
) -> Callable[[str], Configuration]:
    """Return a function that loads the settings for a directory, for commands that read them repeatedly.

    Raises:
        ConfigurationError: an option, or the file that an option names, is invalid.
    """
    flags = _flags(given)
    load_configuration(flags=flags, environment={}, file=config_file, isolated=config_file is None)

    def load(directory: str) -> Configuration:
        return load_configuration(
            directory=directory, flags=flags, file=config_file, isolated=isolated, is_trusted=_is_trusted
        )

    return load


def _flags(given: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {SETTINGS[name].flag: tuple(texts) for name, texts in given.items()}


def _is_trusted(directory: str) -> bool:
    # Imported here because it is only called if a project has a settings file.
    from prowess.catalog.ownership import project_root
    from prowess.catalog.trust import TrustStore

    return TrustStore().is_trusted(project_root(directory))
