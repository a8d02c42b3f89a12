"""What a source offers, what a fetch returns, and the protocol that all sources have.

A source is opened for one command. Everything that it needs is written below a private directory of the caller (the
*scratch* directory), which the caller removes. So a killed command leaves nothing outside that directory.

    with open_source(parse_reference("acme/skills"), scratch=scratch) as source:
        for offer in source.offers():
            fetched = source.fetch(offer, into)  # into/<name>/ is now a private copy of the skill

Sources: protocol 003, distribution; protocol 001, versioning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

from msgspec import Struct

from prowess._internal.files.tree_digest import TreeManifest  # noqa: TC001 -- msgspec resolves it

if TYPE_CHECKING:
    from prowess.lockfile.source_reference import SourceReference


OFFLINE = ("offline", "leave out --offline, or install from a mirror with --from DIR")
"""Reason and advice of an `UnavailableError` about a source that must not be contacted."""

CHECK_PATH = "check the path"


class Offer(Struct, frozen=True, kw_only=True):
    """One skill in one version, as a source has it.

    `package` is the plugin, repository or distribution that contains the skill. `version` is None if neither the source
    nor the skill has one. `path` is the skill's directory relative to the source, `""` for the source itself.
    `revision` is the source's own name of this version, for example a commit. `requires` is None if it is known only
    after the skill was fetched. A yanked version is used only if a lock names it.
    """

    name: str
    package: str | None = None
    version: str | None = None
    path: str = ""
    revision: str | None = None
    description: str = ""
    requires: tuple[str, ...] | None = None
    yanked: bool = False


class Signature(Struct, frozen=True, kw_only=True):
    """A signature that the source has beside the skill's own files.

    `kind` is `git-tag` or `git-commit` (`data` is the object with its signature), or `bundle` (a Sigstore or OMS
    bundle). A `skill.oms.sig` is one of the skill's files and is not repeated here.
    """

    kind: str
    data: bytes


class Fetched(Struct, frozen=True, kw_only=True):
    """A skill that was fetched: a private copy with all its files, not yet installed.

    `source` is the reference without a version, as a lock has it. `commit` is set for git. `artifact` is the SHA-256
    (`sha256:<64 hex>`) of the bytes as fetched, for OCI of the manifest; None if there was no single file. `manifest`
    has the files of the copy in `directory`, an absolute path, as they were written.
    """

    name: str
    package: str | None = None
    version: str | None = None
    source: str
    path: str = ""
    commit: str | None = None
    artifact: str | None = None
    manifest: TreeManifest
    directory: str
    signatures: tuple[Signature, ...] = ()

    @property
    def tree(self) -> str:
        """The digest of the copy."""
        return self.manifest.content_digest


class Access(Struct, frozen=True, kw_only=True):
    """What a source may reach. `redirect_hosts` are hosts that a redirect may lead to, beside the host itself.

    `registries` are the texts of sources that are asked, in this order, for dependencies that name no source. `mirror`
    is a directory that `prowess mirror` wrote; then what a lock names is read from it and from nowhere else.
    """

    offline: bool = False
    redirect_hosts: tuple[str, ...] = ()
    registries: tuple[str, ...] = ()
    mirror: str | None = None


class SkillSource(Protocol):
    """One place from which skills are fetched. A context manager. All methods block.

    A source contacts only the host of its reference and hosts that `Access` permits, and executes nothing that it
    fetches. `prowess.testing.conformance.sources` tests these rules.
    """

    @property
    def reference(self) -> SourceReference:
        """The reference that was opened."""
        ...

    @property
    def contacted(self) -> tuple[str, ...]:
        """The hosts that were contacted so far, as `host` or `host:port`, sorted."""
        ...

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each skill or plugin that the last `offers` left out, and why."""
        ...

    def versions(self) -> tuple[str, ...]:
        """Return the versions that can be given to `offers`, the newest first; empty if the source has only one state.

        Reads an index or a list of tags, and no skills. Not every skill needs to have every version.

        Raises:
            UnavailableError: the source cannot be reached.
            DistributionError: the source is unreadable.
        """
        ...

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """Return the skills with this version, by default each skill with its newest version, sorted by name and path.

        The version is one of `versions()`, or another name that the source has for a state: a tag, a branch, the
        `commit` or `artifact` of a lock. A range is not a version: choose one of `versions()` first. If the source has
        one state only, the version must be that of the skill.

        Raises:
            UnavailableError: the source cannot be reached.
            IntegrityError: the source does not have the `artifact` that was asked for; nothing was unpacked.
            DistributionError: the source is unreadable, or it has no such version.
        """
        ...

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """Write the skill to `into/<name>/`, all of it or nothing. `into` is a private directory of the caller.

        Raises:
            UnavailableError: the source cannot be reached.
            IntegrityError: the bytes are not those that the source promised.
            UnsafePathError, LimitExceededError: the skill has links, unsafe paths or too many files (see `archive`).
            DistributionError: the skill cannot be read.
        """
        ...

    def close(self) -> None:
        """End processes and connections. Closing twice has no effect."""
        ...

    def __enter__(self) -> Self:
        """Return the source."""
        ...

    def __exit__(self, *failure: object) -> None:
        """Close the source."""
        ...
