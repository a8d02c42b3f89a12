"""Where skills come from. A source reads what is local; it never waits for a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    from prowess.catalog.layers import Layer
    from prowess.catalog.scan import Scan

    class CatalogSource(Protocol):
        """One place that holds skills. `scan` reports what is there; it raises nothing because of a skill."""

        @property
        def root(self) -> str:
            """The real path."""
            ...

        @property
        def named(self) -> str:
            """The absolute path as it was given."""
            ...

        @property
        def layer(self) -> Layer:
            """The layer of every skill here."""
            ...

        @property
        def label(self) -> str:
            """What people see as the source."""
            ...

        @property
        def live(self) -> bool:
            """Whether edits of loaded skills are taken up at once."""
            ...

        @property
        def project(self) -> str | None:
            """The real path of the project that must be trusted first; None where no trust is needed."""
            ...

        def scan(self, scan: Scan) -> None:
            """Add every skill of this source to `scan`, in an order that depends on names alone."""
            ...
else:

    class CatalogSource:
        """Only type checkers look at the protocol; `typing` costs more to import than this module."""
