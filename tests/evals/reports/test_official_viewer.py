"""The viewer of skill-creator, the official one, opens the benchmark and the runs of an iteration in Chromium.

It is no part of this project: `SKILL_CREATOR=FOLDER tools/peers.sh viewer` names a copy of skill-creator.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.evals.campaigns.provider import MODEL, ScriptedProvider, obedient
from tests.evals.campaigns.skills import an_eval, skill_at
from tests.fork_server import prowess

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(os.environ.get("SKILL_CREATOR", ""))
VIEWER = FOLDER / "eval-viewer" / "generate_review.py"

pytestmark = [
    pytest.mark.unmeasured,
    pytest.mark.skipif(
        "SKILL_CREATOR" not in os.environ or not VIEWER.is_file(),
        reason="SKILL_CREATOR names no copy of skill-creator with eval-viewer/generate_review.py",
    ),
]


@pytest.mark.parametrize("runs", [1, 3])
def test_the_official_viewer_shows_the_benchmark_and_each_run(chromium: Browser, tmp_path: Path, runs: int) -> None:
    check = {"text": "two decimals", "type": "contains_phrase", "phrase": "12.50"}
    skill = skill_at(tmp_path, *(an_eval(name, check, prompt=f"Sum {name}") for name in ("first", "second")))
    with ScriptedProvider(obedient) as provider:
        words = ("--model", MODEL, "--runs", str(runs), "--judge", "none", "--json")
        done = subprocess.run(
            [prowess(), "eval", "run", str(skill), *words],
            env={**os.environ, **provider.environment}, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    iteration = tmp_path / "sums-workspace" / "iteration-1"
    page = tmp_path / "review.html"
    command = [sys.executable, str(VIEWER), str(iteration), "--static", str(page)]
    subprocess.run([*command, "--benchmark", str(iteration / "benchmark.json")], check=True, capture_output=True)

    context = chromium.new_context(offline=True)
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda one: faults.append(str(one)))
    opened.goto(page.as_uri())
    shown = json.loads(opened.evaluate("JSON.stringify(EMBEDDED_DATA.runs.map(one => [one.prompt, one.grading]))"))
    opened.click("text=Benchmark")
    table = opened.inner_text("#benchmark-content")
    context.close()

    assert faults == []
    assert len(shown) == 2 * 2 * runs
    assert {prompt for prompt, _ in shown} == {"Sum first", "Sum second"}
    assert sorted(grading["summary"]["pass_rate"] for _, grading in shown) == [0.0] * 2 * runs + [1.0] * 2 * runs
    assert f"{runs} runs per configuration" in table
    for text in ("sums", "100%", "0%", "two decimals"):
        assert text in table
    assert "NaN" not in table
    assert "undefined" not in table
