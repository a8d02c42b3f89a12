"""The supply of a resolution reads no more of a source than it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from prowess.distribution.resolution.source_supply import SourceSupply, place_of
from prowess.distribution.sources.protocol import Offer
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from prowess.distribution.resolution.source_supply import Opener


class _Source:
    """A source with many versions. It is its own opener."""

    registries = ()

    def __init__(self) -> None:
        self.read: list[str | None] = []

    def open(self, reference: object) -> Any:  # noqa: ANN401 -- a part of the protocol is enough here
        del reference
        return self

    def versions(self) -> tuple[str, ...]:
        return tuple(f"{number}.0.0" for number in range(9, 0, -1))

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        self.read.append(version)
        return (Offer(name="pdf", version=version or "9.0.0"),)


def test_no_other_versions_are_read_to_explain_a_conflict_about_a_pinned_skill() -> None:
    source = _Source()
    supply = SourceSupply(cast("Opener", source), "/")
    reference = parse_reference("git+https://example.com/skills")
    (offer,) = supply.offers(reference, "1.0.0")
    place = place_of(reference, "")
    supply.pin(place, offer)
    assert (supply.versions(place, "pdf"), supply.yanked(place, "pdf")) == (["1.0.0"], [])
    assert source.read == ["1.0.0"]
