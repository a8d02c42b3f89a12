"""The four layers of skills. If two layers have a skill of the same name, the higher layer replaces the whole skill.

The order is enterprise, personal, project, plugin (protocol 003, storage layers). A user can exchange the personal and
the project layer (`project-first`), which is the order of the specification's client guide. The enterprise layer is
always the highest one, and the plugin layer the lowest.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from prowess._internal.layers_order import LAYERS_ORDERS
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.layers_order import LayersOrder


class Layer(StrEnum):
    """The layer of a skill."""

    ENTERPRISE = "enterprise"
    PERSONAL = "personal"
    PROJECT = "project"
    PLUGIN = "plugin"

    @property
    def rank(self) -> int:
        """0 for the highest layer, 3 for the lowest, in the default order."""
        return DEFAULT_RANKS[self]


DEFAULT_RANKS: Mapping[Layer, int] = {layer: rank for rank, layer in enumerate(Layer)}
# A plugin or package with such a name must not be able to offer `deploy@enterprise`.
RESERVED = frozenset({*(layer.value for layer in Layer), "prowess"})
_PROJECT_FIRST = {**DEFAULT_RANKS, Layer.PROJECT: 1, Layer.PERSONAL: 2}


def ranks_of(order: LayersOrder | None) -> Mapping[Layer, int]:
    """Return the rank of each layer, 0 for the highest. None is the default order.

    Raises:
        InvalidArgumentsError: there is no such order.
    """
    if order is None or order == "personal-first":
        return DEFAULT_RANKS
    if order == "project-first":
        return _PROJECT_FIRST
    raise InvalidArgumentsError((f"layers_order must be one of {', '.join(LAYERS_ORDERS)}, not {order!r}",))
