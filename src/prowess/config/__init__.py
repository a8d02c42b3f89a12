"""Settings: their definitions, the places they are read from, and how they apply to one skill.

Precedence from high to low: flag, environment variable, the project's file, the user's file, preset, default. Each
value records its origin. A file inside a skill is never read as settings.
"""

from __future__ import annotations

from prowess.config.configuration import Configuration, load_configuration
from prowess.config.settings import PRESETS, SETTINGS, Origin, Preset, Setting, Value

__all__ = ["PRESETS", "SETTINGS", "Configuration", "Origin", "Preset", "Setting", "Value", "load_configuration"]
