"""What one skill demands of another: a name, a range of versions and, if it is declared, a source.

The text form is `NAME[@RANGE][ from SOURCE]`, for example `ledger@^2` or `mail@>=1 <3 from oci://example.org/mail`.
Locks, indexes and messages contain this form.
"""

from __future__ import annotations

import re
from typing import Self

from msgspec import Struct

from prowess.format.name import normalise
from prowess.lockfile.version_ranges import fits

_FROM = " from "
_PARTIAL = r"v?(?:[0-9]+|[xX*])(?:\.(?:[0-9]+|[xX*])){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
_CONTINUES = re.compile(rf"(?:\|\||-|[<>=~^]+|[<>=~^]*{_PARTIAL})(?:\|\|[<>=~^]*(?:{_PARTIAL})?)*")


class Requirement(Struct, frozen=True, kw_only=True, order=True):
    """A demand for one skill.

    `versions` is an npm range or the text of one version (`prowess.lockfile.version_ranges`); the empty text is any
    version. `source` is the reference of the source that the author declared, or None: then the skill comes from the
    source of the skill that demands it, or else from the first registry that has the name.
    """

    name: str
    versions: str = ""
    source: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text form. Every text is a requirement; one that makes no sense is met by no skill."""
        demand, _, source = text.strip().partition(_FROM)
        name, _, versions = demand.partition("@")
        return cls(name=normalise(name.strip()), versions=" ".join(versions.split()), source=source.strip() or None)

    def __str__(self) -> str:
        versions = f"@{self.versions}" if self.versions else ""
        return f"{self.name}{versions}{_FROM + self.source if self.source else ''}"

    def allows(self, version: str | None) -> bool:
        """Return whether a version fits; None is a skill that states no version."""
        return fits(version, self.versions)


def parse_requirements(text: str) -> tuple[Requirement, ...]:
    """Read the requirements of one line of text, such as `metadata.dependencies: "ledger@^2 mail@>=1 <3"`.

    Blanks and commas separate the requirements. A word that can only be a part of a range continues the range before.
    """
    found: list[str] = []
    for word in text.replace(",", " , ").split():
        if word == ",":
            found.append("")
        elif found and "@" in found[-1] and _CONTINUES.fullmatch(word):
            found[-1] = f"{found[-1]} {word}"
        elif found and found[-1].endswith("@"):
            found[-1] += word
        else:
            found.append(word)
    return tuple(Requirement.parse(word) for word in found if word)
