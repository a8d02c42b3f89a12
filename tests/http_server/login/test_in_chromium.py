"""Logins in Debian's Chromium, with the certified issuer at another site: what the browser sends decides."""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest

from prowess.http_listener.listener import HttpListener, bound
from prowess.http_server.app import server_app
from prowess.http_server.login.next_path import next_path
from prowess.http_server.login.oidc.settings import CALLBACK, OidcSettings
from prowess.http_server.login.settings import LoginSettings
from prowess.http_server.server import OrganisationServer
from tests.chromium import barriers
from tests.http_server.login.browser import Organisation, hidden_fields
from tests.http_server.login.issuers import SECRET, Visitor, certified_issuer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page


pytestmark = pytest.mark.unmeasured


class Site:
    """An organisation served at `own`, with an issuer at another site: `localhost` is not the site `127.0.0.1`."""

    def __init__(self, organisation: Organisation, own: str, issuer: str) -> None:
        self.organisation, self.own, self.issuer = organisation, own, issuer

    def log_in(self, page: Page, path: str, account: str = "ann") -> None:
        page.goto(f"{self.own}{path}")
        page.get_by_role("link", name="Log in with localhost").click()
        page.locator("input[name=account]").fill(account)
        page.get_by_role("button", name="Log in").click()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    organisation = Organisation(tmp_path_factory.mktemp("organisation"))
    with bound("127.0.0.1", 0) as socket:
        own = f"http://127.0.0.1:{socket.getsockname()[1]}"
        with certified_issuer(f"{own}{CALLBACK}") as issuer:
            oidc = OidcSettings(issuer=issuer, origin=own, client_id="prowess", client_secret=SECRET, user_claim="name")
            server = OrganisationServer(organisation.url, login=LoginSettings(oidc=oidc))
            with running(HttpListener(server_app(server), socket)):
                yield Site(organisation, own, issuer)
            server.close()
    organisation.database.close()


@contextmanager
def running(listener: HttpListener) -> Iterator[None]:
    thread = threading.Thread(target=anyio.run, args=(listener.run,))
    thread.start()
    try:
        yield
    finally:
        listener.stop()
        thread.join(20)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context() as context:
        context.set_default_timeout(10_000)
        yield context.new_page()


def test_a_login_by_the_issuer_ends_at_the_page_that_was_asked_for(site: Site, page: Page) -> None:
    site.log_in(page, "/audit?outcome=failure")
    page.wait_for_url(f"{site.own}/audit?outcome=failure")
    assert "ann" in page.get_by_role("banner").inner_text()
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies(site.own)}
    assert cookies.keys() == {"prowess_login"}
    assert (cookies["prowess_login"]["sameSite"], cookies["prowess_login"]["httpOnly"]) == ("Strict", True)
    page.go_back()  # the address of the callback, with its code, is not in the history
    assert "code=" not in page.url

    page.goto(f"{site.own}/audit")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{site.own}/login")
    page.goto(f"{site.own}/audit")
    assert page.url == f"{site.own}/login?next=/audit"


def test_a_link_on_another_site_leads_to_its_page_and_not_to_the_login_form(site: Site, page: Page) -> None:
    site.log_in(page, "/usage")
    page.wait_for_url(f"{site.own}/usage")
    page.goto(f"{site.issuer}/interaction/none")
    page.set_content(f'<a href="{site.own}/audit?outcome=failure">a link in a mail</a>')
    page.get_by_role("link").click()
    page.wait_for_url(f"{site.own}/audit?outcome=failure")


def test_another_site_neither_logs_out_nor_reads(site: Site, page: Page) -> None:
    site.log_in(page, "/usage")
    page.wait_for_url(f"{site.own}/usage")
    page.goto(f"{site.issuer}/interaction/none")
    page.set_content(f'<form method="post" action="{site.own}/logout"><input name="csrf"><button>Win</button></form>')
    with page.expect_navigation():
        page.get_by_role("button").click()
    page.goto(f"{site.issuer}/interaction/none")
    tried = page.evaluate("url => fetch(url, {credentials: 'include'}).then(() => 'read', () => 'refused')", site.own)
    assert tried == "refused"
    page.goto(f"{site.own}/usage")
    assert page.url == f"{site.own}/usage"


def test_the_way_back_of_somebody_else_logs_nobody_in(site: Site, page: Page) -> None:
    begun = httpx2.get(f"{site.own}/login/oidc").headers["location"]
    with Visitor() as attacker:
        stolen = attacker.log_in(begun, "mallory")
    page.goto(stolen)
    assert "in another browser" in page.get_by_role("alert").inner_text()
    assert barriers(page) == []
    page.goto(f"{site.own}/usage")
    assert page.url == f"{site.own}/login?next=/usage"


def test_the_form_with_a_refusal_has_no_barriers(site: Site, page: Page) -> None:
    page.goto(f"{site.own}/login?next=/usage")
    page.get_by_label("Token").fill("prowess_wrong")
    page.keyboard.press("Enter")
    assert "This token is not valid" in page.get_by_role("alert").inner_text()
    assert barriers(page) == []
    page.set_viewport_size({"width": 320, "height": 600})
    link = page.get_by_role("link", name="Log in with localhost")
    link.evaluate("link => { link.textContent = `Log in with ${'a'.repeat(63)}.example`; }")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.get_by_label("Token").fill(site.organisation.token(user="ann").text)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.own}/usage")


def test_no_text_as_next_leads_to_another_server(site: Site, page: Page) -> None:
    """As Chromium reads addresses: it removes tabs and line breaks, and takes backslashes for slashes."""
    seeded = random.Random(20261129)
    words = ("evil.example", "https:", "%2f", "%5c", "..")
    parts = (*words, *"/\\.:@?#\t\n ;&\u3000")
    texts = ["/" + "".join(seeded.choices(parts, k=seeded.randint(1, 6))) for _ in range(3000)]
    paths = sorted({next_path(text) for text in texts})
    assert len(paths) > 100
    page.goto(f"{site.own}/login")
    led = page.evaluate("paths => paths.filter(path => new URL(path, location.href).origin !== location.origin)", paths)
    assert led == []


def test_the_address_in_a_record_is_the_one_that_the_proxy_added(site: Site) -> None:
    """Not one that the client wrote before it."""
    with httpx2.Client(base_url=site.own, headers={"x-forwarded-for": "127.0.0.1, 192.0.2.1, 203.0.113.9"}) as client:
        fields = hidden_fields(client.get("/login"))
        client.post("/login", data={**fields, "token": "x"}, headers={"origin": site.own})
    assert site.organisation.records()[-1][1]["address"] == "203.0.113.9"
