"""Registries whose root this user trusts: their index is used only as a signed release states it.

`PROWESS_HOME/registries/<digest of the address>/` has the metadata that was verified last, with the trusted root, so
that an older index is refused. A registry is found by its address in every spelling. One that is not trusted here is
read without its signatures.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from prowess._internal.files.file_lock import locked
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess.distribution.deployment.client import ReleaseClient, has_root, newest_root
from prowess.distribution.deployment.origin import DirectoryDeployment, HttpDeployment
from prowess.distribution.deployment.signed_index import released_index
from prowess.distribution.sources.http.addresses import address_of
from prowess.distribution.sources.index.document import INDEX_PATH
from prowess.distribution.sources.index.site import SiteFile
from prowess.distribution.sources.protocol import OFFLINE
from prowess.errors import DistributionError, IntegrityError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.deployment.origin import DeploymentSource
    from prowess.distribution.deployment.release import ReleasedIndex
    from prowess.distribution.sources.index.site import Site
    from prowess.distribution.sources.protocol import Access

_FOLDER = "registries"
_INDEX_FOLDER = os.path.dirname(INDEX_PATH)


def trust_registry(location: str, root: bytes, allowed_hosts: Sequence[str] = ()) -> bool:
    """Trust the registry in a directory or at a URL by its root, after it was verified. Return False if it was trusted.

    Raises:
        DistributionError: it cannot be verified with this root, has no signed index, or is trusted by another root.
        UnavailableError: it cannot be reached.
        OSError: it cannot be written to the home.
    """
    place = _place(location)
    ensure_private_directory(os.path.dirname(place))
    with locked(f"{place}.lock"):
        if os.path.isdir(place):
            if not has_root(place, root):
                raise DistributionError(f"{location} is trusted by another root; forget it first: registry forget")
            return False
        with TemporaryDirectory(prefix="stage-", dir=os.path.dirname(place)) as stage:
            metadata = os.path.join(stage, "metadata")
            os.mkdir(metadata, 0o700)
            origin = _origin(location, allowed_hosts)
            try:
                _index_of(origin, ReleaseClient(origin, metadata, root))
            finally:
                origin.close()
            os.rename(metadata, place)
    return True


def forget_registry(location: str) -> bool:
    """Forget the root of a registry. Return whether there was one."""
    place = _place(location)
    if not os.path.isdir(place):
        return False
    with locked(f"{place}.lock"):
        shutil.rmtree(place)
    return True


class SignedSite:
    """A site whose index is verified (`Site`). Other files are those of `site`; the index has their digests."""

    def __init__(self, site: Site, location: str, access: Access) -> None:
        self._site, self._location, self._offline = site, location, access.offline
        self._origin = _origin(location, access.redirect_hosts)

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `Site`."""
        return tuple(sorted({*self._site.contacted, *self._origin.contacted}))

    def index(self, most: int) -> SiteFile:
        """See `Site`. Raises DistributionError and IntegrityError also if the index is not the signed one."""
        place, origin = _place(self._location), self._origin
        if self._offline and isinstance(origin, HttpDeployment):
            raise UnavailableError(origin.shown, None, *OFFLINE)
        with locked(f"{place}.lock"):
            root = newest_root(place)
            if root is None:
                raise DistributionError(f"{place} is damaged; forget {self._location} and trust it again")
            index = _index_of(origin, ReleaseClient(origin, place, root))
        data = origin.read(f"targets/{index.file}", min(index.size, most))
        if data is None or released_index(data) != index:
            raise IntegrityError(f"{origin.shown}/targets/{index.file}", f"sha256:{index.sha256}", "another index")
        return SiteFile(INDEX_PATH if isinstance(origin, DirectoryDeployment) else f"{origin.shown}/{INDEX_PATH}", data)

    def read(self, url: str, base: str, most: int) -> SiteFile:
        """See `Site`."""
        return self._site.read(url, base, most)

    def close(self) -> None:
        """End connections."""
        self._site.close()
        self._origin.close()


def verified_site(site: Site, location: str, access: Access) -> Site:
    """Return the site as it is, or verified if this user trusts the root of its registry."""
    return SignedSite(site, location, access) if os.path.isdir(_place(location)) else site


def _index_of(origin: DeploymentSource, client: ReleaseClient) -> ReleasedIndex:
    if (index := client.release().index) is None:
        raise DistributionError(f"{origin.shown} has no signed index; its owner runs: prowess publish --key")
    return index


def _origin(location: str, allowed_hosts: Sequence[str]) -> DeploymentSource:
    if "://" not in location:
        return DirectoryDeployment(location)
    parts = urlsplit(location)
    return HttpDeployment(parts._replace(path=_above_index(parts.path), query="", fragment="").geturl(), allowed_hosts)


def _place(location: str) -> str:
    """Return the directory for a registry, which is the same for every spelling of its address."""
    if "://" in location:
        address = address_of(location)
        path = posixpath.normpath(f"/{unquote(_above_index(urlsplit(location).path)).strip('/')}")
        name = f"{address.scheme}://{address.host}:{address.port}{path}"
    else:
        name = os.path.realpath(location)
    return os.path.join(prowess_home(), _FOLDER, hashlib.sha256(os.fsencode(name)).hexdigest())


def _above_index(path: str) -> str:
    """Return the path of the registry for the path of its index, or of the folder with the index."""
    path = path.rstrip("/")
    for ending in (f"/{INDEX_PATH}", f"/{_INDEX_FOLDER}"):
        path = path.removesuffix(ending)
    return path
