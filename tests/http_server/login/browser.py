"""A browser without a window, for an application in this process: it keeps cookies and reads the fields of forms."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request  # noqa: TC002 -- Starlette looks at the annotations
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import newest
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.errors import PolicyDeniedError
from prowess.governance.organisation import add_token
from prowess.http_server.login.csrf import csrf_field, require_csrf
from prowess.http_server.login.form import form_of
from prowess.http_server.login.login_server import LoginServer
from prowess.http_server.login.routes import actor_of_login, login_routes
from prowess.http_server.login.settings import LoginSettings
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import OrganisationStore, create_store
from prowess.store.shared.tokens import SharedTokenStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from httpx2 import Response

    from prowess.governance.organisation import NewToken
    from prowess.signing.keys import PrivateKey

_NAME = "acme.example"
ORIGIN = "https://skills.example"
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


class Browser:
    """One browser at the login routes, and at the routes of a small application that asks who is logged in."""

    def __init__(self, server: LoginServer, origin: str = ORIGIN) -> None:
        async def me(request: Request) -> JSONResponse:
            actor = await actor_of_login(server, request)
            if actor is None:
                return JSONResponse(None, 401)
            facts = {"user": actor.user, "roles": list(actor.roles), "tenant": actor.tenant, "team": actor.team}
            return JSONResponse({**facts, "by": actor.identified_by, "field": csrf_field(request)})

        async def change(request: Request) -> JSONResponse:
            await actor_of_login(server, request)
            require_csrf(request, await form_of(request))
            return JSONResponse("changed")

        async def denied(request: Request, fault: Exception) -> JSONResponse:
            return JSONResponse(fault.rule if isinstance(fault, PolicyDeniedError) else None, 403)

        routes = [*login_routes(server), Route("/me", me), Route("/change", change, methods=["POST"])]
        self.origin = origin
        self.client = TestClient(
            Starlette(routes=routes, exception_handlers={PolicyDeniedError: denied}),
            base_url=origin,
            follow_redirects=False,
        )

    def get(self, path: str, **headers: str) -> Response:
        return self.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, form: dict[str, str], origin: str | None = None) -> Response:
        sent = self.origin if origin is None else origin
        return self.client.post(path, data=form, headers={"origin": sent} if sent else {})

    def log_in(self, token: str, wanted: str = "/") -> Response:
        fields = hidden_fields(self.get(f"/login?next={wanted}"))
        return self.post("/login", {**fields, "token": token})

    def me(self) -> dict[str, Any] | None:
        """Who is logged in. The cookie is sent, as for a page of our own."""
        found: dict[str, Any] | None = self.get("/me").json()
        return found

    def csrf(self) -> str:
        fields: dict[str, str] = dict(_HIDDEN.findall((self.me() or {})["field"]))
        return fields["csrf"]

    def set_cookie(self, name: str, value: str) -> None:
        self.client.cookies.set(name, value, domain=urlsplit(self.origin).hostname or "", path="/")


def hidden_fields(answer: Response) -> dict[str, str]:
    return {name: unescape(value) for name, value in _HIDDEN.findall(answer.text)}


class Organisation:
    """A store with the tenant `default` in a new file, and its key, so that what was recorded can be read."""

    def __init__(self, place: Path) -> None:
        self.url = f"sqlite:///{place}/shared.db"
        content, self._key = _new_store()
        (place / "shared.db").write_bytes(content)
        self.store = OrganisationStore(self.url)
        self.database = self.store.database

    def server(self, settings: LoginSettings | None = None) -> LoginServer:
        return LoginServer(self.store, settings or LoginSettings(public_url=ORIGIN))

    def token(
        self, role: str = "viewer", *, user: str = "ann", tenant: str = "default", team: str | None = None
    ) -> NewToken:
        made = add_token(self.url, tenant=tenant, role=role, user=user, team=team)
        assert made is not None
        return made

    def remove(self, token: NewToken) -> None:
        assert SharedTokenStore(self.database).remove_token(token.token.id)

    def records(self, tenant: str = EVERY) -> list[tuple[str, Mapping[str, Any]]]:
        """Kind and data of each record in the log of a tenant."""
        rows = SharedAuditRows(self.database.of_tenant(tenant))
        while continue_log(rows, LogSigner(name=_NAME, key=self._key)) is not None:
            pass
        return [(one.kind, one.data) for one in newest(rows, RecordFilter(), 1000)]

    def failures(self) -> list[tuple[str, str]]:
        """Reason and detail of each login that was refused."""
        return [(data["reason"], data["detail"]) for kind, data in self.records() if kind == "governance.login-failed"]


@cache
def _new_store() -> tuple[bytes, PrivateKey]:
    """A new store and its key. To create one takes as long as ten tests."""
    key = new_private_key("ed25519")
    with tempfile.TemporaryDirectory() as place:
        create_store(f"sqlite:///{place}/new.db", origin=_NAME, public_key=str(note_key(_NAME, key.public)))
        return (Path(place) / "new.db").read_bytes(), key
