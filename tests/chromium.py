"""Debian's Chromium for tests, driven by Playwright, and axe-core, which looks for barriers in pages.

`tools/setup.sh` installs both. A test that needs one that is missing is skipped with that reason.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

_NPM = Path(os.environ.get("PROWESS_NPM") or Path(__file__).parents[1] / ".cache" / "npm")
_AXE = _NPM / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_RUN = "only => axe.run({runOnly: only, resultTypes: ['violations']})"
_OF_COLOURS = ("color-contrast", "link-in-text-block")
# Nothing of the machine is used or kept; the sandbox of Chromium needs a user who is not root.
_ARGUMENTS = ("--disable-gpu", "--disable-dev-shm-usage", *(() if os.geteuid() else ("--no-sandbox",)))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Return a browser, which starts within a second. While it is open, this thread has a running event loop.

    So it ends with its module: other tests start event loops of their own.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not on this machine; `make setup` installs it")
    from playwright.sync_api import sync_playwright  # imported here: only these tests need it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        yield browser
        browser.close()


def barriers(page: Page, *, only_colours: bool = False) -> list[str]:
    """Return what axe-core finds on a page by the rules of WCAG 2.2 AA: the rule, and the first place of each.

    `only_colours` is for the same page in other colours.
    """
    if not _AXE.exists():
        pytest.skip("axe-core is not in .cache/npm; `make setup` gets it")
    # As the browser's tools do, which the content security policy of the page does not concern.
    page.evaluate(_AXE.read_text())
    found: dict[str, Any] = page.evaluate(
        _RUN, {"type": "rule", "values": _OF_COLOURS} if only_colours else {"type": "tag", "values": _RULES}
    )
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:200]})" for one in found["violations"]]
