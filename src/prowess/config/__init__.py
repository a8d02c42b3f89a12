"""Settings: which there are, where they come from, and what they mean for one skill.

A flag beats the environment, that beats the project's file, that beats the user's, that beats the default; each value
knows where it was set. Nothing that lies inside a skill is ever a setting.
"""

from __future__ import annotations

from prowess.config.configuration import Configuration, load_configuration
from prowess.config.settings import PRESETS, SETTINGS, Origin, Preset, Setting, Value

__all__ = ["PRESETS", "SETTINGS", "Configuration", "Origin", "Preset", "Setting", "Value", "load_configuration"]
