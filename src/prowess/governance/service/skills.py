"""The skills of a tenant: those that are deployed, and those that machines have."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.service.inventory import SkillCopy, copies_of
from prowess.governance.service.listing import ListPage, ListQuery, NoSuchItemError, page_of
from prowess.policy.facts.skill_identity import LAYERS
from prowess.store.shared.bundle_rows import SharedBundleRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.governance.service.deployments import DeployedSkill, Deployment
    from prowess.governance.service.service_call import ServiceCall


class SkillVersion(Struct, frozen=True, kw_only=True):
    """One content of a skill. `digest` is that of its tree; `machines` counts the machines that have it."""

    digest: str
    version: str | None = None
    deployed: bool = False
    deprecated: bool = False
    successor: str | None = None
    layers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    capabilities: tuple[str, ...] | None = None
    approval: str | None = None
    findings: str | None = None
    machines: int = 0


class SkillSummary(Struct, frozen=True, kw_only=True):
    """A skill by its name. `winner` is the digest that sessions choose on most machines: that of the highest layer.

    `blocked` is the reason of a block by name or digest.
    """

    name: str
    versions: tuple[SkillVersion, ...]
    winner: str | None = None
    deployed: bool = False
    blocked: str | None = None
    machines: int = 0


class SkillDetail(Struct, frozen=True, kw_only=True):
    """A skill with its copies on machines."""

    skill: SkillSummary
    copies: tuple[SkillCopy, ...]


class SkillQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which skills are wanted. `text` is a part of the name."""

    text: str | None = None
    deployed: bool | None = None


class SkillService:
    """The skills of the tenant of a call. `deployments` are the present releases of the tenant and the organisation."""

    def __init__(self, call: ServiceCall, deployments: tuple[Deployment, ...] = ()) -> None:
        self._call, self._deployments = call, deployments

    def list(self, query: SkillQuery) -> ListPage[SkillSummary]:
        """Return skills by name. Everybody may see which there are, and only those who may audit, on how many machines.

        Raises:
            PolicyDeniedError: the actor is a machine.
            StoreError: the store cannot be used.
        """
        self._call.require_person()
        found = _Found(self._call, self._deployments)
        page = page_of(filter(partial(_fits, found, query), found.names), query, str)
        return ListPage(items=tuple(map(found.summary, page.items)), next=page.next)

    def get(self, name: str) -> SkillDetail:
        """Return a skill with its copies, which only those see who may audit. Raises as `list`, and NoSuchItemError."""
        self._call.require_person()
        found = _Found(self._call, self._deployments)
        if name not in found.names:
            raise NoSuchItemError(kind="skill", id=name)
        copies = tuple(found.copies.get(name, ())) if found.may_count else ()
        return SkillDetail(skill=found.summary(name), copies=copies)


class _Found:
    """All copies and deployed skills by name. A summary is made only of the skills that are shown."""

    def __init__(self, call: ServiceCall, deployments: Sequence[Deployment]) -> None:
        self.copies: dict[str, list[SkillCopy]] = {}
        for copy in copies_of(call.database):
            self.copies.setdefault(copy.name, []).append(copy)
        self.deployed: dict[str, list[DeployedSkill]] = {}
        for release in deployments:
            for skill in release.skills:
                self.deployed.setdefault(skill.name, []).append(skill)
        self.names = {*self.copies, *self.deployed}
        self.may_count = call.actor.may("audit")
        self._blocks = SharedBundleRows(call.database).read()[2].blocks

    def summary(self, name: str) -> SkillSummary:
        """Return what is known of a skill."""
        copies, deployed = self.copies.get(name, []), self.deployed.get(name, [])
        by_digest: dict[str, list[SkillCopy]] = {one.tree: [] for one in deployed}
        for copy in copies:
            if copy.digest is not None:
                by_digest.setdefault(copy.digest, []).append(copy)
        blocked = (
            one["reason"]
            for one in self._blocks
            if (one["kind"] == "name" and one["value"] == name)
            or (one["kind"] == "digest" and one["value"] in by_digest)
        )
        return SkillSummary(
            name=name,
            versions=tuple(self._version(digest, mine, deployed) for digest, mine in by_digest.items()),
            winner=chosen_version(copies, deployed),
            deployed=bool(deployed),
            blocked=next(blocked, None),
            machines=len({one.machine for one in copies}) if self.may_count else 0,
        )

    def _version(self, digest: str, mine: Sequence[SkillCopy], deployed: Sequence[DeployedSkill]) -> SkillVersion:
        released = next((one for one in deployed if one.tree == digest), None)
        first = next(iter(mine), None)
        sources = {one.source for one in mine if one.source is not None} if self.may_count else set()
        return SkillVersion(
            digest=digest,
            version=None if released is None else released.version,
            deployed=released is not None,
            deprecated=released is not None and released.deprecated,
            successor=None if released is None else released.successor,
            layers=tuple(sorted({one.layer for one in mine})),
            sources=tuple(sorted(sources)),
            capabilities=None if first is None else first.capabilities,
            approval=None if first is None else first.approval,
            findings=None if first is None else first.findings,
            machines=len({one.machine for one in mine}) if self.may_count else 0,
        )


def _fits(found: _Found, query: SkillQuery, name: str) -> bool:
    named = query.text is None or query.text.casefold() in name.casefold()
    return named and (query.deployed is None or query.deployed == (name in found.deployed))


def chosen_version(copies: Sequence[SkillCopy], deployed: Sequence[DeployedSkill]) -> str | None:
    """Return the digest that most machines choose: a deployed one, else that of the highest layer on each."""
    if deployed:
        return deployed[0].tree
    chosen: dict[str, SkillCopy] = {}
    for copy in copies:
        before = chosen.get(copy.machine)
        if before is None or _rank(copy.layer) < _rank(before.layer):
            chosen[copy.machine] = copy
    counted = Counter(one.digest for one in chosen.values() if one.digest is not None)
    return counted.most_common(1)[0][0] if counted else None


def _rank(layer: str) -> int:
    return LAYERS.index(layer) if layer in LAYERS else len(LAYERS)
