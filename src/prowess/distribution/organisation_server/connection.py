"""Requests to the server of an organisation: with a token, to this server alone, and with its errors as errors here.

No redirect is followed, because the token would be sent on. No message holds the token.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.distribution.sources.http.addresses import address_of
from prowess.distribution.sources.http.client import MAX_DOCUMENT, HttpClient, HttpLimits
from prowess.errors import DistributionError, ServerAnswerError, SkillError, UnavailableError

if TYPE_CHECKING:
    from prowess.distribution.sources.http.client import HttpResponse

_VERSION = "/api/v1"
_LIMITS = HttpLimits(connect=5.0, idle=300.0, total=3600.0)  # a replay or an export of a large log takes long
_MOST_MESSAGE = 2000
_MOST_EXPORT = 1 << 40
_T = TypeVar("_T")


class _Error(Struct):
    code: str
    message: str
    suggestions: tuple[str, ...] = ()


class _ErrorDocument(Struct):
    error: _Error


class ServerConnection:
    """Sends requests of one user, about one tenant. `tenant` is for tokens of the organisation, which see every tenant.

    Raises:
        UnsafePathError: the URL is not https, or http on this machine.
    """

    def __init__(self, url: str, token: str, tenant: str | None = None) -> None:
        self.shown = url.rstrip("/")
        address_of(self.shown)
        self._token, self.tenant = token, tenant
        self._client = HttpClient(limits=_LIMITS)

    def close(self) -> None:
        """End connections."""
        self._client.close()

    def get(self, kind: type[_T], *path: str, query: Struct | None = None) -> _T:
        """Return the answer of `GET`, decoded. The parts of `path` are escaped.

        Raises:
            UnavailableError: the server cannot be reached.
            ServerAnswerError: the server refused the request.
            DistributionError, LimitExceededError: its answer cannot be used.
        """
        return self._decoded(kind, self._answer("GET", path, query))

    def send(self, kind: type[_T], method: str, *path: str, body: object = None, query: Struct | None = None) -> _T:
        """Return the answer of a request with a body in JSON, decoded. Raises as `get`."""
        return self._decoded(kind, self._answer(method, path, query, msgspec.json.encode(body)))

    def upload(self, kind: type[_T], data: bytes, *path: str, query: Struct | None = None) -> _T:
        """Return the answer of a POST with a file, decoded. Raises as `get`."""
        return self._decoded(kind, self._answer("POST", path, query, data, "application/octet-stream"))

    def delete(self, kind: type[_T], *path: str, query: Struct | None = None) -> _T:
        """Return the answer of `DELETE`, decoded; None if it has no body. Raises as `get`."""
        return self._decoded(kind, self._answer("DELETE", path, query))

    def save(self, file: BinaryIO, *path: str, query: Struct | None = None) -> None:
        """Write the answer of `GET` into a file, in parts. Raises as `get`, and OSError."""
        answer = self._client.save(self._url(path, query), file, most=_MOST_EXPORT, headers=self._headers())
        self._require_success(answer)

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}", "accept": "application/json"}

    def _url(self, path: tuple[str, ...], query: Struct | None) -> str:
        pairs = [] if query is None else list(_pairs(query))
        if self.tenant is not None:
            pairs.append(("tenant", self.tenant))
        whole = "/".join(quote(part, safe="") for part in path)
        return f"{self.shown}{_VERSION}/{whole}{'?' if pairs else ''}{urlencode(pairs)}"

    def _answer(
        self,
        method: str,
        path: tuple[str, ...],
        query: Struct | None,
        content: bytes | None = None,
        media: str = "application/json",
    ) -> HttpResponse:
        headers = self._headers()
        if content is not None:
            headers["content-type"] = media
        answer = self._client.request(
            method,
            self._url(path, query),
            most=MAX_DOCUMENT,
            headers=headers,
            content=content,
            follows=False,
        )
        self._require_success(answer)
        return answer

    def _require_success(self, answer: HttpResponse) -> None:
        if answer.is_success:
            return
        if answer.headers.get("location") is not None:
            reason = f"it redirects to {printable_line(answer.headers['location'])[:200]}"
            raise DistributionError(
                f"{self.shown}: {reason}, and the token is not sent there; give that URL to --server"
            )
        try:
            found = msgspec.json.decode(answer.body, type=_ErrorDocument).error
        except msgspec.DecodeError:
            raise self._unknown(answer.status) from None
        message = printable_line(found.message)[:_MOST_MESSAGE]
        if answer.status == HTTPStatus.UNAUTHORIZED:
            advice = "give a token of this server by --token-file or PROWESS_SERVER_TOKEN; "
            message = f"{self.shown} refused the token; {advice}`prowess admin token add` makes one"
        raise ServerAnswerError(answer.status, found.code, message, tuple(map(printable_line, found.suggestions)))

    def _unknown(self, status: int) -> SkillError:
        if status in {502, 503, 504}:
            return UnavailableError(self.shown, None, f"status {status}")
        return DistributionError(f"{self.shown} answered with status {status}; is it the server of an organisation?")

    def _decoded(self, kind: type[_T], answer: HttpResponse) -> _T:
        if not answer.body:
            return msgspec.convert(None, kind)
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as fault:
            raise DistributionError(
                f"the answer of {self.shown} cannot be read ({fault}); is it of another version of Prowess?"
            ) from None


def _pairs(query: Struct) -> list[tuple[str, str]]:
    values: dict[str, Any] = msgspec.to_builtins(query)
    several = {name: value if isinstance(value, (list, tuple)) else (value,) for name, value in values.items()}
    return [(name, _word(one)) for name, those in several.items() for one in those if one is not None]


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
