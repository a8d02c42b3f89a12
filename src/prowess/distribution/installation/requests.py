"""Requests to install: which skills of which source, and the choice among what the source offers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.near_words import near_words
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.sources.protocol import Offer
    from prowess.lockfile.source_reference import SourceReference

ALL = "*"
_MOST_NAMES = 20


class SkillRequest(Struct, frozen=True, kw_only=True):
    """A source, and the names of skills in it. No name means its only skill; `*` means all of them."""

    reference: SourceReference
    names: tuple[str, ...] = ()


class SeveralSkillsError(DistributionError):
    """The source has several skills, and none was named. `names` are all of them."""

    code = "invalid_arguments"
    source: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.names[:_MOST_NAMES])
        more = f" and {len(self.names) - _MOST_NAMES} more" if len(self.names) > _MOST_NAMES else ""
        return f"{self.source} has {len(self.names)} skills: {shown}{more}; name some with --skill, or all: --skill '*'"


def chosen_offers(request: SkillRequest, offers: Sequence[Offer]) -> tuple[Offer, ...]:
    """Return the offers that a request means.

    Raises:
        SeveralSkillsError: none is named, and there are several.
        DistributionError: the source has no skill, or none of a name.
    """
    source = request.reference.source
    if not offers:
        hint = (
            "; for a git repository, write git+file://PATH"
            if os.path.isdir(f"{request.reference.location}/objects")
            else ""
        )
        raise DistributionError(f"{source} has no skill{hint}")
    usable = [offer for offer in offers if not offer.yanked]
    if not usable:
        raise DistributionError(
            f"{source}: its publisher has withdrawn this version; only a lock that names it gets it"
        )
    if ALL in request.names:
        return tuple(usable)
    if not request.names:
        if len(usable) > 1:
            raise SeveralSkillsError(source, tuple(sorted({offer.name for offer in usable})))
        return tuple(usable)
    chosen = []
    for name in request.names:
        found = [offer for offer in usable if offer.name == name]
        if not found:
            if any(offer.name == name for offer in offers):
                raise DistributionError(
                    f"{source}: every version of {name!r} is yanked; only a lock that names one gets it"
                )
            known = sorted({offer.name for offer in usable})
            near = near_words(name, known)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:_MOST_NAMES])}"
            raise DistributionError(f"{source} has no skill {name!r}; {hint}")
        if len(found) > 1:
            paths = ", ".join(offer.path for offer in found)
            raise DistributionError(f"{source} has several skills {name!r}: {paths}; name one as SOURCE/PATH")
        chosen += found
    return tuple(chosen)
