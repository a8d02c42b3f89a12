"""prowess.lock: reads, writes and merges the list of installed skills. Pure: no processes, no network.

`parse_lock` accepts only the text that `render_lock` writes, so a changed bit is refused. `merge_locks` gives the same
bytes in every order of merges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.lockfile.lock import LockedSkill, LockedTarget, Lockfile
    from prowess.lockfile.merging import merge_locks
    from prowess.lockfile.places import lock_path, read_lock, stored_tree, write_lock
    from prowess.lockfile.requirement import Requirement
    from prowess.lockfile.source_reference import SourceReference, parse_reference
    from prowess.lockfile.spellings import names_in_lock, source_names
    from prowess.lockfile.text import parse_lock, render_lock
    from prowess.lockfile.unmet_requirements import unmet

__all__ = [
    "LockedSkill",
    "LockedTarget",
    "Lockfile",
    "Requirement",
    "SourceReference",
    "lock_path",
    "merge_locks",
    "names_in_lock",
    "parse_lock",
    "parse_reference",
    "read_lock",
    "render_lock",
    "source_names",
    "stored_tree",
    "unmet",
    "write_lock",
]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(
        __name__,
        {
            "lock": ("LockedSkill", "LockedTarget", "Lockfile"),
            "merging": ("merge_locks",),
            "places": ("lock_path", "read_lock", "stored_tree", "write_lock"),
            "requirement": ("Requirement",),
            "spellings": ("names_in_lock", "source_names"),
            "source_reference": ("SourceReference", "parse_reference"),
            "text": ("parse_lock", "render_lock"),
            "unmet_requirements": ("unmet",),
        },
    )
