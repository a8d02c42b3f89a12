"""The four layers of skills. If two layers have a skill of the same name, the higher layer replaces the whole skill.

The order is enterprise, personal, project, plugin (protocol 003, storage layers). In the specification's client guide a
project has precedence over a user; a host gets that order if it passes the project's root.
"""

from __future__ import annotations

from enum import StrEnum


class Layer(StrEnum):
    """The layer of a skill."""

    ENTERPRISE = "enterprise"
    PERSONAL = "personal"
    PROJECT = "project"
    PLUGIN = "plugin"

    @property
    def rank(self) -> int:
        """0 for the highest layer, 3 for the lowest."""
        return _RANKS[self]


_RANKS = {layer: rank for rank, layer in enumerate(Layer)}
