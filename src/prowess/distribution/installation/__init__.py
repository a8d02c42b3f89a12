"""Puts verified skills into the store and keeps locks, targets and earlier states.

`with_signers` is imported lazily: a command that fetches nothing verifies no signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.distribution.installation.signers import with_signers

__all__ = ["with_signers"]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, {"signers": ("with_signers",)})
