"""Take the pictures of the pages in docs/screens, in Chromium with sample data.

python -m tools.page_screens
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.http_server.pages.served_pages import serving_pages

PLACE = Path(__file__).resolve().parents[1] / "docs" / "screens"
SCREENS = {"dashboard-activity.png": "/activity?agent=claude-code"}
_SIZE = {"width": 1120, "height": 560}


def main() -> int:
    """Write the pictures, and return the exit code."""
    program = shutil.which("chromium")
    if program is None:
        print("Chromium is not on this machine; `make setup` installs it", file=sys.stderr)
        return 1
    root = [] if os.geteuid() else ["--no-sandbox"]
    with (
        tempfile.TemporaryDirectory() as place,
        serving_pages(Path(place), 60) as served,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=program, args=root)
        page = browser.new_page(viewport=_SIZE)  # type: ignore[arg-type]  # a dict of two numbers
        served.log_in(page, user="ada")
        for name, path in {**SCREENS, "dashboard-approval.png": served.paths["/approvals/{id}"]}.items():
            page.goto(served.address + path)
            page.screenshot(path=PLACE / name)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
