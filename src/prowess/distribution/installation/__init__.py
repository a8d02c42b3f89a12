"""Puts verified skills into the store and keeps locks, targets and earlier states.

The names here are imported lazily: a command with nothing to do resolves, compares and verifies nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.distribution.installation.consent import require_consent
    from prowess.distribution.installation.permitted import changes_of
    from prowess.distribution.installation.resolving import Resolving
    from prowess.distribution.installation.signers import with_signers

__all__ = ["Resolving", "changes_of", "require_consent", "with_signers"]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(
        __name__,
        {
            "consent": ("require_consent",),
            "permitted": ("changes_of",),
            "resolving": ("Resolving",),
            "signers": ("with_signers",),
        },
    )
