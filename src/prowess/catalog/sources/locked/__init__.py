"""Skills that a lock names: read from the store of the home, each tree compared with the digest in the lock.

Imported on first use, because most catalogs have no lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.catalog.sources.locked.lock_reader import LockReader

__all__ = ["LockReader"]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, {"lock_reader": ("LockReader",)})
