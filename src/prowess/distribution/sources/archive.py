"""An archive as a source, on this machine or at a URL: `.zip`, `.tar.gz`, `.tgz` or `.skill`.

The archive is fetched once and unpacked into the scratch directory; skills are copied from there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.open_flags import READ, Closing
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.distribution.sources.directory import copy_skill, with_version
from prowess.distribution.sources.found_skills import find_skills
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.protocol import CHECK_PATH, OFFLINE
from prowess.errors import IntegrityError, UnavailableError

if TYPE_CHECKING:
    from prowess.distribution.sources.protocol import Access, Fetched, Offer
    from prowess.lockfile.source_reference import SourceReference

_UNPACKED = "unpacked"
_DIGEST = "sha256:"


class ArchiveSource(Closing):
    """The skills in one archive (`SkillSource`). A digest as version is compared before anything is unpacked."""

    def __init__(self, reference: SourceReference, scratch: str, access: Access) -> None:
        self.reference = reference
        self.problems: tuple[str, ...] = ()
        self._scratch = scratch
        self._access = access
        self._client = HttpClient(allowed_hosts=access.redirect_hosts)
        self._directory: str | None = None
        self._artifact = ""

    @property
    def contacted(self) -> tuple[str, ...]:
        """The hosts that were contacted so far."""
        return self._client.contacted

    def versions(self) -> tuple[str, ...]:
        """Return no versions: an archive has one state."""
        return ()

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """Return the skills in the archive, those with this version if one is given."""
        digest = version if version is not None and version.startswith(_DIGEST) else None
        directory = self._unpacked(digest)
        found, self.problems = find_skills(directory, None)
        found = tuple(replace(offer, revision=self._artifact) for offer in found)
        return with_version(found, None if digest else version, str(self.reference))

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """Copy the skill. See `SkillSource.fetch`."""
        staged = copy_skill(os.path.join(self._unpacked(offer.revision), offer.path), into, offer.name)
        return staged.fetched(offer, self.reference.source, artifact=self._artifact)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _unpacked(self, digest: str | None) -> str:
        """Return the directory with the archive's files. Raises IntegrityError if the archive has another digest."""
        what = self.reference.location
        if self._directory is None:
            data = self._read()
            self._directory = unpack_archive(data, self._scratch, _UNPACKED, what=what, digest=digest).directory
            self._artifact = sha256_of(data)
        elif digest not in {None, self._artifact}:
            raise IntegrityError(what, str(digest), self._artifact)
        return self._directory

    def _read(self) -> bytes:
        place = self.reference.location
        if not self.reference.is_local:
            if self._access.offline:
                raise UnavailableError(place, None, *OFFLINE)
            return self._client.get(place, most=MAX_PACKED).require_success(place)
        try:
            descriptor = os.open(os.path.realpath(place), READ)
            try:
                return read_at_most(descriptor, MAX_PACKED + 1)
            finally:
                os.close(descriptor)
        except OSError as fault:
            raise UnavailableError(place, None, fault.strerror or str(fault), CHECK_PATH) from fault
