"""The catalog: discovers skills, and decides which copy of a name is used.

A catalog only reads local directories. It uses no network and runs no script. To list skills, it reads only the front
matter of each SKILL.md. Each skill belongs to one of four layers (`Layer`). If two layers have a skill of one name, the
copy of the higher layer is used and the other copy is shadowed, which means ignored. `Catalog.why` gives the reason.
Every skill that could not be listed is reported as a diagnostic with its path and the reason.

Public names are imported lazily, because the modules that a listing does not need take about as long to import as
listing a thousand skills.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.catalog.catalog import Catalog
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.faults import Notice
    from prowess.catalog.layers import Layer
    from prowess.catalog.matching.match import Match, Matcher, Reason
    from prowess.catalog.resolution import Copy, Resolution
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.directory import DirectorySource
    from prowess.catalog.trust import TrustStore

__all__ = [
    "Catalog",
    "CatalogSource",
    "Copy",
    "DirectorySource",
    "Layer",
    "Match",
    "Matcher",
    "Notice",
    "Reason",
    "Resolution",
    "SkillEntry",
    "TrustStore",
]

_HOMES = {
    "catalog": ("Catalog",),
    "sources": ("CatalogSource",),
    "sources.directory": ("DirectorySource",),
    "layers": ("Layer",),
    "matching.match": ("Match", "Matcher", "Reason"),
    "faults": ("Notice",),
    "resolution": ("Copy", "Resolution"),
    "entry": ("SkillEntry",),
    "trust": ("TrustStore",),
}


if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
