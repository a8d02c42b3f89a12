"""A demand of one skill for another: a name, a range of versions and, if it is declared, a source.

The text form is `NAME[@RANGE][ from SOURCE]`, for example `ledger@^2` or `mail@>=1 <3 from oci://example.org/mail`.
Locks, indexes and messages contain this form.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from prowess.format.name import normalise
from prowess.lockfile.version_ranges import ANY, fits

_FROM = " from "


class Requirement(Struct, frozen=True, kw_only=True, order=True):
    """A demand for one skill.

    `range` is an npm range or the text of one version (`prowess.lockfile.version_ranges`). `source` is the reference of
    the source that the author declared, or None: then the skill comes from the source of the skill that demands it, or
    else from the first registry that has the name.
    """

    name: str
    range: str = ANY
    source: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text form. Every text is a requirement; one that makes no sense is met by no skill."""
        demand, _, source = text.strip().partition(_FROM)
        name, _, wanted = demand.partition("@")
        return cls(name=normalise(name.strip()), range=" ".join(wanted.split()) or ANY, source=source.strip() or None)

    def __str__(self) -> str:
        wanted = "" if self.range == ANY else f"@{self.range}"
        return f"{self.name}{wanted}{_FROM + self.source if self.source else ''}"

    def allows(self, version: str | None) -> bool:
        """Return whether a version fits; None is a skill that states no version."""
        return fits(version, self.range)
