"""How an argument stands to a pattern: it fits for certain, it may fit, or it does not.

Rules that permit need certainty; rules that refuse or ask need only the possibility. Keeping the two apart is what lets
one grammar serve both without a gap between them.
"""

from __future__ import annotations

from msgspec import Struct


class Fit(Struct, frozen=True, kw_only=True):
    """`certain` implies `possible`. Where it is not certain, `reason` says why and `kind` is a short name for it.

    `kind` holds nothing of the arguments and may be recorded; `reason` may quote them.
    """

    certain: bool
    possible: bool
    kind: str = ""
    reason: str = ""


CERTAIN = Fit(certain=True, possible=True)
