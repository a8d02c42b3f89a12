"""Matching: ranks the skills of a catalog by the words that they share with a task.

`Catalog.match` is the one scorer of Prowess. It compares words (`words`, `stems`), weighs them by field and by how many
skills have them (`weights`), and finds the skills through postings (`postings`), which the first match builds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.catalog.matching.match import Match, Matcher, Reason

__all__ = ["SUGGESTED", "Match", "Matcher", "Reason"]

SUGGESTED = 3  # skills that are suggested in place of an unknown name

_HOMES = {"match": ("Match", "Matcher", "Reason")}

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
