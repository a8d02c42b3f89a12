"""Reads the files of a site with an index: over HTTP, or from a directory with the same layout."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from prowess._internal.files.contained import ContainedRoot
from prowess.distribution.sources.http.addresses import address_of, joined_url, without_credentials
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.index.document import INDEX_PATH, LEGACY_INDEX_PATH
from prowess.distribution.sources.protocol import OFFLINE
from prowess.errors import DistributionError, LimitExceededError, UnavailableError

if TYPE_CHECKING:
    from prowess.distribution.sources.protocol import Access


class SiteFile:
    """A file of a site. `media_type` is empty if the site does not state it."""

    __slots__ = ("data", "media_type", "url")

    def __init__(self, url: str, data: bytes, media_type: str = "") -> None:
        self.url, self.data, self.media_type = url, data, media_type


class Site(Protocol):
    """Where an index and its artifacts are read from."""

    @property
    def contacted(self) -> tuple[str, ...]:
        """The servers that were contacted so far."""
        ...

    def index(self, most: int) -> SiteFile:
        """Return the index. Raises DistributionError if there is none, and UnavailableError."""
        ...

    def read(self, url: str, base: str, most: int) -> SiteFile:
        """Return the file at `url`, which may be relative to `base`. Raises as `index`, and UnsafePathError."""
        ...

    def close(self) -> None:
        """End connections."""
        ...


class HttpSite:
    """A site on the web. Files on another host are read only if `access` permits that host."""

    def __init__(self, location: str, access: Access) -> None:
        self._location, self._offline = location, access.offline
        self._client = HttpClient(allowed_hosts=access.redirect_hosts)

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `Site`."""
        return self._client.contacted

    def index(self, most: int) -> SiteFile:
        """See `Site`. The newer place of the index is tried first."""
        places = _index_urls(self._location)
        for url in places:
            answer = self._get(url, most)
            if answer is not None:
                return answer
        raise DistributionError(f"{without_credentials(self._location)} has no index of skills ({', '.join(places)})")

    def read(self, url: str, base: str, most: int) -> SiteFile:
        """See `Site`."""
        whole = joined_url(base, url)
        site, at = address_of(base), address_of(whole)
        if not site.is_same_server(at):
            self._client.require_allowed(at, f"the index of {site.shown} leads to {without_credentials(whole)}")
        if (answer := self._get(whole, most)) is None:
            raise DistributionError(
                f"{without_credentials(whole)}, which the index of {site.shown} names, does not exist"
            )
        return answer

    def close(self) -> None:
        """See `Site`."""
        self._client.close()

    def _get(self, url: str, most: int) -> SiteFile | None:
        if self._offline:
            raise UnavailableError(without_credentials(url), None, *OFFLINE)
        answer = self._client.get(url, most=most)
        if answer.is_missing:
            return None
        data = answer.require_success("reading skills")
        return SiteFile(answer.url, data, answer.headers.get("content-type", ""))


class DirectorySite:
    """A directory on this machine that `prowess publish --to` wrote, or a copy of a site."""

    contacted: tuple[str, ...] = ()

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def index(self, most: int) -> SiteFile:
        """See `Site`."""
        return self.read(INDEX_PATH, "", most)

    def read(self, url: str, base: str, most: int) -> SiteFile:
        """See `Site`. `base` is a path below the directory."""
        parts = urlsplit(joined_url(f"/{base}", url))
        if parts.scheme or parts.netloc or parts.query:
            raise DistributionError(f"{url}: the index of {self._directory} leads out of the directory")
        path = unquote(parts.path).lstrip("/")
        what = os.path.join(self._directory, path)
        try:
            with ContainedRoot(self._directory) as root, root.open(path) as opened:
                data = opened.read(most + 1)
        except OSError as fault:
            raise DistributionError(f"{what} cannot be read: {fault.strerror}") from None
        if len(data) > most:
            raise LimitExceededError(f"bytes in {what}", most, None)
        return SiteFile(path, data)

    def close(self) -> None:
        """See `Site`."""


def _index_urls(location: str) -> list[str]:
    parts = urlsplit(location)
    path = parts.path.rstrip("/")
    if path.endswith(".json"):
        paths = [path]
    elif path.endswith(("/.well-known/agent-skills", "/.well-known/skills")):
        paths = [f"{path}/index.json"]
    else:
        paths = [f"{path}/{INDEX_PATH}", f"{path}/{LEGACY_INDEX_PATH}"]
    return [parts._replace(path=each, fragment="").geturl() for each in paths]
