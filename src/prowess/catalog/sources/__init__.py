"""Sources of a catalog. A source reads local files only and never waits for a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prowess.catalog.entry import EntrySource

if TYPE_CHECKING:
    from prowess.catalog.scan import Scan


class CatalogSource(EntrySource, Protocol):
    """One place with skills. `scan` reports its skills and findings; faulty skills raise no error."""

    @property
    def project(self) -> str | None:
        """The real path of the project that must be trusted first; None if no trust is needed."""
        ...

    def scan(self, scan: Scan) -> None:
        """Add every skill of this source to `scan`, in an order that depends only on names."""
        ...
