"""Reads the files of a deployment repository as a host does: from a directory or over HTTP, each bounded in size."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol
from urllib.parse import unquote

from prowess._internal.files.contained import ContainedRoot
from prowess.distribution.sources.http.addresses import address_of
from prowess.distribution.sources.http.client import HttpClient, HttpLimits
from prowess.errors import DistributionError, LimitExceededError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_LIMITS = HttpLimits(connect=5.0, idle=15.0, total=120.0)
PRESENT = "metadata/timestamp.json"


class DeploymentSource(Protocol):
    """Where a host reads releases. `shown` is its name in messages."""

    shown: str

    @property
    def contacted(self) -> tuple[str, ...]:
        """The servers that were contacted so far."""
        ...

    def read(self, path: str, most: int) -> bytes | None:
        """Return the file at a path below the repository, with at most `most` bytes; None if there is none.

        Raises:
            UnavailableError: the source cannot be reached.
            DistributionError, LimitExceededError, UnsafePathError: the file cannot be used.
        """
        ...

    def close(self) -> None:
        """End connections."""
        ...


class DirectoryDeployment:
    """A deployment repository in a directory. Links in it are not followed."""

    contacted: tuple[str, ...] = ()

    def __init__(self, directory: str) -> None:
        self.shown = os.path.abspath(directory)

    def read(self, path: str, most: int) -> bytes | None:
        """See `DeploymentSource`."""
        try:
            with ContainedRoot(self.shown) as root, root.open(path) as opened:
                data = opened.read(most + 1)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise UnavailableError(os.path.join(self.shown, path), None, fault.strerror) from fault
        if len(data) > most:
            raise LimitExceededError(f"bytes in {os.path.join(self.shown, path)}", most, None)
        return data

    def close(self) -> None:
        """See `DeploymentSource`."""


class HttpDeployment:
    """A deployment repository behind a web server. Raises UnsafePathError if the URL must not be contacted."""

    def __init__(self, url: str, allowed_hosts: Collection[str] = ()) -> None:
        address_of(url)
        self.shown = url.rstrip("/")
        self._client = HttpClient(allowed_hosts=allowed_hosts, limits=_LIMITS)

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `DeploymentSource`."""
        return self._client.contacted

    def read(self, path: str, most: int) -> bytes | None:
        """See `DeploymentSource`."""
        answer = self._client.get(f"{self.shown}/{path}", most=most)
        return None if answer.is_missing else answer.require_success("reading a deployment")

    def close(self) -> None:
        """See `DeploymentSource`."""
        self._client.close()


def open_origin(source: str, allowed_hosts: Collection[str] = ()) -> DeploymentSource:
    """Return the repository at a URL or in a directory."""
    return HttpDeployment(source, allowed_hosts) if "://" in source else DirectoryDeployment(source)


class SourceFetcher:
    """The part of `tuf.ngclient.FetcherInterface` that its client uses. URLs are paths below the repository."""

    def __init__(self, origin: DeploymentSource) -> None:
        self._origin = origin

    def download_bytes(self, url: str, max_length: int) -> bytes:
        """Return a file. Raises `DownloadHTTPError` with status 404 if there is none, else as the source."""
        from tuf.api.exceptions import DownloadHTTPError  # of the extra

        path = unquote(url)
        if (data := self._origin.read(path, max_length)) is not None:
            return data
        if path == PRESENT:
            raise UnavailableError(self._origin.shown, None, "no release is published there", "check the path or URL")
        if path.endswith(".root.json"):  # the client looks for a newer root than there is
            raise DownloadHTTPError(f"there is no {path}", 404)
        raise DistributionError(f"{self._origin.shown} has no {path}, which its signed metadata names")

    @contextmanager
    def download_file(self, url: str, max_length: int) -> Iterator[IO[bytes]]:
        """Yield a file; see `download_bytes`."""
        yield io.BytesIO(self.download_bytes(url, max_length))
