"""Every page in Debian's Chromium: without barriers, messages or sideways scrolling, and without JavaScript."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.http_server.pages.rendering.navigation import NAVIGATION
from prowess.http_server.pages.routes import PAGES
from tests.chromium import barriers
from tests.http_server.pages.served_pages import HOSTILE, HOSTILE_MACHINE, LOOKS, MARKUP, SHOWN, serving_pages
from tests.http_server.samples import skill_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.http_server.pages.served_pages import ServedPages

pytestmark = pytest.mark.unmeasured  # the other tests of pages run the same lines
_NO_PAGES = {"/", "/audit/export", "/usage/export"}  # a redirect and downloads


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
            found += [f"{path}: {barrier}" for barrier in barriers(page, only_colours=look == "dark")]
            width = page.evaluate("document.documentElement.scrollWidth")
            if width > LOOKS[look][1]:
                found.append(f"{path}: {width} pixels wide")
            if look == "light" and path == pages.paths["/tokens"]:  # the widest table
                page.set_viewport_size({"width": 1200, "height": 900})
                if (width := page.evaluate("document.documentElement.scrollWidth")) > 1200:
                    found.append(f"{path}: {width} pixels wide in a window of 1200")
                page.set_viewport_size({"width": LOOKS[look][1], "height": 900})
    assert found == []


def test_what_other_people_wrote_is_shown_as_text_and_breaks_no_layout(pages: ServedPages, chromium: Browser) -> None:
    paths = {
        "/activity": "Skill",
        "/audit": "Skill",
        "/blocks": "Reason",
        "/machines": "Machine",
        f"/machines/{HOSTILE_MACHINE}": "",
        f"/sessions/one?{urlencode({'id': HOSTILE})}": "",
        "/skills": "Skill",
        f"/skills/one?{urlencode({'name': HOSTILE})}": "",
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


@pytest.mark.proves("governance.audit.dashboard")
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


_FOCUSED = """() => {
  const element = document.activeElement, label = element.labels && element.labels[0];
  const visible = getComputedStyle(element).outlineStyle !== 'none';
  return [(label ? label.innerText : element.innerText || element.value || '').trim(), visible];
}"""


class Keyboard:
    """A person who has only a keyboard, and sees where the focus is."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def go_to(self, name: str) -> None:
        """Press Tab until what has this text or label is focused."""
        for _ in range(150):
            self._page.keyboard.press("Tab")
            text, is_visible = self._page.evaluate(_FOCUSED)
            assert is_visible, f"the focus on {text!r} cannot be seen"
            if text == name:
                return
        pytest.fail(f"no Tab leads to {name!r} on {self._page.url}")

    def press(self, name: str, key: str = "Enter") -> None:
        """Go to a link or a button, and press it; wait for the page that follows an Enter."""
        self.go_to(name)
        if key != "Enter":
            self._page.keyboard.press(key)
            return
        with self._page.expect_navigation():
            self._page.keyboard.press(key)

    def choose(self, name: str, file: Path) -> None:
        """Go to a field for a file, and open the choice of files; a busy Chromium may leave the first press out."""
        from playwright.sync_api import TimeoutError as Late  # imported here: only tests with a browser need it

        self.go_to(name)
        for key in ("Enter", "Space", "Enter"):
            with suppress(Late), self._page.expect_file_chooser(timeout=8_000) as chooser:
                self._page.keyboard.press(key)
                chooser.value.set_files(file)
                return
        pytest.fail(f"no key opens the choice of files at {name!r}")

    def write(self, name: str, text: str) -> None:
        """Go to a field, and write into it."""
        self.go_to(name)
        self._page.keyboard.type(text)

    def find_skill(self, name: str) -> None:
        """Go to the page of a skill."""
        self.press("Skills")
        self.write("Name", name)
        with self._page.expect_navigation():
            self._page.keyboard.press("Enter")
        self.press(name)


@pytest.mark.proves("governance.ui.manage", "governance.ui.browse")
def test_an_administrator_approves_blocks_and_deploys_with_the_keyboard_alone(
    pages: ServedPages, chromium: Browser, tmp_path: Path
) -> None:
    archive = tmp_path / "data-handling.tar.gz"
    archive.write_bytes(skill_archive("data-handling"))
    with pages.context(chromium) as context:
        page = context.new_page()
        keyboard = Keyboard(page)
        page.goto(f"{pages.address}/skills")
        keyboard.write("Token", pages.organisation.token("administrator", user="gina"))
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.get_by_role("heading", name="Skills", level=1).is_visible()  # where the login led back to
        keyboard.find_skill("csv-report")
        keyboard.press("Approvals")
        keyboard.press("csv-report")
        keyboard.press("Approve exactly these bytes and capabilities", "Space")
        keyboard.press("Vote")
        assert page.get_by_text("Your vote is recorded.").is_visible()
        keyboard.find_skill("invoice-check")
        keyboard.press("Block this skill")
        keyboard.write("Reason, shown to everybody who is denied", "it reads other invoices")
        keyboard.press("Block")
        assert page.get_by_text("it reads other invoices").is_visible()
        keyboard.press("Deployments")
        keyboard.choose("Archive that prowess pack wrote, up to 1 MB", archive)
        keyboard.press("Deploy")
        assert page.get_by_text("The deployment is published.").is_visible()
        assert page.get_by_role("link", name="data-handling").first.is_visible()
