"""The four layers that skills come from. The higher layer wins a name whole.

Enterprise stands over personal, personal over project, project over plugin (protocol 003, storage layers; the
client guide of the specification lets a project win over a user, which a host can do by naming the project's root).
"""

from __future__ import annotations

from enum import StrEnum


class Layer(StrEnum):
    """Where a skill comes from, in words a person knows."""

    ENTERPRISE = "enterprise"
    PERSONAL = "personal"
    PROJECT = "project"
    PLUGIN = "plugin"

    @property
    def rank(self) -> int:
        """0 for the highest layer, 3 for the lowest."""
        return _RANKS[self]


_RANKS = {layer: rank for rank, layer in enumerate(Layer)}
