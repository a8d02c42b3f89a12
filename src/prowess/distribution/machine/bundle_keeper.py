"""Keeps the bundle of an enrolled machine up to date: asks the server, verifies, and remembers why it could not."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from prowess._internal.places import TENANT_FOLDER
from prowess.distribution.deployment.host import DeploymentHost
from prowess.distribution.deployment.permitted import SCOPE
from prowess.distribution.machine.client import MachineClient, TenantDeployment, machine_token
from prowess.distribution.permission.facts import CallRules
from prowess.distribution.permission.permission import Permission
from prowess.errors import DistributionError, SkillError
from prowess.governance.machine.bundle import RELEASE_ROOT, TENANT_RELEASE_ROOT
from prowess.governance.machine.kept_bundle import KeptBundle
from prowess.signing.signed_note import read_note_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess._internal.files.enrolment import Enrolment
    from prowess.audit.record import AuditLog
    from prowess.distribution.deployment.origin import DeploymentSource
    from prowess.distribution.machine.faults import MachineFaults
    from prowess.governance.machine.bundle import Bundle

_MOST_WAIT = 60.0  # seconds
_SYNC_SECONDS = 600.0  # so that a release is verified anew before its date is too old


class BundleKeeper:
    """Asks the server every `seconds`, in a thread, and at once when it begins.

    `tell` gets a sentence for each new version, `faults` each fault, and `changed` is called after each. Nothing that
    is wrong with the token, the key or the server ends the thread, or keeps the machine's service from taking records.
    `version` is that of the bundle that holds, `release` that of the organisation's deployed skills, and `fault` why
    the last look failed; each may be None. Changes of deployed skills are recorded in `audit`.
    """

    def __init__(
        self,
        enrolled: Enrolment,
        state: str,
        *,
        seconds: float,
        tell: Callable[[str], None],
        faults: MachineFaults,
        audit: AuditLog,
    ) -> None:
        self._enrolled, self._state = enrolled, state
        self._server = MachineClient(enrolled.url)
        self._tell, self._faults = tell, faults
        self._seconds, self._ended = seconds, threading.Event()
        self._rules = CallRules(audit=audit)
        self.changed: Callable[[], None] = lambda: None
        self.fault: str | None = None
        self.version: int | None = None
        self._hosts: dict[str, tuple[DeploymentHost, DeploymentSource]] = {
            RELEASE_ROOT: (DeploymentHost(state, enrolled.environment), self._server),
            TENANT_RELEASE_ROOT: (
                DeploymentHost(os.path.join(state, TENANT_FOLDER), enrolled.environment),
                TenantDeployment(self._server),
            ),
        }
        self._synced: int | None = None  # the version of the bundle whose releases are here
        self._sync_again = 0.0
        self._thread = threading.Thread(target=self._run, name="prowess-bundle", daemon=True)

    @property
    def release(self) -> int | None:
        """The release of the organisation's deployed skills on this machine."""
        return self._release_of(RELEASE_ROOT)

    @property
    def tenant_release(self) -> int | None:
        """The release of the tenant's own deployed skills on this machine."""
        return self._release_of(TENANT_RELEASE_ROOT)

    def _release_of(self, file: str) -> int | None:
        state = self._hosts[file][0].state()
        return None if state is None else state.release

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def close(self) -> None:
        """End the thread, after a look that has begun."""
        self._ended.set()
        self._thread.join(_MOST_WAIT)
        self._server.close()

    def _run(self) -> None:
        self._look()
        while not self._ended.wait(self._seconds):
            self._look()

    def _look(self) -> None:
        before = self.version, self.fault
        try:
            self._server.token = machine_token()
            kept = KeptBundle(self._state, read_note_key(self._enrolled.key), self._enrolled.tenant)
            known = kept.present()
            data, _ = self._server.fetch(None if known is None else known.version)
            if data is not None:
                known, is_new = kept.take(data)
                if is_new:
                    self._tell(f"version {known.version} of the bundle holds")
            kept.confirm()
            if known is not None:
                for name in kept.restore(known):
                    self._tell(f"{name} of the bundle was not as the organisation signed it, and is so again")
                self.version = known.version
                self._tell_change(before)
                self._sync(known)
        except (SkillError, OSError) as fault:
            self._remember(str(fault))
        else:
            self._remember(None)
        self._tell_change(before)

    def _tell_change(self, before: tuple[int | None, str | None]) -> None:
        if (self.version, self.fault) != before:
            self.changed()

    def _sync(self, bundle: Bundle) -> None:
        """Bring the deployed skills to the releases of this bundle. Raises DistributionError if that failed."""
        now = time.monotonic()
        if self._synced == bundle.version and now < self._sync_again:
            return
        for file, (host, source) in self._hosts.items():
            if (root := bundle.files.get(file)) is None:
                continue
            asked = Permission("packages.sync", SCOPE, lambda: self._rules)
            report = host.sync(source, root.encode(), thorough=self._synced is None, permission=asked)
            if report.state != "current":
                raise DistributionError(f"the deployed skills are {report.state}: {report.reason}")
        self._synced, self._sync_again = bundle.version, now + _SYNC_SECONDS
        self.changed()

    def _remember(self, fault: str | None) -> None:
        self.fault = fault
        self._faults.of_bundle(fault)
