"""A host's side: verifies the source, writes `ROOT/releases/N`, and turns the link `ROOT/skills` to it.

    ROOT/skills                 -> releases/N, the one moment of change
    ROOT/releases/N/            the skills of release N; of the one before, running sessions keep the same skills
    ROOT/deployment/metadata/   the metadata that was verified last, with the root that this host trusts
    ROOT/deployment/state.json  release, and when it was last verified; written last, so that a run that was killed
                                before is completed by the next one

If the source is out of reach or refused, or the disk is full, everything stays as it was.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from prowess._internal.files.atomic_write import remove_drafts, write_atomically
from prowess._internal.files.file_lock import locked
from prowess.distribution.deployment.client import (
    ROOT_HISTORY,
    ReleaseClient,
    copy_metadata,
    has_root,
    let_everybody_read,
    newest_root,
)
from prowess.distribution.deployment.permitted import SCOPE, changed_skills, deployment_facts
from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease
from prowess.distribution.installation.disk.exchange import exchange
from prowess.distribution.installation.disk.staging import nothing_changed
from prowess.distribution.installation.disk.store import tree_at
from prowess.distribution.installation.disk.trees import remove_tree
from prowess.distribution.permission.permission import Permission
from prowess.errors import AuditError, DistributionError, SkillError, StoreError, UnavailableError
from prowess.policy.packages.deployment_age import OWN_FOLDER, STATE_FILE, seconds_since
from prowess.policy.policy_in_force import PolicyInForce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.deployment.origin import DeploymentSource
    from prowess.distribution.permission.facts import PackageFacts

SyncState = Literal["current", "stale", "refused", "none"]
_WAIT_SECONDS = 60.0
_WHOLE = "no part of a release was used"


class SyncReport(Struct, frozen=True, kw_only=True):
    """The deployed skills of a host after one look at the source.

    `since` is when the source was last verified (UTC, ISO 8601), None if it never was. `reason` is empty if the host
    is current.
    """

    state: SyncState
    changed: bool
    release: int | None
    since: str | None
    reason: str = ""
    skills: tuple[ReleasedSkill, ...] = ()


class HostState(Struct, frozen=True, kw_only=True):
    """The content of `ROOT/deployment/state.json`."""

    release: int
    verified: str
    skills: tuple[ReleasedSkill, ...] = ()


class DeploymentHost:
    """The deployed skills below one directory. For a machine, it is `/etc/prowess`.

    `environment` is that of the host: it does not get skills for other environments.
    """

    def __init__(self, root: str, environment: str | None = None) -> None:
        self.root, self._environment = os.path.abspath(root), environment
        self._skills = os.path.join(self.root, "skills")
        self._own = os.path.join(self.root, OWN_FOLDER)
        self._metadata = os.path.join(self._own, "metadata")

    def state(self) -> HostState | None:
        """Return the release of this host, None if nothing was deployed here yet."""
        try:
            with open(os.path.join(self._own, STATE_FILE), "rb") as file:
                return json.decode(file.read(), type=HostState)
        except (FileNotFoundError, DecodeError):  # a damaged file is written anew from the source
            return None

    def sync(
        self,
        origin: DeploymentSource,
        root: bytes | None = None,
        *,
        thorough: bool = True,
        permission: Permission | None = None,
    ) -> SyncReport:
        """Bring this host to the present release of the source. `root` is the root metadata to trust the first time.

        Each change is a call `packages.sync` about the skills that change, which the policy may refuse. If `thorough`,
        the files of a release that is here already are compared with it, and replaced if they differ.

        Raises:
            DistributionError: `ROOT/skills` is a directory that somebody filled by hand.
        """
        if os.path.lexists(self._skills) and not os.path.islink(self._skills):
            raise DistributionError(
                f"{self._skills} was not made by `prowess sync`; move it away, deploy its skills, then run this again"
            )
        asked = permission or Permission("packages.sync", SCOPE)
        try:
            with nothing_changed(self.root, _WHOLE), self._exclusive():
                try:
                    with nothing_changed(self.root, _WHOLE):
                        return self._brought(origin, self._trusted(root), asked, thorough=thorough)
                except (UnavailableError, StoreError, AuditError) as fault:
                    return self._aged(self._kept("stale", str(fault)))
                except SkillError as fault:
                    return self._kept("refused", str(fault))
        except StoreError as fault:
            return self._kept("stale", str(fault))

    def _trusted(self, root: bytes | None) -> bytes:
        pinned = newest_root(self._metadata)
        if pinned is None:
            if root is None:
                raise DistributionError(
                    "this host trusts no root yet; give --root FILE, the metadata/1.root.json that its owner gave you"
                )
            return root
        if root is not None and not has_root(self._metadata, root):
            raise DistributionError(
                f"this host trusts another root than the one of --root; to change it, remove {self._own}"
            )
        return pinned

    def _brought(self, origin: DeploymentSource, root: bytes, permission: Permission, *, thorough: bool) -> SyncReport:
        """Bring this host to the present release, and record it."""
        release, changed = self._turned(origin, root, permission, thorough=thorough)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        state = HostState(release=release.number, verified=now, skills=release.skills)
        write_atomically(os.path.join(self._own, STATE_FILE), json.encode(state), 0o644)
        return SyncReport(state="current", changed=changed, release=release.number, since=now, skills=release.skills)

    def _turned(
        self, origin: DeploymentSource, root: bytes, permission: Permission, *, thorough: bool
    ) -> tuple[SkillRelease, bool]:
        """Verify the source, and make its release the present one. Return it, and whether the link was turned."""
        with TemporaryDirectory(prefix="stage-", dir=self._own) as stage:
            metadata = os.path.join(stage, "metadata")
            copy_metadata(self._metadata, metadata)
            client = ReleaseClient(origin, metadata, root)
            release = client.release().of_environment(self._environment)
            known = self.state()
            former = None if known is None else str(known.release)
            number = str(release.number)
            target = os.path.join("releases", number)
            before = os.readlink(self._skills) if os.path.islink(self._skills) else None
            place = self._release(number)
            is_here = before == target and former == number and os.path.isdir(place)
            if is_here and not thorough:
                self._keep(metadata)
                return release, False
            draft = None
            if not _is_whole(place, release):
                draft = os.path.join(stage, "release")
                os.mkdir(draft)
                client.unpack(release, draft, None if former is None else self._release(former))
                let_everybody_read(draft)
            if is_here and draft is None:
                self._keep(metadata)
                return release, False

            def work() -> None:
                if draft is not None:
                    exchange(draft, place)
                self._keep(metadata)
                link = os.path.join(stage, "link")
                os.symlink(target, link)
                os.replace(link, self._skills)

            permission.carry_out(
                [("packages.sync", one) for one in self._facts(origin.shown, release, draft or place)], work
            )
            self._remove_releases({number, former})
            if former not in {None, number}:
                self._withdraw(self._release(str(former)), release, stage)
            return release, before != target

    def _withdraw(self, former: str, release: SkillRelease, stage: str) -> None:
        """Remove the skills of the former release that the present one does not have, so that no session goes on."""
        for name in os.listdir(former) if os.path.isdir(former) else ():
            skill, place = release.find(name), os.path.join(former, name)
            if skill is None or tree_at(place) != skill.tree:
                os.rename(place, os.path.join(stage, f"former-{name}"))

    def _facts(self, source: str, release: SkillRelease, directory: str) -> list[PackageFacts]:
        known = self.state()
        before = SkillRelease(number=0, skills=() if known is None else known.skills)
        changed = changed_skills(before, release) or release.skills
        return [deployment_facts(skill, source, os.path.join(directory, skill.name)) for skill in changed]

    def _keep(self, verified: str) -> None:
        """Take over verified metadata: roots first, then the files, each in one step."""
        os.makedirs(os.path.join(self._metadata, ROOT_HISTORY), mode=0o755, exist_ok=True)
        names = [os.path.join(ROOT_HISTORY, name) for name in sorted(os.listdir(os.path.join(verified, ROOT_HISTORY)))]
        for name in (*names, "targets.json", "snapshot.json", "timestamp.json"):
            with open(os.path.join(verified, name), "rb") as file:
                data = file.read()
            kept = os.path.join(self._metadata, name)
            with suppress(FileNotFoundError), open(kept, "rb") as file:
                if file.read() == data:
                    continue
            write_atomically(kept, data, 0o644)

    def _aged(self, report: SyncReport) -> SyncReport:
        """Apply `max_age` and `too_old` of the policy to a release that could not be confirmed."""
        policy = PolicyInForce().now()
        if policy.max_age is None or policy.too_old == "keep" or report.since is None:
            return report
        if seconds_since(report.since) <= policy.max_age:
            return report
        if policy.too_old == "warn":
            return replace(report, reason=f"{report.reason}. It is older than the policy allows (max_age)")
        hidden = os.path.islink(self._skills)
        if hidden:
            os.unlink(self._skills)
        self._remove_releases(set())  # a session that began before has found the skills there
        reason = f"{report.reason}. Its skills are hidden, because it is older than the policy allows (max_age)"
        return replace(report, changed=hidden, skills=(), reason=reason)

    def _kept(self, state: SyncState, reason: str) -> SyncReport:
        found = self.state()
        if found is None:
            kind: SyncState = "none" if state == "stale" else state
            return SyncReport(state=kind, changed=False, release=None, since=None, reason=reason)
        return SyncReport(
            state=state,
            changed=False,
            release=found.release,
            since=found.verified,
            reason=reason,
            skills=found.skills,
        )

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        for directory in (self.root, self._own, os.path.join(self.root, "releases")):
            if not os.path.isdir(directory):
                os.makedirs(directory, mode=0o755, exist_ok=True)
                let_everybody_read(directory)
        with locked(os.path.join(self._own, "lock"), wait_seconds=_WAIT_SECONDS):
            for name in os.listdir(self._own):
                if name.startswith("stage-"):  # of a command that was killed
                    shutil.rmtree(os.path.join(self._own, name))
            for directory in (self._own, self._metadata, os.path.join(self._metadata, ROOT_HISTORY)):
                remove_drafts(directory)
            yield

    def _release(self, number: str) -> str:
        return os.path.join(self.root, "releases", number)

    def _remove_releases(self, but: set[str | None]) -> None:
        for number in os.listdir(os.path.join(self.root, "releases")):
            if number not in but:
                remove_tree(self._release(number))


def _is_whole(place: str, release: SkillRelease) -> bool:
    """Whether a directory has the skills of a release and nothing else."""
    try:
        names = os.listdir(place)
    except FileNotFoundError:
        return False
    if sorted(names) != [skill.name for skill in release.skills]:
        return False
    return all(tree_at(os.path.join(place, skill.name)) == skill.tree for skill in release.skills)
