"""The examples of docs/adapters.md run as they stand there, against a provider on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.provider import Turn, call_id, provider

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "adapters").glob("*.py"))
NEEDED = {
    "with_pydantic_ai": ["pydantic_ai", "openai"],
    "with_langchain": ["langchain", "langchain_openai"],
    "with_langgraph": ["langchain", "langchain_openai"],
    "with_openai_agents": ["agents"],
}
TURNS: list[Turn] = [
    [("skills_load", {"names": ["csv-report"]})],
    [("skills_read", {"path": "references/NUMBERS.md"})],
    "All done.",
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_its_second_call_holds_what_the_first_one_loaded(example: Path, tmp_path: Path) -> None:
    for library in NEEDED[example.stem]:
        pytest.importorskip(library, reason=f"{library} is not installed")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with provider(*TURNS) as running:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", example, "Sum up march.csv"],
            cwd=tmp_path,
            env={
                **os.environ,
                "OPENAI_BASE_URL": running.url,
                "OPENAI_API_KEY": "none",
                "OPENAI_AGENTS_DISABLE_TRACING": "1",
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (ran.stdout, ran.returncode) == ("All done.\n", 0), ran.stderr
    bodies = ["Turn a CSV file into numbers" in request.instructions for request in running.asked]
    assert bodies == [False, True, True]
    assert "You are a clerk." in running.asked[0].instructions
    assert '"path": "references/NUMBERS.md"' in running.asked[-1].results[call_id(1, 0)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_page_shows_the_example_as_it_is(example: Path) -> None:
    page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    code = example.read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert f"```python\n{code}```" in page
