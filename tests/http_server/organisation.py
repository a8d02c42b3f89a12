"""An organisation with a server in this process: its store, its key, and clients with tokens."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import anyio
from starlette.testclient import TestClient

from prowess.audit.transparency.sequencer import LogSigner
from prowess.governance.organisation import add_token
from prowess.http_server.app import server_app
from prowess.http_server.sequencing import SequencerLoop
from prowess.http_server.server import OrganisationServer
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SessionRow
from prowess.store.shared.organisation import OrganisationStore, create_store
from prowess.store.shared.sessions import SharedSessionStore
from tests.http_server.samples import skill_archive

if TYPE_CHECKING:
    from pathlib import Path

NAME = "acme.example"
BASE = "http://localhost"


class ServedOrganisation:
    """A store at `url`, which must be empty, and the application that serves it. `with` closes it."""

    def __init__(self, url: str, *tenants: str) -> None:
        self.url = url
        self.private = new_private_key("ed25519")
        create_store(url, origin=NAME, public_key=str(note_key(NAME, self.private.public)))
        store = OrganisationStore(url)
        for tenant in tenants:
            store.add_tenant(tenant)
        store.database.close()
        self.signer = LogSigner(name=NAME, key=self.private)
        self.server = OrganisationServer(url, self.signer)
        self.app: Any = server_app(self.server)
        self._tokens: dict[tuple[str, str], str] = {}

    def token(self, role: str, tenant: str = "default", user: str | None = None) -> str:
        """Return a token, the same one for the same role and tenant if no user is named."""
        if user is None and (role, tenant) in self._tokens:
            return self._tokens[role, tenant]
        made = add_token(self.url, tenant=tenant, role=role, user=user or f"{role} of {tenant}")
        assert made is not None
        if user is None:
            self._tokens[role, tenant] = made.text
        return made.text

    def client(self, role: str | None = None, tenant: str = "default", user: str | None = None) -> TestClient:
        """Return a client with a token of this role, or without one."""
        headers = {} if role is None else {"authorization": f"Bearer {self.token(role, tenant, user)}"}
        return TestClient(self.app, base_url=BASE, headers=headers, raise_server_exceptions=False)

    def sequence(self) -> None:
        """Give every waiting record its place, as the running server does each second."""
        SequencerLoop(self.server, self.signer, print).look()

    def fill(self) -> None:
        """Add a session with an event, a policy, two deployed skills, and a checkpoint of the log."""
        store = SharedSessionStore(self.server.database.of_tenant("default"))

        async def add() -> None:
            await store.create(SessionRow(session_id="one", version=1, state="{}", touched_at=1764444000.5))
            await store.append_event("one", "{}", at=1764444000.5, keep=10)

        thread = threading.Thread(target=anyio.run, args=(add,))  # this one may have a loop: that of Playwright
        thread.start()
        thread.join()
        put = self.client("administrator").put("/api/v1/policies/base", json={"toml": 'default = "allow"\n'})
        assert put.status_code == 200, put.text
        for name in ("kept", "gone"):
            deployed = self.client("administrator").post("/api/v1/deployments", content=skill_archive(name))
            assert deployed.status_code == 201, deployed.text
        self.sequence()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.server.close()


def in_file(place: Path) -> ServedOrganisation:
    """Return an organisation whose store is an SQLite file."""
    return ServedOrganisation(f"sqlite:///{place / 'organisation.db'}")
