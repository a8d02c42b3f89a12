"""Take the pictures of the report of evals in docs/screens, in Chromium with made-up results.

python -m tools.report_screens
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from prowess.evals.reports.ablation_view import read_ablation
from prowess.evals.reports.page import PageExtras, report_page
from tests.evals.reports.sample_report import sample, transcript

PLACE = Path(__file__).resolve().parents[1] / "docs" / "screens"
_WIDTH = 960
_HEIGHTS = {"light": 800, "dark": 700, "print": 700}
_PARTS = (
    ("Read the invoice with `scripts/lines.py` before you look at totals.", "needed", -0.62),
    ("Never trust the printed sum.", "needed", -0.22),
    ("Be careful and thorough.", "no_effect", 0.0),
    ("Round half away from zero, per line, then sum.", "needed", -0.18),
    ("Use a friendly tone.", "no_effect", 0.0),
    ("State the difference and the line that causes it.", "unsure", -0.08),
)


def main() -> int:
    """Write the pictures, and return the exit code."""
    program = shutil.which("chromium")
    if program is None:
        print("Chromium is not on this machine; `make setup` installs it", file=sys.stderr)
        return 1
    root = [] if os.geteuid() else ["--no-sandbox"]
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        path = Path(place, "report.html")
        path.write_text(sample_page(), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=program, args=root)
        for name, height in _HEIGHTS.items():
            context = browser.new_context(
                viewport={"width": _WIDTH, "height": height}, color_scheme="dark" if name == "dark" else "light"
            )
            page = context.new_page()
            page.goto(path.as_uri())
            page.emulate_media(media="print" if name == "print" else "screen")
            page.locator("details").first.evaluate("one => { one.open = true }")
            page.screenshot(path=PLACE / f"eval-report-{name}.png")
            context.close()
        browser.close()
    return 0


def sample_page() -> str:
    """Return the page that is shown."""
    report = sample()
    parts = [
        {"path": "SKILL.md", "line": number, "text": text, "verdict": verdict, "delta": delta}
        for number, (text, verdict, delta) in enumerate(_PARTS, 7)
    ]
    transcripts = {unit.id: transcript(number, 6) for number, unit in enumerate(report.units)}
    extras = PageExtras(cap_usd=2.0, ablation=read_ablation({"units": parts}), transcripts=transcripts)
    return report_page(report, extras)


if __name__ == "__main__":
    sys.exit(main())
