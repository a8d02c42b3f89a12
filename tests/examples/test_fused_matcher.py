"""The example that fuses the catalog's matcher with vectors."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from prowess import Catalog

EXAMPLE = Path(__file__).parents[2] / "examples" / "matching" / "fused_matcher.py"
SKILLS = EXAMPLE.parents[1] / "skills"


def test_the_program_prints_matches() -> None:
    command = [sys.executable, str(EXAMPLE), "totals of a csv file", str(SKILLS)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.startswith("csv-report  ")


def test_without_a_task_the_program_prints_its_usage() -> None:
    ended = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "usage: python examples/matching/fused_matcher.py TASK [DIRECTORY]\n"


def test_vectors_find_what_words_do_not_and_words_keep_their_reasons() -> None:
    spec = importlib.util.spec_from_file_location("fused_matcher", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    catalog = Catalog(SKILLS)
    near = {"csv-report": {"a": 1.0}, "log-triage": {"b": 1.0}}

    def embed(text: str) -> dict[str, float]:
        return near.get(text.split(maxsplit=1)[0], {"a": 0.6, "b": 0.8} if text == "totals" else {})

    matcher = module.FusedMatcher(catalog, embed)
    found = matcher.match("totals")
    assert [match.name for match in found] == ["csv-report", "log-triage"]
    assert [bool(match.reasons) for match in found] == [True, False]
    assert [match.name for match in matcher.match("totals", 1)] == ["csv-report"]
    among = [catalog.get("log-triage")]
    assert [match.name for match in matcher.match("totals", among=among)] == ["log-triage"]
