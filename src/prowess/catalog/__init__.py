"""Which skills there are, where they come from, and which copy of a name is used.

A catalog reads directories and nothing else: no network, no script, no more of a skill than the head of its SKILL.md.
Skills come in four layers (`Layer`); the higher layer wins a name whole, and `Catalog.why` says who lost and why.
What could not be listed is a diagnostic with its place and reason, never a silence.

The public names are resolved when first used: listing a thousand skills takes about as long as importing what a
listing does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.catalog.catalog import Catalog
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.faults import Notice
    from prowess.catalog.layers import Layer
    from prowess.catalog.resolution import Resolution, Shadowed
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.directory import DirectorySource
    from prowess.catalog.trust import TrustStore

__all__ = [
    "Catalog",
    "CatalogSource",
    "DirectorySource",
    "Layer",
    "Notice",
    "Resolution",
    "Shadowed",
    "SkillEntry",
    "TrustStore",
]

_HOMES = {
    "catalog": ("Catalog",),
    "sources": ("CatalogSource",),
    "sources.directory": ("DirectorySource",),
    "layers": ("Layer",),
    "faults": ("Notice",),
    "resolution": ("Resolution", "Shadowed"),
    "entry": ("SkillEntry",),
    "trust": ("TrustStore",),
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted
    __getattr__ = lazy_names(__name__, _HOMES)
