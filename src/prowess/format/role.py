"""The role of a skill, computed from its name: one of the three elements of GF(3), the integers modulo 3.

The first eight bytes of the SHA-256 digest of the name are read as a little-endian number. That number modulo 3, called
the trit, is 0 for the Coordinator, 1 for the Generator and 2 for the Verifier; in balanced notation 0, +1 and -1. A
role cannot be declared. Only the boxxy view of a set of skills uses roles. A set is balanced if its trits add up to 0
modulo 3. Formal specification 000, parts 4 and 11; the laws are proved in `formal/GF3.dfy`.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import TYPE_CHECKING

from prowess.format.name import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable

_ELEMENTS = 3
_DIGEST_BYTES = 8


class Role(Enum):
    """One of three roles; `value` is its trit."""

    COORDINATOR = 0
    GENERATOR = 1
    VERIFIER = 2

    @property
    def trit(self) -> int:
        """The element of GF(3): 0, 1 or 2."""
        return self.value

    @property
    def title(self) -> str:
        """The name shown to people: `Coordinator`, `Generator` or `Verifier`."""
        return self.name.capitalize()

    @property
    def balanced(self) -> str:
        """The trit in balanced notation: `0`, `+1` or `-1`."""
        return ("0", "+1", "-1")[self.value]

    @property
    def color(self) -> str:
        """The primary colour, as `#RRGGBB`."""
        return ("#F59E0B", "#A855F7", "#2E5FA3")[self.value]


def role_of(name: str) -> Role:
    """Return the role of the skill with this name.

        role_of("pdf").title  # Coordinator

    Spellings with one normal form have one role.
    """
    # A lone surrogate, which a YAML escape can write, has no valid UTF-8; it must not end a listing with an error.
    digest = hashlib.sha256(normalise(name).encode("utf-8", "surrogatepass")).digest()
    return Role(int.from_bytes(digest[:_DIGEST_BYTES], "little") % _ELEMENTS)


def is_balanced(roles: Iterable[Role]) -> bool:
    """Whether the trits add up to 0 modulo 3. The empty set is balanced."""
    return sum(role.trit for role in roles) % _ELEMENTS == 0


def balancer(roles: Iterable[Role]) -> Role:
    """Return the role of a skill that would balance the set if it were added. A balanced set gives Coordinator."""
    return Role(-sum(role.trit for role in roles) % _ELEMENTS)
