"""Logins of several tenants in PostgreSQL: each one acts in its own tenant, and sees none of the others."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from prowess.governance.organisation import add_token
from prowess.http_server.login.login_server import LoginServer
from prowess.http_server.login.oidc.settings import OidcSettings
from prowess.http_server.login.settings import LoginSettings
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.decisions import SharedPolicyStore
from prowess.store.shared.logins import SharedLoginStore
from prowess.store.shared.organisation import OrganisationStore
from tests.http_server.login.browser import ORIGIN, Browser
from tests.http_server.login.issuers import ForgingIssuer

if TYPE_CHECKING:
    from tests.postgresql import Postgresql

COOKIE = "__Host-prowess_login"


def test_a_login_acts_in_its_tenant_and_is_seen_in_no_other(postgresql: Postgresql) -> None:
    url = postgresql.store_url()
    store = OrganisationStore(url)
    for tenant in ("acme", "beta"):
        store.add_tenant(tenant)
    roles = SharedPolicyStore(store.database.of_tenant("acme"))
    roles.put_policy("roles", '[roles]\napprover = { groups = ["reviewers"] }\n', by="ada", at="2026-11-29T00:00:00Z")
    issuer = ForgingIssuer()
    oidc = OidcSettings(issuer=issuer.url, origin=ORIGIN, client_id="prowess", tenant_claim="tenant")
    issuer.metadata = {"token_endpoint_auth_methods_supported": ["none"]}
    server = LoginServer(store, LoginSettings(public_url=ORIGIN, oidc=oidc))
    try:
        browsers = {}
        for tenant in ("acme", "beta"):
            browser = browsers[tenant] = Browser(server)
            issuer.change = lambda claims, tenant=tenant: claims.update(tenant=tenant, groups=["reviewers"])  # type: ignore[misc]  # the default binds the loop's value
            assert browser.get(issuer.back(browser.get("/login/oidc").headers["location"])).status_code == 200
        found = {tenant: browser.me() or {} for tenant, browser in browsers.items()}
        assert [(one["user"], one["tenant"], one["roles"]) for one in found.values()] == [
            ("ann", "acme", ["approver"]),
            ("ann", "beta", ["viewer"]),
        ]
        digest = hashlib.sha256(f"login:{browsers['acme'].client.cookies[COOKIE]}".encode()).digest()
        seen = {
            tenant: SharedLoginStore(store.database.of_tenant(tenant)).login(digest, 0) is not None
            for tenant in ("acme", "beta", "default")
        }
        assert seen == {"acme": True, "beta": False, "default": False}
        waiting = {
            tenant: SharedAuditRows(store.database.of_tenant(tenant)).waiting()
            for tenant in ("acme", "beta", "default")
        }
        assert waiting == {"acme": 1, "beta": 1, "default": 0}
        for tenant in ("*", "beta"):
            made = add_token(url, tenant=tenant, role="administrator", user="ada")
            assert made is not None
            browser = Browser(server)
            browser.log_in(made.text)
            assert (browser.me() or {})["tenant"] == tenant
    finally:
        issuer.close()
        store.database.close()
