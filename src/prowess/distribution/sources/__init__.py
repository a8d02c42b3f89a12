"""Where skills come from: directories, archives, git, indexes, registries, installed packages.

Public names are imported lazily: a command that finds everything in place opens no source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.distribution.sources.oci.mirrored import Mirror
    from prowess.distribution.sources.opening import open_source
    from prowess.distribution.sources.protocol import Access, Fetched, Offer, Signature, SkillSource

__all__ = [
    "Access",
    "Fetched",
    "Mirror",
    "Offer",
    "Signature",
    "SkillSource",
    "open_source",
]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(
        __name__,
        {
            "oci.mirrored": ("Mirror",),
            "opening": ("open_source",),
            "protocol": ("Access", "Fetched", "Offer", "Signature", "SkillSource"),
        },
    )
