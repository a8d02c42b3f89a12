"""The order of precedence of sources: by layer, then as given; of plugins, the last one first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.layers import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess.catalog.sources import CatalogSource


def by_precedence(sources: Iterable[CatalogSource], ranks: Mapping[Layer, int]) -> tuple[CatalogSource, ...]:
    """Return the sources from the highest precedence to the lowest: by layer, then in the order given.

    In the plugin layer the last one has the highest precedence, so that a plugin that was added later replaces skills
    of an earlier one. Copies of other servers' skills come after all plugins, in the order given.
    """
    given = list(sources)
    plugins = [one for one in given if one.layer is Layer.PLUGIN]
    local = [one for one in plugins if not _is_fetched(one)]
    upper = [one for one in given if one.layer is not Layer.PLUGIN]
    fetched = [one for one in plugins if _is_fetched(one)]
    return tuple(sorted((*upper, *reversed(local), *fetched), key=lambda source: ranks[source.layer]))


def _is_fetched(source: CatalogSource) -> bool:
    return getattr(source, "origin", None) is not None
