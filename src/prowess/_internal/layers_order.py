"""The two orders of the personal and the project layer, as the setting `layers.order` names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    LayersOrder = Literal["personal-first", "project-first"]

LAYERS_ORDERS: tuple[LayersOrder, ...] = ("personal-first", "project-first")  # the default first
