"""A client for one repository of a container registry. Every manifest and blob is checked by its digest.

Registries are contacted by https, and by http if they are on this machine.

Source: OCI distribution specification 1.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from prowess._internal.text.canonical_json import is_digest, sha256_of
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess._internal.text.url_host import host_of_url
from prowess.distribution.sources.http.addresses import address_of, is_loopback, joined_url
from prowess.distribution.sources.http.credentials import variable_of
from prowess.distribution.sources.oci.authentication import authorization
from prowess.distribution.sources.oci.manifest import (
    INDEX_TYPE,
    MANIFEST_TYPES,
    MAX_MANIFEST,
    Manifest,
    parse_manifest,
)
from prowess.errors import DistributionError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.distribution.sources.http.client import HttpClient, HttpResponse
    from prowess.distribution.sources.oci.manifest import Descriptor

_HUB = "docker.io"
_MAX_TAGS = 10_000
_PAGES = 100
_MOST_HEADER = 8192  # characters of a header that are searched
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?')


class Repository:
    """One repository: `registry/path`. Requests are authorised if the registry demands it."""

    def __init__(self, location: str, client: HttpClient) -> None:
        registry, _, self._path = location.partition("/")
        host = "registry-1.docker.io" if registry == _HUB else registry
        scheme = "http" if is_loopback(host_of_url(f"https://{host}/") or "") else "https"
        self._base = f"{scheme}://{host}"
        self._client = client
        self._at = address_of(self._base)
        self._authorization: str | None = None
        self.shown = f"oci://{location}"

    def tags(self) -> list[str]:
        """Return the tags; empty if the repository does not exist.

        Raises:
            DistributionError: the registry refuses, or lists more than 10 000.
        """
        found: list[str] = []
        url: str | None = f"{self._base}/v2/{self._path}/tags/list?n=1000"
        for _ in range(_PAGES):
            answer = self._send("GET", url or "", most=MAX_MANIFEST)
            if answer.is_missing:
                return []
            found += _names(answer.require_success(self.shown), self.shown)
            url = self._next(answer)
            if url is None and len(found) <= _MAX_TAGS:
                return found
            if len(found) > _MAX_TAGS:
                break
        raise DistributionError(f"{self.shown} has more than {_MAX_TAGS} tags")

    def manifest(self, reference: str) -> tuple[bytes, str] | None:
        """Return a manifest's bytes and digest by tag or digest, or None if there is none.

        Raises:
            IntegrityError: the bytes do not have the digest that was asked for.
            DistributionError: the registry refuses.
        """
        url = f"{self._base}/v2/{self._path}/manifests/{quote(reference, safe=':')}"
        answer = self._send("GET", url, most=MAX_MANIFEST, headers={"accept": ", ".join(MANIFEST_TYPES)})
        if answer.is_missing:
            return None
        data = answer.require_success(self.shown)
        stated = answer.headers.get("docker-content-digest", "")
        digest = sha256_of(data)
        for expected in (reference, stated):
            if is_digest(expected) and expected != digest:
                raise IntegrityError(f"the manifest {reference} of {self.shown}", expected, digest)
        return data, digest

    def blob(self, descriptor: Descriptor) -> bytes:
        """Return the bytes of a blob.

        Raises:
            IntegrityError: they do not have the descriptor's size and digest.
            DistributionError: the registry refuses, or has no such blob.
        """
        url = f"{self._base}/v2/{self._path}/blobs/{descriptor.digest}"
        data = self._send("GET", url, most=descriptor.size).require_success(self.shown)
        check_blob(data, descriptor, self.shown)
        return data

    def referrers(self, digest: str) -> tuple[Descriptor, ...]:
        """Return the manifests that refer to a manifest, for example its signatures.

        A registry without this part of the specification has them under the tag `sha256-<64 hex>`.

        Raises:
            UnavailableError: the registry asks to try again later; there may be signatures.
            DistributionError: the registry refuses, or the list cannot be read.
        """
        answer = self._send("GET", f"{self._base}/v2/{self._path}/referrers/{digest}", most=MAX_MANIFEST)
        if answer.is_success and answer.headers.get("content-type", "").startswith(INDEX_TYPE):
            return self._parsed(answer.body, digest).manifests
        if answer.must_wait:
            answer.require_success(self.shown)
        tagged = self.manifest(digest.replace(":", "-"))
        return () if tagged is None else self._parsed(tagged[0], digest).manifests

    def push_blob(self, data: bytes, digest: str) -> None:
        """Upload a blob that the repository does not have yet. Raises DistributionError if the registry refuses."""
        if self._send("HEAD", f"{self._base}/v2/{self._path}/blobs/{digest}", most=0).is_success:
            return
        begun = self._send("POST", f"{self._base}/v2/{self._path}/blobs/uploads/", most=MAX_MANIFEST, content=b"")
        begun.require_success(self.shown)
        url = joined_url(begun.url, begun.headers.get("location", ""))
        if not self._at.is_same_server(at := address_of(url)):
            self._client.require_allowed(at, f"{self._at.shown} sends uploads to {at.shown}")
        url = f"{url}{'&' if '?' in url else '?'}{urlencode({'digest': digest})}"
        headers = {"content-type": "application/octet-stream"}
        self._send("PUT", url, most=MAX_MANIFEST, headers=headers, content=data).require_success(self.shown)

    def push_manifest(self, data: bytes, media_type: str, reference: str) -> None:
        """Upload a manifest under a tag or its digest. Raises DistributionError if the registry refuses."""
        url = f"{self._base}/v2/{self._path}/manifests/{quote(reference, safe=':')}"
        headers = {"content-type": media_type}
        self._send("PUT", url, most=MAX_MANIFEST, headers=headers, content=data).require_success(self.shown)

    def _parsed(self, data: bytes, digest: str) -> Manifest:
        return parse_manifest(data, f"the list of referrers of {digest} in {self.shown}")

    def _next(self, answer: HttpResponse) -> str | None:
        following = _NEXT.search(answer.headers.get("link", "")[:_MOST_HEADER])
        if following is None:
            return None
        url: str = joined_url(answer.url, following[1])
        if not self._at.is_same_server(address_of(url)):
            raise DistributionError(f"{self.shown}: the list of tags continues on another server, which is refused")
        return url

    def _send(
        self,
        method: str,
        url: str,
        *,
        most: int,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> HttpResponse:
        for attempt in range(2):
            known = {} if self._authorization is None else {"authorization": self._authorization}
            answer = self._client.request(
                method, url, most=max(most, _ERROR), headers={**(headers or {}), **known}, content=content
            )
            if answer.status not in {401, 403}:
                return answer
            challenge = answer.headers.get("www-authenticate", "")[:_MOST_HEADER]
            if attempt or not challenge:
                break
            self._authorization = authorization(challenge, self._at, self._client)
            if self._authorization is None:
                break
        if self._authorization is not None:
            raise DistributionError(f"{self._at.shown} refused the login for {self.shown} (status {answer.status})")
        advice = f"run `docker login {self._at.shown}` or set PROWESS_LOGIN_{variable_of(self._at)}"
        raise DistributionError(f"{self._at.shown} demands a login for {self.shown}; {advice}")


_ERROR = 64 * 1024  # bytes of an error message, which may be longer than the blob that was asked for


def check_blob(data: bytes, descriptor: Descriptor, what: str) -> None:
    """Raise IntegrityError if the bytes do not have the descriptor's size and digest."""
    digest = sha256_of(data)
    if digest != descriptor.digest or len(data) != descriptor.size:
        raise IntegrityError(f"a blob of {what}", descriptor.digest, digest)


def _names(data: bytes, what: str) -> Iterator[str]:
    try:
        found = strict_json(data, what)
    except StrictJsonError as fault:
        raise DistributionError(f"{what}: the list of tags cannot be read: {fault}") from None
    listed = found.get("tags") if isinstance(found, dict) else None
    yield from (tag for tag in listed or () if isinstance(tag, str)) if isinstance(listed, list) else ()
