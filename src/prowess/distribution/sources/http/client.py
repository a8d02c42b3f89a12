"""The HTTP client: bounded, without hidden redirects, and with a list of the servers that it contacted.

An answer is bounded in size and in time, so that a server that sends without end is left. Bytes are kept as they were
sent and never decompressed, so a digest holds for them. A redirect is followed on the same server, and to another one
only if the caller allowed its host. Cookies are dropped. Proxies are those of the environment (`HTTPS_PROXY`), except
for this machine. Messages name the URL without query and never a header.
"""

from __future__ import annotations

import os
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution.sources.http.addresses import address_of, joined_url, without_credentials
from prowess.distribution.sources.http.credentials import Credentials
from prowess.distribution.sources.http.deadline import Deadline, DeadlineBackend
from prowess.errors import DistributionError, LimitExceededError, MissingExtraError, UnavailableError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Collection, Iterator, Mapping
    from contextlib import AbstractContextManager

    from httpx2 import Client, Response

    from prowess.distribution.sources.http.addresses import Address

_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 5
_RETRY_LATER = {408, 425, 429, 500, 502, 503, 504}
_AGENT = "prowess"
MAX_DOCUMENT = 16 * 1024 * 1024  # bytes of an index or another JSON document


class HttpLimits(Struct, frozen=True, kw_only=True):
    """Seconds that a request may take: to connect, between two parts of the answer, and in all."""

    connect: float = 10.0
    idle: float = 30.0
    total: float = 300.0


class HttpResponse(Struct, frozen=True, kw_only=True):
    """A complete answer. `url` is where redirects ended; the names of `headers` are in lower case."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return self.status // 100 == 2  # noqa: PLR2004 -- as in the definition of HTTP

    @property
    def is_missing(self) -> bool:
        """Whether the server has nothing at this URL (404 or 410)."""
        return self.status in {404, 410}

    @property
    def must_wait(self) -> bool:
        """Whether the server asks to try again later."""
        return self.status in _RETRY_LATER

    def require_success(self, what: str) -> bytes:
        """Return the body of a successful answer.

        Raises:
            UnavailableError: the server asks to try again later.
            DistributionError: any other status.
        """
        if self.is_success:
            return self.body
        where = without_credentials(self.url)
        if self.must_wait:
            raise UnavailableError(where, _seconds(self.headers.get("retry-after")), f"status {self.status}")
        match self.status:
            case 401 | 403:
                reason = f"{where} refused access (status {self.status}); put credentials for this host into ~/.netrc"
            case 404 | 410:
                reason = f"{where} does not exist"
            case _:
                reason = f"{where} answered with status {self.status}"
        raise DistributionError(f"{what}: {reason}")


class _Request(Struct, frozen=True, kw_only=True):
    """One request. `most` is the largest answer in bytes. A successful answer is written into `file`, if given."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None
    most: int
    file: BinaryIO | None = None


class HttpClient:
    """Fetches over HTTP; a context manager."""

    def __init__(
        self,
        *,
        credentials: Credentials | None = None,
        allowed_hosts: Collection[str] = (),
        limits: HttpLimits | None = None,
    ) -> None:
        self.credentials = credentials or Credentials()
        self._allowed = frozenset(allowed_hosts)
        self._limits = limits or HttpLimits()
        self._contacted = set[str]()
        self._clients: dict[str | None, Client] = {}
        self._deadline = Deadline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. A later request opens new ones."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    @property
    def contacted(self) -> tuple[str, ...]:
        """Each contacted server as `host` or `host:port`, sorted, proxies included."""
        return tuple(sorted(self._contacted))

    def get(self, url: str, *, most: int, headers: Mapping[str, str] | None = None) -> HttpResponse:
        """Fetch one URL with at most `most` bytes; see `request`."""
        return self.request("GET", url, most=most, headers=headers)

    def request(
        self,
        method: str,
        url: str,
        *,
        most: int,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        follows: bool = True,
    ) -> HttpResponse:
        """Send one request and read the whole answer, whatever its status is.

        A header `Authorization` of the caller takes the place of the credentials for this host, and is not sent on
        after a redirect to another server. If it is empty, none is sent. With `follows=False` a redirect is returned.

        Raises:
            UnsafePathError: the URL, or one that it redirects to, must not be contacted.
            DistributionError: it redirects to a host that the caller did not allow, or too often.
            LimitExceededError: the answer is too large or takes too long.
            UnavailableError: the server cannot be reached.
        """
        sent = {"user-agent": _AGENT, "accept-encoding": "identity", "accept": "*/*"}
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        self._deadline.set(self._limits.total)
        sending = _Request(method=method, url=url, headers=sent, content=content, most=most)
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._send(sending)
            target = answer.headers.get("location")
            if answer.status not in _REDIRECTS or target is None or not follows:
                return answer
            sending = self._redirected(sending, target, see_other=answer.status == HTTPStatus.SEE_OTHER)
        raise DistributionError(f"{without_credentials(url)}: more than {_MOST_REDIRECTS} redirects")

    def save(self, url: str, file: BinaryIO, *, most: int, headers: Mapping[str, str]) -> HttpResponse:
        """Send a request `GET` and write its answer, if it is successful, into a file, in parts.

        A redirect is returned, not followed. Return the answer without a body, or with that of an error. Raises as
        `request`, and OSError.
        """
        sent = {"user-agent": _AGENT, "accept-encoding": "identity"}
        sent |= {name.lower(): value for name, value in headers.items()}
        self._deadline.set(self._limits.total)
        return self._send(_Request(method="GET", url=url, headers=sent, content=None, most=most, file=file))

    def _redirected(self, sending: _Request, target: str, *, see_other: bool) -> _Request:
        url = joined_url(sending.url, target)
        before, at = address_of(sending.url), address_of(url)
        headers = dict(sending.headers)
        if not before.is_same_server(at):
            self.require_allowed(at, f"{before.shown} redirects to {without_credentials(url)}")
            headers.pop("authorization", None)
        if before.scheme == "https" and at.scheme == "http":
            raise DistributionError(f"{before.shown} redirects from https to http, which is refused")
        if see_other:
            return replace(sending, method="GET", url=url, headers=headers, content=None)
        return replace(sending, url=url, headers=headers)

    def require_allowed(self, at: Address, why: str) -> None:
        """Raise DistributionError if the caller did not allow this host; `why` is the first half of the sentence."""
        if at.host not in self._allowed and at.shown not in self._allowed:
            raise DistributionError(
                f"{why}, another host, which is refused; if you trust it, allow it with --allow-host {at.shown}"
            )

    def _send(self, sending: _Request) -> HttpResponse:
        httpx2 = _library()
        where = without_credentials(sending.url)
        try:
            with self._stream(sending) as answer:
                body = b"" if sending.method == "HEAD" else self._body(answer, sending)
                return HttpResponse(
                    url=sending.url,
                    status=answer.status_code,
                    headers={name.lower(): value for name, value in answer.headers.items()},
                    body=body,
                )
        except (TimeoutError, httpx2.TimeoutException) as fault:
            if self._deadline.has_passed:
                limit = self._limits.total
                raise LimitExceededError(f"seconds for {where}", limit, None, "it sends too slowly") from None
            raise UnavailableError(where, None, "no answer in time") from fault
        except httpx2.ProxyError as fault:
            raise UnavailableError(where, None, "the proxy refused the connection") from fault
        except (httpx2.TransportError, httpx2.InvalidURL) as fault:
            raise UnavailableError(where, None, _reason(fault)) from fault

    def _stream(self, sending: _Request) -> AbstractContextManager[Response]:
        at, headers = address_of(sending.url), dict(sending.headers)
        if "authorization" not in headers and (known := self.credentials.for_server(at)) is not None:
            headers["authorization"] = known
        if not headers.get("authorization"):
            headers.pop("authorization", None)
        proxy = None if at.is_loopback else _proxy_for(at)
        for server in (at.shown, *(() if proxy is None else (_proxy_host(proxy),))):
            self._contacted.add(server)
        client = self._clients.get(proxy)
        if client is None:
            httpx2 = _library()
            timeout = httpx2.Timeout(self._limits.idle, connect=self._limits.connect)
            # The environment is read for certificates alone (SSL_CERT_FILE); the proxy was chosen above.
            certificates = _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
            transport = httpx2.HTTPTransport(proxy=proxy, verify=certificates)
            pool = transport._pool  # noqa: SLF001 -- httpx2 has no other way to bound the time of the head of an answer
            pool._network_backend = DeadlineBackend(pool._network_backend, self._deadline)  # noqa: SLF001 -- as above
            client = self._clients[proxy] = httpx2.Client(transport=transport, timeout=timeout)
        client.cookies.clear()
        return client.stream(sending.method, sending.url, headers=headers, content=sending.content)

    def _body(self, answer: Response, sending: _Request) -> bytes:
        if sending.file is None:
            return b"".join(self._parts(answer, sending))
        if not answer.is_success:
            return b"".join(self._parts(answer, replace(sending, most=min(sending.most, MAX_DOCUMENT))))
        for part in self._parts(answer, sending):
            sending.file.write(part)
        return b""

    def _parts(self, answer: Response, sending: _Request) -> Iterator[bytes]:
        size, where = 0, without_credentials(sending.url)
        for part in answer.iter_raw():
            size += len(part)
            if size > sending.most:
                raise LimitExceededError(f"bytes sent by {where}", sending.most, None)
            yield part


@cache
def _certificates(file: str | None, directory: str | None) -> ssl.SSLContext:
    """Return what checks certificates; reading those of the system takes 20 ms, and each source has a client."""
    del file, directory  # httpx2 reads the environment
    context: ssl.SSLContext = _library().create_ssl_context()
    return context


def _library() -> Any:  # noqa: ANN401 -- a module
    try:
        import httpx2  # Imported here because it takes longer to import than all of Prowess.
    except ImportError as fault:
        raise MissingExtraError("fetching over HTTP", "install", str(fault)) from fault
    return httpx2


def _proxy_for(at: Address) -> str | None:
    # Imported here because requests to this machine use no proxy.
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    chosen = proxies.get(at.scheme) or proxies.get("all")
    if not chosen or proxy_bypass(f"{at.host}:{at.port}"):
        return None
    return chosen if "://" in chosen else f"http://{chosen}"


def _proxy_host(proxy: str) -> str:
    return without_credentials(proxy).partition("://")[2].partition("/")[0]


def _reason(fault: Exception) -> str:
    """Return the system's reason for a failed connection. Texts of the library are left out: they may hold a URL."""
    below: BaseException | None = fault
    while below is not None:
        if isinstance(below, OSError) and below.strerror:
            return below.strerror
        below = below.__cause__ or below.__context__
    return type(fault).__name__


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
