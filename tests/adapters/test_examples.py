"""The examples of docs/build/adapters.md run as they stand there, against a provider on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.provider import Turn, call_id, provider

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "adapters").glob("*.py"))
# One process for all of them: importing the frameworks takes longer than everything else.
RUN_EACH = """
import runpy, sys
task, *paths = sys.argv[1:]
for arguments in ([], [task]):
    for path in paths:
        sys.argv[1:] = arguments
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as ended:
            print(ended)
"""


def _turns(example: int) -> list[Turn]:
    return [
        [("skills_load", {"names": ["csv-report"]})],
        [("skills_read", {"path": "references/NUMBERS.md"})],
        f"Done, {example}.",
    ]


@pytest.mark.unmeasured
def test_each_example_tells_its_usage_and_its_second_call_holds_what_the_first_one_loaded(
    tmp_path: Path,
) -> None:
    for library in ("pydantic_ai", "langchain", "langchain_openai", "agents"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    paths = [f"examples/adapters/{example.name}" for example in EXAMPLES]
    with provider(*(turn for number, _ in enumerate(EXAMPLES) for turn in _turns(number))) as running:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", RUN_EACH, "Sum up march.csv", *paths],
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
    told = ran.stdout.splitlines()
    assert told[len(EXAMPLES) :] == [f"Done, {number}." for number, _ in enumerate(EXAMPLES)], ran.stderr
    for line, example in zip(told, EXAMPLES, strict=False):
        assert line.endswith(f': python {example.name} "Sum up march.csv".')
    for number, example in enumerate(EXAMPLES):
        asked = running.asked[3 * number : 3 * number + 3]
        bodies = ["Turn a CSV file into numbers" in request.instructions for request in asked]
        assert bodies == [False, True, True], example.name
        assert "You are a clerk." in asked[0].instructions
        read = asked[-1].results[call_id(3 * number + 1, 0)]
        assert '"path": "references/NUMBERS.md"' in read


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_page_shows_the_example_as_it_is(example: Path) -> None:
    page = (ROOT / "docs" / "build" / "adapters.md").read_text(encoding="utf-8")
    code = example.read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert f"```python\n{code}```" in page
