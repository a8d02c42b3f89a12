"""A server with sample data for tests in a browser: one for all of them, on a socket of this machine."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from prowess._internal.uuid7 import uuid7
from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.governance.machine.reports import MachineReport, ReportedCopy, SentRecords
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
from prowess.governance.service.machines import MachineService
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.http_listener.listener import HttpListener, bound
from prowess.store import Token
from prowess.store.shared.tokens import SharedTokenStore
from tests.http_server.organisation import in_file
from tools.sample_decisions import add_decisions
from tools.sample_organisation import add_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from prowess.store.shared.database import SharedDatabase
    from tests.http_server.organisation import ServedOrganisation

# Markup, a template, a bidirectional control, a character that TEXT cannot hold, and a very long word.
MARKUP = "<img src=x onerror=alert(1)>{{ 7*7 }}"
HOSTILE = MARKUP + "\u202egnp.exe\x00" + "w" * 300
SHOWN = MARKUP + "\\u202egnp.exe\\x00" + "w" * 300
HOSTILE_MACHINE = "019ad3c2-6f0e-7c3a-9b1d-000000000000"
LOOKS = {"light": ("light", 1280), "dark": ("dark", 1280), "narrow": ("light", 320)}


class ServedPages:
    """An organisation whose pages are served at `address`."""

    def __init__(self, organisation: ServedOrganisation, address: str) -> None:
        self.organisation, self.address = organisation, address
        self.paths = {**sample_paths(), "/approvals/{id}": f"/approvals/{waiting_question(organisation)}"}

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


def waiting_question(organisation: ServedOrganisation) -> str:
    """Return the id of the question about a skill that waits for votes."""
    client = organisation.client("approver")
    return str(client.get("/api/v1/approvals?state=waiting").json()["items"][0]["id"])


@contextmanager
def serving_pages(place: Path, sessions: int = 8, *, hostile: bool = False) -> Iterator[ServedPages]:
    """Serve an organisation with sample data from a thread."""
    with in_file(place) as organisation:
        add_records(organisation.server.database.of_tenant("default"), sessions)
        add_decisions(organisation.server.database, organisation.private)
        if hostile:
            add_hostile_names(organisation.server.database)
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


def add_hostile_names(database: SharedDatabase) -> None:
    """Add what other people may write, wherever a page shows it."""
    actor = Actor(user=HOSTILE, roles=("administrator",), tenant="default", identified_by="token")
    call = ServiceCall(actor, database, tenant="default", client=HOSTILE)
    BlockService(call).add(NewBlock(match=BlockMatch(source=f"https://host/{'w' * 200}"), reason=MARKUP + "w" * 300))
    # New tokens have plain names; one in the store may be older.
    old = Token(id=uuid7(), tenant="default", role="user", user=HOSTILE[:200], team=HOSTILE[:200], created_at=0.0)
    SharedTokenStore(call.database).add_token(old, os.urandom(32))
    machine = Actor(user=HOSTILE, roles=("machine",), tenant="default", identified_by="token", token_id="token-h")
    copy = ReportedCopy(name=HOSTILE, layer=HOSTILE, place=HOSTILE, source=HOSTILE, approval=HOSTILE, findings=HOSTILE)
    report = MachineReport(id=HOSTILE_MACHINE, name=HOSTILE[:200], team=HOSTILE[:200], fault=HOSTILE, inventory=(copy,))
    MachineService(ServiceCall(machine, database, tenant="default")).collect(SentRecords(machine=report))
    facts = dict.fromkeys(("skill", "user", "team", "agent", "host", "rule", "reason", "tool", "source"), HOSTILE)
    log = SharedAuditLog(database.of_tenant("default"))
    for kind in ("skill.loaded", f"tool.{HOSTILE}"):
        log.append(AuditEvent(kind=kind, session_id=HOSTILE, data={**facts, "outcome": HOSTILE}))


def sample_paths() -> dict[str, str]:
    """Return a path of each route of `PAGES` that is a page."""
    return {
        "/activity": "/activity?skill=csv-report",
        "/audit": "/audit?outcome=failure",
        "/audit/{number}": "/audit/5",
        "/blocks": "/blocks?kind=name&value=csv-report",
        "/approvals": "/approvals?state=waiting",
        "/approvals/{id}": "",  # `ServedPages` fills it in
        "/deployments": "/deployments",
        "/machines": "/machines?behind=yes",
        "/machines/{id}": "/machines/019ad3c2-6f0e-7c3a-9b1d-2f4e5a6b7c00",
        "/policies": "/policies",
        "/policies/new": "/policies/new",
        "/policies/one": "/policies/one?name=organisation",
        "/policies/edit": "/policies/edit?name=organisation",
        "/sessions": "/sessions",
        "/sessions/one": "/sessions/one?id=session-0001",
        "/skills": "/skills?text=e",
        "/skills/one": "/skills/one?name=csv-report",
        "/tokens": "/tokens",
        "/usage": "/usage?by=skill%2Cteam",
        "/write": "/write",
    }
