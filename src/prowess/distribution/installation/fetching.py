"""Fetches skills into a stage: what a lock names, byte for byte, or what a source offers now."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from prowess import lockfile
from prowess._internal.files.open_flags import Closing
from prowess.distribution import sources
from prowess.errors import DistributionError, IntegrityError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.permission.permission import Permission
    from prowess.distribution.sources.oci.mirrored import Mirror
    from prowess.distribution.sources.protocol import Access, Fetched, Offer, SkillSource
    from prowess.lockfile import LockedSkill
    from prowess.lockfile.source_reference import Kind, SourceReference


class Fetcher(Closing):
    """The sources that one command opens, each one once, and the skills that were fetched from them.

    `fetched` has them by tree and name. `permission` is asked before a source is contacted, and before a skill is
    fetched, also if the command changes nothing.
    """

    def __init__(self, stage: Stage, access: Access, permission: Permission) -> None:
        self._stage, self._access, self._permission = stage, access, permission
        self._sources: dict[str, SkillSource] = {}
        self._opened = ExitStack()
        self.fetched: dict[tuple[str, str], Fetched] = {}
        self.mirror = None if access.mirror is None else sources.Mirror(access.mirror)

    @property
    def registries(self) -> tuple[SourceReference, ...]:
        """The registries that may be asked, in their order."""
        return tuple(map(lockfile.parse_reference, self._access.registries))

    @property
    def contacted(self) -> tuple[str, ...]:
        """The hosts that were contacted so far."""
        return tuple(sorted({host for source in self._sources.values() for host in source.contacted}))

    def expect(self, reference: SourceReference, names: Iterable[str] = ()) -> None:
        """Ask for permission to fetch skills from a source. Raises as `Permission.before_fetch`."""
        self._permission.before_fetch(reference, names)

    def open(self, reference: SourceReference) -> SkillSource:
        """Return the source of a reference, whatever its version. Raises DistributionError: it cannot be read."""
        self.expect(reference)
        if reference.source not in self._sources:
            source = sources.open_source(reference, scratch=self._stage.directory(), access=self._access)
            self._sources[reference.source] = self._opened.enter_context(source)
        return self._sources[reference.source]

    def fetch(self, source: SkillSource, offer: Offer) -> Fetched:
        """Fetch one skill into the stage. Raises as `SkillSource.fetch`."""
        self.expect(source.reference, (offer.name,))
        fetched = source.fetch(offer, self._stage.directory())
        self.fetched[fetched.tree, fetched.name] = fetched
        return fetched

    def fetch_mirrored(self, mirror: Mirror, skill: LockedSkill) -> None:
        """Read one locked skill from a mirror into the stage. Raises as `Mirror.fetch`."""
        place, scratch = self._stage.directory(), self._stage.directory()
        self.fetched[skill.tree, skill.name] = mirror.fetch(skill, place, scratch)

    def close(self) -> None:
        """Close the sources. What was fetched stays in the stage."""
        self._opened.close()


def fetch_locked(skills: Iterable[LockedSkill], scope: InstallScope, fetcher: Fetcher) -> None:
    """Fetch exactly what the lock names.

    Raises:
        IntegrityError: a source has other bytes than the lock names.
        UnavailableError: a source cannot be reached.
        DistributionError: a source does not have a skill any more.
    """
    for skill in skills:
        reference = lockfile.parse_reference(skill.source, base=scope.directory, has_version=False)
        if fetcher.mirror is not None:
            fetcher.expect(reference, (skill.name,))  # a mirror is another way to the same skill of the same source
            fetcher.fetch_mirrored(fetcher.mirror, skill)
            continue
        try:
            source = fetcher.open(reference)
            fetched = fetcher.fetch(source, _offer_of(skill, source, reference.kind))
        except UnavailableError as fault:
            if not reference.is_local:
                raise
            advice = f"the lock names {skill.source} for {skill.name}: put it there, or use a mirror with --from DIR"
            raise UnavailableError(fault.what, None, fault.reason, advice) from fault
        what = f"skill {skill.name!r} of {skill.source}"
        if skill.artifact is not None and fetched.artifact not in {None, skill.artifact}:
            raise IntegrityError(what, skill.artifact, str(fetched.artifact))
        if fetched.tree != skill.tree:
            raise IntegrityError(what, skill.tree, fetched.tree)


def _offer_of(skill: LockedSkill, source: SkillSource, kind: Kind) -> Offer:
    """Return the offer that the lock names. Two skills of one name in a source are told apart by their path."""
    for offer in source.offers(_state_of(skill, kind)):
        if offer.name == skill.name and offer.path == (skill.path or ""):
            return offer
    what = f"{skill.name!r}{f' {skill.version}' if skill.version else ''}"
    raise DistributionError(f"{skill.source} does not have {what} any more; run `prowess update {skill.name}`")


def _state_of(skill: LockedSkill, kind: Kind) -> str | None:
    """Return the state of the source from which the skill came: a commit, a digest, a version, or None."""
    match kind:
        case "git":
            return skill.commit
        case "oci" | "archive" | "index" | "directory":
            return skill.artifact  # None for a plain directory, which has one state
        case _:
            return None  # it has one state
