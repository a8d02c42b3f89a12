"""The page in Chromium: no message, no request, no barrier, in light, dark, print and a narrow window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from prowess.evals.reports.ablation_view import read_ablation
from prowess.evals.reports.page import PageExtras, report_page
from prowess.evals.reports.trigger_view import read_triggers
from tests.chromium import barriers
from tests.evals.reports.sample_report import hostile, hostile_transcript, sample, transcript

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from prowess.evals.campaigns.report import EvalRunReport

pytestmark = pytest.mark.unmeasured

VERDICTS = (("needed", -0.7), ("needed", -0.3), ("needed", -0.1), ("no_effect", 0.0), ("unsure", -0.05))


def extras(report: EvalRunReport, *, bad: bool) -> PageExtras:
    parts = [
        {"path": "SKILL.md", "line": number, "text": f"Sentence {number}.", "verdict": verdict, "delta": delta}
        for number, (verdict, delta) in enumerate(VERDICTS)
    ]
    names = [f"skill-{number}" for number in range(10)]
    rows = [
        {"skill": name, "requests": 4, "runs": 12, "answers": {name: 9, names[0]: 3}, "nobody": 0} for name in names
    ]
    shadow = {"skill": names[1], "shadowed_by": names[0], "lost": 1, "requests": 4, "share": 0.25, "words": ["sum"]}
    return PageExtras(
        cap_usd=2.0,
        ablation=read_ablation({"units": parts}),
        triggers=read_triggers({"matrix": rows, "shadows": [shadow]}),
        transcripts={unit.id: hostile_transcript() if bad else transcript(1) for unit in report.units},
    )


@pytest.mark.parametrize("bad", [False, True], ids=["sample", "hostile"])
def test_the_page_loads_nothing_logs_nothing_and_has_no_barrier(chromium: Browser, tmp_path: Path, bad: bool) -> None:  # noqa: FBT001 -- a parameter of pytest
    report = hostile(30, evals=6) if bad else sample(3, 6)
    path = tmp_path / "report.html"
    path.write_text(report_page(report, extras(report, bad=bad)), encoding="utf-8")
    assert opened(chromium, path, "light", 320) == ([], [path.as_uri()])
    assert opened(chromium, path, "dark", 1040) == ([], [path.as_uri()])


def opened(chromium: Browser, path: Path, colours: Literal["light", "dark"], width: int) -> tuple[list[str], list[str]]:
    """Open the page and some of its runs; return what it logged and requested."""
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=colours)
    page = context.new_page()
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda one: messages.append(one.text))
    page.on("pageerror", lambda one: messages.append(str(one)))
    page.on("dialog", lambda one: messages.append(one.message))
    page.on("request", lambda one: requests.append(one.url))
    page.goto(path.as_uri())
    page.eval_on_selector_all("details", "all => all.slice(0, 8).forEach(one => { one.open = true })")
    found = (list(messages), list(requests))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page) == []
    context.close()
    return found


def test_the_page_prints_in_light_colours(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report = sample(3, 6)
    path.write_text(report_page(report, extras(report, bad=False)), encoding="utf-8")
    context = chromium.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
    context.close()
