"""Deployed skills for sessions with the store of an organisation: this process keeps them in a private directory.

They come from the store itself, and are verified as those of an enrolled machine: the root metadata that was seen first
is trusted, and from then on each release needs its signatures. A thread follows new releases.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from typing import TYPE_CHECKING, Self

from prowess._internal.places import cache_home, ensure_private_directory
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.catalog.viewing.audience import Audience
from prowess.distribution.deployment.host import DeploymentHost
from prowess.distribution.deployment.permitted import SCOPE
from prowess.distribution.permission.facts import CallRules
from prowess.distribution.permission.permission import Permission
from prowess.errors import DistributionError, LimitExceededError, SkillError
from prowess.governance.service.bundle import FIRST_ROOT
from prowess.store.shared.bundle_rows import SharedBundleRows
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.store import SharedSessionStore
    from prowess.store.shared.database import SharedDatabase

_SECONDS = 1.0
_MOST_WAIT = 10.0  # seconds, for a look that has begun
_MOST_ROOT = 512_000  # bytes; the limit of python-tuf


class StoreDeployment:
    """The deployment of one owner in a store (`DeploymentSource`): `*` for the organisation, else a tenant."""

    contacted: tuple[str, ...] = ()

    def __init__(self, database: SharedDatabase, owner: str) -> None:
        self._files = SharedReleaseFiles(database, owner)
        self.shown = f"the deployment of {owner} in {database.url}"

    def read(self, path: str, most: int) -> bytes | None:
        """See `DeploymentSource`. Raises StoreError too."""
        data = self._files.read(path)
        if data is not None and len(data) > most:
            raise LimitExceededError(f"bytes of {self.shown}: {path}", most, len(data))
        return data

    def close(self) -> None:
        """See `DeploymentSource`; the database is closed by its owner."""


def deployed_skills(store: SharedSessionStore, *, environment: str | None = None) -> ReplicaDeployment:
    """Bring the deployed skills of a store's tenant here, for the catalog of sessions with this store.

        with open_store(URL) as store, deployed_skills(store) as deployed:
            catalog = Catalog("skills", deployed=deployed.directories)
            with SyncSession(catalog, store=store) as session:
                session.load("report")

    They are enterprise skills there. Inside the block, new releases are followed, and a fault is logged as a warning of
    `prowess.deployed`. `environment` is by default that of this machine, as in `Catalog`.

    Raises:
        DistributionError, StoreError, OSError: as `ReplicaDeployment`.
        MissingExtraError: the extra `install` is missing.
    """
    where = Audience(environment=environment).here().environment
    return ReplicaDeployment(store.database, where, logging.getLogger("prowess.deployed").warning)


class ReplicaDeployment:
    """The deployed skills of the tenant of a database, in directories for `Catalog(deployed=…)`.

    The constructor brings them here. `start` follows new releases every second, until `close`; `tell` gets each fault.

    Raises:
        DistributionError: a release is refused, or cannot be brought here.
        StoreError: the store cannot be used.
        OSError: the directory cannot be written.
    """

    def __init__(self, database: SharedDatabase, environment: str | None, tell: Callable[[str], None]) -> None:
        self._rows, self._tell = SharedBundleRows(database), tell
        self._rules = CallRules(audit=SharedAuditLog(database))
        name = hashlib.sha256(f"{database.url} {database.tenant} {environment}".encode()).hexdigest()[:24]
        place = os.path.join(cache_home(), "deployed", name)
        ensure_private_directory(place)
        owners = dict.fromkeys((EVERY, database.tenant))
        self._sources = {
            StoreDeployment(database, owner): DeploymentHost(os.path.join(place, _folder(owner)), environment)
            for owner in owners
        }
        self._fault: str | None = None
        self._ended = threading.Event()
        self._generation = self._rows.generation()[0]
        self._bring()
        self._thread = threading.Thread(target=self._run, name="prowess-deployed", daemon=True)

    @property
    def directories(self) -> tuple[str, ...]:
        """The directories of the skills, the organisation's first."""
        return tuple(os.path.join(host.root, "skills") for host in self._sources.values())

    def start(self) -> None:
        """Begin to follow releases."""
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(_MOST_WAIT)

    def __enter__(self) -> Self:
        """Begin to follow releases; the end of the block ends it."""
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._ended.wait(_SECONDS):
            try:
                generation = self._rows.generation()[0]
                if generation != self._generation or self._fault is not None:
                    self._bring()
                    self._generation = generation
            except (SkillError, OSError) as fault:
                if str(fault) != self._fault:
                    self._tell(str(fault))
                self._fault = str(fault)
            else:
                self._fault = None

    def _bring(self) -> None:
        for source, host in self._sources.items():
            root = source.read(FIRST_ROOT, _MOST_ROOT)
            if root is None:
                continue
            asked = Permission("packages.sync", SCOPE, lambda: self._rules)
            report = host.sync(source, root, thorough=False, permission=asked)
            if report.state != "current":
                raise DistributionError(f"{source.shown}: the deployed skills are {report.state}: {report.reason}")


def _folder(owner: str) -> str:
    return "organisation" if owner == EVERY else "tenant"
