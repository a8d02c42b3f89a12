"""Where skills come from. A source reads what is local; it never waits for a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prowess.catalog.entry import EntrySource

if TYPE_CHECKING:
    from prowess.catalog.scan import Scan


class CatalogSource(EntrySource, Protocol):
    """One place that holds skills. `scan` reports what is there; it raises nothing because of a skill."""

    @property
    def project(self) -> str | None:
        """The real path of the project that must be trusted first; None if no trust is needed."""
        ...

    def scan(self, scan: Scan) -> None:
        """Add every skill of this source to `scan`, in an order that depends on names alone."""
        ...
