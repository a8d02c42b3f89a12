"""The server of an organisation as its machines see it: the bundle, deployed skills, and the records that it takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import DecodeError
from msgspec.json import decode, encode

from prowess.distribution.sources.http.client import MAX_DOCUMENT, HttpClient, HttpLimits
from prowess.errors import DistributionError
from prowess.governance.machine.bundle import MAX_BUNDLE_BYTES, OF_TENANT
from prowess.governance.machine.reports import Collected

if TYPE_CHECKING:
    from prowess.distribution.sources.http.client import HttpResponse
    from prowess.governance.machine.reports import SentRecords

TOKEN_FILE = "/etc/prowess/machine.token"  # noqa: S105 -- its path, not its content
KEY_HEADER = "prowess-key"
_LIMITS = HttpLimits(connect=5.0, idle=10.0, total=60.0)
_UNCHANGED = 304


class MachineClient:
    """The server of an organisation as its machines see it. `token` is one of the role `machine`."""

    def __init__(self, url: str, token: str = "", *, limits: HttpLimits = _LIMITS) -> None:
        self.shown = url.rstrip("/")
        self.token = token
        self._client = HttpClient(limits=limits)

    def fetch(self, version: int | None = None) -> tuple[bytes | None, str | None]:
        """Return the bundle, and the key that the server states; None as bundle if it still has `version`.

        Raises:
            UnavailableError: the server cannot be reached.
            DistributionError, LimitExceededError, UnsafePathError: its answer cannot be used.
        """
        headers = {"authorization": f"Bearer {self.token}"}
        if version is not None:
            headers["if-none-match"] = f'"{version}"'
        answer = self._client.get(f"{self.shown}/api/v1/bundle", most=MAX_BUNDLE_BYTES, headers=headers)
        if answer.status in (401, 403):
            reason = "the server refused the token; make one of the role machine, and enroll this machine again"
            raise DistributionError(f"{self.shown}: {reason}")
        if answer.status == _UNCHANGED and version is not None:
            return None, None
        return answer.require_success("fetching the bundle of this machine"), answer.headers.get(KEY_HEADER)

    def send(self, sent: SentRecords) -> Collected:
        """Send records and a report; return what the organisation has from this machine. It may be sent again.

        Raises:
            UnavailableError: the server cannot be reached, or cannot record now.
            DistributionError, LimitExceededError, UnsafePathError: it refuses them, or its answer cannot be used.
        """
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        url = f"{self.shown}/api/v1/audit/records"
        answer = self._client.request("POST", url, most=MAX_DOCUMENT, headers=headers, content=encode(sent))
        if answer.status in (401, 403):
            raise DistributionError(f"{self.shown}: the server refused the records of this machine: {_told(answer)}")
        try:
            return decode(answer.require_success("sending records of this machine"), type=Collected)
        except DecodeError as fault:
            raise DistributionError(f"{self.shown}: its answer cannot be used: {fault}") from None

    def read(self, path: str, most: int) -> bytes | None:
        """Return a file of the tenant's deployment (`DeploymentSource`): `GET /api/v1/bundle?file=PATH`."""
        headers = {"authorization": f"Bearer {self.token}"}
        answer = self._client.get(f"{self.shown}/api/v1/bundle?file={quote(path)}", most=most, headers=headers)
        return None if answer.is_missing else answer.require_success("reading the deployed skills")

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `DeploymentSource`."""
        return self._client.contacted

    def close(self) -> None:
        """End connections."""
        self._client.close()


class TenantDeployment:
    """The deployment of the machine's tenant, beside the one of the organisation (`DeploymentSource`)."""

    def __init__(self, client: MachineClient) -> None:
        self._client, self.shown = client, f"{client.shown} (of the tenant)"

    def read(self, path: str, most: int) -> bytes | None:
        """See `DeploymentSource`."""
        return self._client.read(f"{OF_TENANT}{path}", most)

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `DeploymentSource`."""
        return self._client.contacted

    def close(self) -> None:
        """See `DeploymentSource`; the client is closed by its owner."""


def _told(answer: HttpResponse) -> str:
    """Return the message of an error, else advice."""
    try:
        return str(json.loads(answer.body)["error"]["message"])[:500]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "make a token of the role machine, and enroll this machine again"


def machine_token() -> str:
    """Return the token of this machine. It is read anew for each use, so that it can be replaced.

    Raises:
        DistributionError: the file holds no token.
        OSError: it cannot be read.
    """
    with open(TOKEN_FILE, "rb") as file:
        text = file.read(4096).decode("ascii", "replace").strip()
    if not text.isprintable() or not text.isascii() or " " in text or not text:
        raise DistributionError(f"{TOKEN_FILE} holds no token; enroll this machine again")
    return text
