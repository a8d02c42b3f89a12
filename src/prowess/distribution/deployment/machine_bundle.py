"""Keeps the bundle of an enrolled machine up to date: asks the server, verifies, and remembers why it could not."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from prowess._internal.files.atomic_write import write_atomically
from prowess.distribution.deployment.host import DeploymentHost
from prowess.distribution.sources.http.client import HttpClient, HttpLimits
from prowess.errors import DistributionError, SkillError
from prowess.governance.machine.bundle import MAX_BUNDLE_BYTES, RELEASE_ROOT
from prowess.governance.machine.kept_bundle import KeptBundle
from prowess.signing.signed_note import read_note_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess._internal.files.enrolment import Enrolment
    from prowess.governance.machine.bundle import Bundle

TOKEN_FILE = "/etc/prowess/machine.token"  # noqa: S105 -- its path, not its content
KEY_HEADER = "prowess-key"
FAULT_FILE = "fault"
_LIMITS = HttpLimits(connect=5.0, idle=10.0, total=60.0)
_UNCHANGED = 304
_SYNC_SECONDS = 600.0  # so that a release is verified anew before its date is too old
_READABLE = 0o644


class BundleServer:
    """The server of an organisation as its machines see it. `token` is one of the role `machine`."""

    def __init__(self, url: str, token: str = "") -> None:
        self.shown = url.rstrip("/")
        self.token = token
        self._client = HttpClient(limits=_LIMITS)

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


class BundleKeeper:
    """Asks the server every `seconds`, in a thread, and at once when it begins.

    `tell` gets a sentence for each new version and each new fault. Nothing that is wrong with the token, the key or the
    server ends the thread, or keeps the machine's service from taking records.
    """

    def __init__(self, enrolled: Enrolment, state: str, seconds: float, tell: Callable[[str], None]) -> None:
        self._fault_path = os.path.join(state, FAULT_FILE)
        self._enrolled, self._state = enrolled, state
        self._server = BundleServer(enrolled.url)
        self._tell, self._seconds, self._ended = tell, seconds, threading.Event()
        self._fault: str | None = ""  # unknown
        self._host = DeploymentHost(state)
        self._synced: int | None = None  # the version of the bundle whose release is here
        self._sync_again = 0.0
        self._thread = threading.Thread(target=self._run, name="prowess-bundle", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, after a look that has begun."""
        self._ended.set()
        self._thread.join(_LIMITS.total)
        self._server.close()

    def _run(self) -> None:
        self._look()
        while not self._ended.wait(self._seconds):
            self._look()

    def _look(self) -> None:
        try:
            self._server.token = _token()
            kept = KeptBundle(self._state, read_note_key(self._enrolled.key), self._enrolled.tenant)
            known = kept.present()
            data, _ = self._server.fetch(None if known is None else known.version)
            if data is not None:
                known, is_new = kept.take(data)
                if is_new:
                    self._tell(f"version {known.version} of the bundle holds")
            kept.confirm()
            if known is not None:
                self._sync(known)
        except (SkillError, OSError) as fault:
            self._remember(str(fault))
        else:
            self._remember(None)

    def _sync(self, bundle: Bundle) -> None:
        """Bring the deployed skills to the release of this bundle. Raises DistributionError if that failed."""
        root, now = bundle.files.get(RELEASE_ROOT), time.monotonic()
        if root is None or (self._synced == bundle.version and now < self._sync_again):
            return
        report = self._host.sync(self._server, root.encode(), thorough=self._synced is None)
        if report.state != "current":
            raise DistributionError(f"the deployed skills are {report.state}: {report.reason}")
        self._synced, self._sync_again = bundle.version, now + _SYNC_SECONDS

    def _remember(self, fault: str | None) -> None:
        """Keep the reason for `machine status`. A service without disk space goes on asking."""
        if fault == self._fault:
            return
        self._fault = fault
        if fault is not None:
            self._tell(fault)
        with suppress(OSError):
            if fault is None:
                with suppress(FileNotFoundError):
                    os.unlink(self._fault_path)
            else:
                write_atomically(self._fault_path, fault.encode(), _READABLE, sync=False)


def _token() -> str:
    """Return the token of this machine. It is read anew for each look, so that it can be replaced."""
    with open(TOKEN_FILE, "rb") as file:
        text = file.read(4096).decode("ascii", "replace").strip()
    if not text.isprintable() or not text.isascii() or " " in text or not text:
        raise DistributionError(f"{TOKEN_FILE} holds no token; enroll this machine again")
    return text
