"""Skills that lie still: who asks again for the same name gets the same skill, told by a few calls of `stat`.

What a name means changes with the generation of the catalog alone, and what a skill says with its files. So what a
load found out about both holds until the one or the other has moved, and need not be found out again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.runtime.freshness import is_current

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess._internal.tree_digest import TreeStamp
    from prowess.catalog import Catalog
    from prowess.runtime.snapshots import Snapshot
    from prowess.runtime.visibility import Offer

_KEPT = 64


class Standing:
    """What one session has loaded for a model by one name from one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._generation = -1
        self._known: dict[tuple[str, str | None], tuple[Offer, Snapshot, TreeStamp]] = {}

    def find(self, names: Sequence[str], location: str | None) -> dict[str, tuple[Offer, Snapshot]]:
        """Return offers and snapshots by key where all of these lie still; nothing where one may not.

        Does not block.
        """
        if self._generation != self._catalog.generation:
            return {}
        found: dict[str, tuple[Offer, Snapshot]] = {}
        for name in names:
            known = self._known.get((name, location))
            if known is None or not known[2].holds():
                return {}
            found[known[0].key] = known[:2]
        return found

    def remember(
        self, names: Sequence[str], location: str | None, offers: Sequence[Offer], taken: Sequence[Snapshot]
    ) -> None:
        """Keep what was loaded for each name, where it can be told later whether it has moved."""
        generation = self._catalog.generation
        if self._generation != generation or len(self._known) >= _KEPT:
            self._generation, self._known = generation, {}
        snapshots = {snapshot.skill.key: snapshot for snapshot in taken}
        for name, offer in zip(names, offers, strict=True):
            stamp, snapshot = self._catalog.stamp(offer.entry), snapshots.get(offer.key)
            if stamp is None or snapshot is None:
                continue
            # The stamp first: while it holds, the file is the one that is compared with its entry behind it.
            if stamp.holds() and is_current(offer.entry):
                self._known[name, location] = (offer, snapshot, stamp)
