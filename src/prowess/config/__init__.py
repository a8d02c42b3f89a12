"""Settings: which there are, where they come from, and what they mean for one skill.

A flag beats the environment, that beats the project's file, that beats the user's, that beats the default; each value
knows where it was set. Nothing that lies inside a skill is ever a setting. What sessions start with is set by the user
alone (`prowess.config.session_table`). The public names are resolved when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.config.configuration import Configuration, load_configuration
    from prowess.config.settings import PRESETS, SETTINGS, Origin, Preset, Setting, Value

__all__ = ["PRESETS", "SETTINGS", "Configuration", "Origin", "Preset", "Setting", "Value", "load_configuration"]

_HOMES = {
    "configuration": ("Configuration", "load_configuration"),
    "settings": ("PRESETS", "SETTINGS", "Origin", "Preset", "Setting", "Value"),
}

if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted
    __getattr__ = lazy_names(__name__, _HOMES)
