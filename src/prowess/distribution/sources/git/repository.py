"""A git repository as a source (`SkillSource`): over https, ssh, or as a directory on this machine.

One commit is fetched without its history, and skills are written from its objects as they are committed: no filter,
attribute, hook, submodule or checkout is involved. Versions are tags (`prowess.distribution.sources.git.versions`).
"""

from __future__ import annotations

import os
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from prowess._internal.files.open_flags import Closing
from prowess.distribution.sources.directory import with_version
from prowess.distribution.sources.found_skills import find_skills
from prowess.distribution.sources.git.objects import GitObjects
from prowess.distribution.sources.git.outline import write_outline
from prowess.distribution.sources.git.repository_tree import RepositoryTree
from prowess.distribution.sources.git.versions import RepositoryVersions, names_version
from prowess.distribution.sources.http.client import MAX_DOCUMENT, HttpClient
from prowess.distribution.sources.protocol import CHECK_PATH, OFFLINE, Signature
from prowess.distribution.sources.staged_tree import StagedTree
from prowess.errors import DistributionError, MissingExtraError, UnavailableError
from prowess.lockfile.version_ranges import newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.sources.git.versions import RepositoryState
    from prowess.distribution.sources.protocol import Access, Fetched, Offer
    from prowess.lockfile.source_reference import SourceReference

_LARGE_FILE = b"version https://git-lfs.github.com/spec/"
_MAX_POINTER = 1024  # bytes, by the specification of Git LFS
_COMMIT_SIGNATURE = b"\ngpgsig"
_TAG_SIGNATURE = b"\n-----BEGIN "
_REFS = "/info/refs?service=git-upload-pack"
_MAX_SIGNED = 1024 * 1024  # bytes of a commit or tag


class GitRepository(Closing):
    """The skills in a repository, or in one directory of it."""

    def __init__(self, reference: SourceReference, scratch: str, access: Access) -> None:
        self.reference = reference
        self.problems: tuple[str, ...] = ()
        self.contacted: tuple[str, ...] = ()
        self._access = access
        self._scratch = scratch
        self._name = os.path.basename(reference.location).removesuffix(".git")
        url = f"file://{quote(reference.location)}" if reference.is_local else reference.location
        local = reference.location if reference.is_local else None
        self._objects = GitObjects(scratch, url, reference.source, local)
        self._versions: RepositoryVersions | None = None
        self._fetched: set[str] = set()
        self._trees: dict[str, RepositoryTree] = {}
        self._tags: dict[tuple[str, str | None], set[RepositoryState]] = {}  # annotated tags by commit and version
        self._signed: dict[str, bytes] = {}  # commits and annotated tags that were read

    def close(self) -> None:
        """End git."""
        self._objects.close()

    def versions(self) -> tuple[str, ...]:
        """Return the versions of the tags, the newest first."""
        return self._known().versions()

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """Return the skills of the commits with this version. See `SkillSource.offers`."""
        known = self._known()
        states = known.newest() if version is None else known.named(version)
        if not states and version is not None and not known.versions():
            # Without tags, a version is that of a skill at HEAD.
            return with_version(self._offers(known.newest()), version, str(self.reference))
        if not states:
            self._refuse_version(version)
        return self._offers(states)

    def _refuse_version(self, version: str | None) -> None:
        if version is None:
            raise DistributionError(f"{self.reference.source} has no commit")
        shown = ", ".join(self._known().versions()[:10]) or "none"
        raise DistributionError(
            f"{self.reference.source} has no version, tag, branch or full commit id {version!r}; its versions: {shown}"
        )

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """Write the skill from the objects of its commit. See `SkillSource.fetch`."""
        commit = offer.revision
        if commit is None:
            raise DistributionError(f"{offer.name} was not offered by {self.reference.source}")
        tree = self._tree(commit)
        what = f"the skill {offer.name!r}"
        files = list(tree.skill_files(offer.path, what))
        signatures = tuple(self._signatures(offer, commit))  # first, so that nothing was written if this fails
        reading = closing(self._objects.read([oid for _, _, oid in files]))
        with reading as contents, StagedTree(into, offer.name) as staged:
            for (path, executable, _), data in zip(files, contents, strict=True):
                if len(data) < _MAX_POINTER and data.startswith(_LARGE_FILE):
                    raise DistributionError(f"{what}: {path} is kept in Git LFS, which is not fetched")
                staged.write(path, (data,), executable=executable)
        return staged.fetched(offer, self.reference.source, commit=commit, signatures=signatures)

    def _known(self) -> RepositoryVersions:
        if self._versions is None:
            self._contact()
            self._versions = RepositoryVersions(self._refs(), self._name)
        return self._versions

    def _refs(self) -> dict[str, str]:
        """Return the tags and branches, at the address to which the repository was moved if it was."""
        try:
            return self._objects.refs()
        except DistributionError:
            if not self.reference.location.startswith("http"):
                raise
            try:
                moved = self._moved()
            except MissingExtraError:
                moved = None
            if moved is None:
                raise
        self._objects.url = moved
        return self._objects.refs()

    def _moved(self) -> str | None:
        """Return the URL to which the server redirects. Git itself follows no redirect, to whatever host it leads."""
        with HttpClient(allowed_hosts=self._access.redirect_hosts) as client:
            asked = f"{self.reference.location}{_REFS}"
            found = client.get(asked, most=MAX_DOCUMENT).url
            self.contacted = tuple(sorted({*self.contacted, *client.contacted}))
        return found.removesuffix(_REFS) if found != asked and found.endswith(_REFS) else None

    def _contact(self) -> None:
        """Record the host before it is contacted."""
        if self.reference.is_local:
            if not os.path.isdir(self.reference.location):
                raise UnavailableError(self.reference.location, None, "it is not a directory", CHECK_PATH)
            return
        if self._access.offline:
            raise UnavailableError(self.reference.source, None, *OFFLINE)
        host = urlsplit(self.reference.location).netloc.rpartition("@")[2]
        self.contacted = tuple(sorted({*self.contacted, host}))

    def _offers(self, states: tuple[RepositoryState, ...]) -> tuple[Offer, ...]:
        """Return the skills of states, each one with its newest version among them."""
        self._require(states)
        problems: dict[str, None] = {}
        found: dict[str, tuple[str | None, list[Offer]]] = {}
        for state in states:
            offers, left_out = self._skills(state)
            problems |= dict.fromkeys(left_out)
            for name, copies in groupby(offers, key=lambda offer: offer.name):
                if state.only not in {None, name}:
                    continue
                if name not in found or newest_first((state.version, found[name][0]))[0] == state.version:
                    found[name] = state.version, list(copies)
        self.problems = tuple(problems)
        return tuple(offer for name in sorted(found) for offer in found[name][1])

    def _skills(self, state: RepositoryState) -> tuple[list[Offer], tuple[str, ...]]:
        place = os.path.join(self._scratch, f"outline-{state.commit}")
        if not os.path.isdir(place):
            write_outline(self._tree(state.commit), self._objects, place)
        offers, problems = find_skills(place, self._name)
        return [
            replace(offer, version=state.version or offer.version, revision=state.commit) for offer in offers
        ], problems

    def _tree(self, commit: str) -> RepositoryTree:
        if commit not in self._trees:
            tree = RepositoryTree(self._objects, commit, self.reference.path)
            if self.reference.path and not tree.paths:
                raise DistributionError(f"{self.reference.source}: commit {commit[:12]} has no such directory")
            self._trees[commit] = tree
        return self._trees[commit]

    def _require(self, states: tuple[RepositoryState, ...]) -> None:
        """Fetch what is not here yet, in one request."""
        missing = {state.oid for state in states if state.oid not in self._fetched}
        if missing:
            self._contact()
            self._objects.fetch(missing)
            self._fetched |= missing
        for state in states:
            if state.oid != state.commit:
                self._tags.setdefault((state.commit, state.version), set()).add(state)

    def _signatures(self, offer: Offer, commit: str) -> Iterator[Signature]:
        """Yield the signed tags that name the version of the skill, and the signed commit."""
        states = self._tags.get((commit, offer.version), ())
        tags = sorted({state.oid for state in states if state.only in {None, offer.name}})
        unread = [oid for oid in (*tags, commit) if oid not in self._signed]
        self._signed |= zip(unread, self._objects.read(unread, most=_MAX_SIGNED), strict=True)
        for tag in tags:
            data = self._signed[tag]
            if _TAG_SIGNATURE in data and names_version(data, offer.version):
                yield Signature(kind="git-tag", data=data)
        if _COMMIT_SIGNATURE in self._signed[commit].partition(b"\n\n")[0]:
            yield Signature(kind="git-commit", data=self._signed[commit])
