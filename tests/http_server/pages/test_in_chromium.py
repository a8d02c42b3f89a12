"""Every page in Debian's Chromium: without barriers, messages or sideways scrolling, and without JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.http_server.pages.navigation import NAVIGATION
from prowess.http_server.pages.routes import PAGES
from tests.chromium import barriers
from tests.http_server.pages.served_pages import HOSTILE, HOSTILE_MACHINE, LOOKS, MARKUP, SHOWN, serving_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.http_server.pages.served_pages import ServedPages

_NO_PAGES = {"/", "/audit/export"}  # a redirect and a download


# Tests name this fixture before the browser: to sign releases it needs a thread without a running event loop.
@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPages]:
    with serving_pages(tmp_path_factory.mktemp("organisation"), hostile=True) as served:
        yield served


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_barriers_messages_or_sideways_scrolling(pages: ServedPages, chromium: Browser, look: str) -> None:
    assert pages.paths.keys() | _NO_PAGES == {path for path, _ in PAGES}
    found: list[str] = []
    with pages.context(chromium, look) as context:
        page = context.new_page()
        page.on("console", lambda message: found.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: found.append(f"{page.url}: {error}"))
        page.goto(f"{pages.address}/login")
        found += barriers(page)
        pages.log_in(page)
        for path in pages.paths.values():
            answer = page.goto(pages.address + path)
            assert answer is not None
            assert answer.status == 200, path
            found += [f"{path}: {barrier}" for barrier in barriers(page)]
            width = page.evaluate("document.documentElement.scrollWidth")
            if width > LOOKS[look][1]:
                found.append(f"{path}: {width} pixels wide")
    assert found == []


def test_what_other_people_wrote_is_shown_as_text_and_breaks_no_layout(pages: ServedPages, chromium: Browser) -> None:
    paths = {
        "/activity": "Skill",
        "/audit": "Skill",
        "/blocks": "Reason",
        "/machines": "Machine",
        f"/machines/{HOSTILE_MACHINE}": "",
        f"/sessions/one?{urlencode({'id': HOSTILE})}": "",
        "/tokens": "User",
        f"/usage?{urlencode({'by': 'team'})}": "",
        f"/audit?{urlencode({'skill': HOSTILE})}": "Skill",
    }
    with pages.context(chromium, "narrow") as context:
        page = context.new_page()
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        pages.log_in(page)
        for path, label in paths.items():
            page.goto(pages.address + path)
            assert page.evaluate("document.documentElement.scrollWidth") == LOOKS["narrow"][1], path
            assert page.locator("main img").count() == 0, path
            texts = page.locator(f"[data-label='{label}']").all_inner_texts() if label else [page.inner_text("main")]
            wanted = MARKUP if path == "/blocks" else SHOWN[:150]  # a reason has no control characters
            assert any(wanted in text for text in texts), path


def test_every_page_works_without_javascript(pages: ServedPages, chromium: Browser) -> None:
    with pages.context(chromium, javascript=False) as context:
        page = context.new_page()
        pages.log_in(page)
        for path in pages.paths.values():
            page.goto(pages.address + path)
            assert page.get_by_role("heading", level=1).count() == 1, path
            assert page.get_by_role("navigation", name="Pages").get_by_role("link").count() > 2, path


def test_every_page_of_the_navigation_has_a_route() -> None:
    linked = {entry.path for _, entries in NAVIGATION for entry in entries}
    assert linked <= {path for path, _ in PAGES}


def test_a_new_record_becomes_a_row_while_the_page_is_open(pages: ServedPages, chromium: Browser) -> None:
    log = SharedAuditLog(pages.organisation.server.database.of_tenant("default"))
    with pages.context(chromium) as context:
        page = context.new_page()
        pages.log_in(page)
        with page.expect_response("**/activity/live*"):
            page.goto(f"{pages.address}/activity?team=live")
        rows = page.locator("#rows tr")
        assert rows.count() == 0
        for number in range(3):
            data = {"skill": f"skill-{number}", "user": "ada", "team": "live"}
            log.append(AuditEvent(kind="skill.loaded", data={**data, "team": "another"}))
            log.append(AuditEvent(kind="skill.loaded", data=data))
            rows.nth(number).wait_for()
        pages.organisation.sequence()  # a record that gets its place is no new one
        log.append(AuditEvent(kind="skill.loaded", data={"skill": HOSTILE, "team": "live"}))
        rows.nth(3).wait_for()
        assert [row.split("\t")[2] for row in rows.all_inner_texts()] == [SHOWN, "skill-2", "skill-1", "skill-0"]
        assert page.evaluate("document.documentElement.scrollWidth") == LOOKS["light"][1]
        page.get_by_role("link", name="Pause").click()
        assert page.get_by_role("link", name="Go on").is_visible()
        assert rows.count() == 4
