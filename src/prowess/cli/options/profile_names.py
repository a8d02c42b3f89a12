"""Names of profiles and presets on a command line: completion, and the check that one exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options import completing
from prowess.errors import InvalidArgumentsError
from prowess.format.profiles import profile_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.cli.options import Complete
    from prowess.config.settings import Preset
    from prowess.format.profiles import Profile


def completing_names(known: Mapping[str, Profile] | Mapping[str, Preset]) -> Complete:
    """Return a completion for the names of profiles or presets, with their summaries."""
    return completing(lambda: {name: one.summary for name, one in known.items()})


def require_profile(name: str) -> None:
    """Check that a profile of this name exists. Raises click.UsageError, with the known names, if it does not."""
    try:
        profile_named(name)
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from fault
