"""A server with sample data for tests in a browser: one for all of them, on a socket of this machine."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from prowess.http_listener.listener import HttpListener, bound
from tests.http_server.organisation import in_file
from tools.sample_decisions import add_decisions
from tools.sample_organisation import add_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.http_server.organisation import ServedOrganisation

LOOKS = {"light": ("light", 1280), "dark": ("dark", 1280), "narrow": ("light", 320)}


class ServedPages:
    """An organisation whose pages are served at `address`."""

    def __init__(self, organisation: ServedOrganisation, address: str) -> None:
        self.organisation, self.address = organisation, address
        self.paths = sample_paths()

    def log_in(self, page: Page, role: str = "administrator", user: str | None = None) -> None:
        """Log in with a token of a role, by the form."""
        page.goto(f"{self.address}/login")
        page.get_by_label("Token").fill(self.organisation.token(role, user=user))
        page.get_by_role("button", name="Log in").click()

    @contextmanager
    def context(self, browser: Browser, look: str = "light", *, javascript: bool = True) -> Iterator[BrowserContext]:
        """A new profile of the browser with this look."""
        scheme, width = LOOKS[look]
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]  # a literal of `LOOKS`
            java_script_enabled=javascript,
        )
        context.set_default_timeout(10_000)
        yield context
        context.close()


@contextmanager
def serving_pages(place: Path, sessions: int = 8) -> Iterator[ServedPages]:
    """Serve an organisation with sample data from a thread."""
    with in_file(place) as organisation:
        add_records(organisation.server.database.of_tenant("default"), sessions)
        add_decisions(organisation.server.database)
        organisation.sequence()
        with bound("127.0.0.1", 0) as socket:
            listener = HttpListener(organisation.app, socket)
            thread = threading.Thread(target=anyio.run, args=(listener.run,))
            thread.start()
            try:
                yield ServedPages(organisation, f"http://127.0.0.1:{socket.getsockname()[1]}")
            finally:
                organisation.server.is_ending = True  # streams end
                listener.stop()
                thread.join(20)


def sample_paths() -> dict[str, str]:
    """Return a path of each route of `PAGES` that is a page."""
    return {
        "/activity": "/activity?skill=csv-report",
        "/audit": "/audit?outcome=failure",
        "/audit/{number}": "/audit/5",
        "/blocks": "/blocks?kind=name&value=csv-report",
        "/machines": "/machines?behind=yes",
        "/machines/{id}": "/machines/019ad3c2-6f0e-7c3a-9b1d-2f4e5a6b7c00",
        "/policies": "/policies",
        "/policies/new": "/policies/new",
        "/policies/one": "/policies/one?name=organisation",
        "/policies/edit": "/policies/edit?name=organisation",
        "/sessions": "/sessions",
        "/sessions/one": "/sessions/one?id=session-0001",
        "/tokens": "/tokens",
        "/usage": "/usage?by=skill%2Cteam",
        "/write": "/write",
    }
