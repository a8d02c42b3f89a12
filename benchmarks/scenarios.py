"""`prowess test` beside the same runs of an agent, and what the unused pytest plugin costs a run of pytest.

The two sides of the plugin are runs of pytest with one empty test. The metadata of every package with a plugin is
hidden from pytest, except for that of Prowess on one side.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Command, Figure, Spent, beside, spent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.corpora import Corpus

_CASES = 100
_TEST = """
import sys
from prowess.evals import run_tests
report = run_tests(sys.argv[1])
sys.exit(0 if [case.outcome for case in report.cases] == ["passed"] * int(sys.argv[2]) else 3)
"""
_RUNS = """
import os, sys, tempfile
import anyio
import prowess.evals.scenarios.running  # both sides import the same
from prowess import Catalog
from prowess.agent import Agent
from prowess.agent.scripted import ScriptedModel
from prowess.tools.builtin import builtin_tools

async def main(skill, count):
    for _ in range(int(count)):
        with tempfile.TemporaryDirectory() as place:
            tools = builtin_tools("", workspace=place, write=True)
            agent = Agent(
                ScriptedModel(["You owe 12.50."]), catalog=Catalog(skill, index=False), workspace=place, tools=tools
            )
            ran = await agent.run("What do I owe?")
            if "12.50" not in ran.text:
                sys.exit(3)

anyio.run(main, *sys.argv[1:])
"""
_PYTEST = """
import importlib.metadata, sys
found, kept = importlib.metadata.distributions, sys.argv.pop(1)

def distributions(**how):
    for one in found(**how):
        if one.metadata["Name"] == kept or not any(entry.group == "pytest11" for entry in one.entry_points):
            yield one

importlib.metadata.distributions = distributions
import pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[1]])
was_loaded = "prowess.evals.pytest_plugin" in sys.modules
sys.exit(code if was_loaded is (kept == "prowess") and not code else 3)
"""


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes in turns; the corpora are not used."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-scenarios-") as place:
        skill, test = _written(Path(place))
        python = [sys.executable, "-c"]
        commands = {
            "test": Command(arguments=[*python, _TEST, skill, str(_CASES)]),
            "runs": Command(arguments=[*python, _RUNS, skill, str(_CASES)]),
        }
        if entry_points(group="pytest11", name="prowess"):
            commands |= {
                "plugin": Command(arguments=[*python, _PYTEST, "prowess", test], directory=place),
                "plain": Command(arguments=[*python, _PYTEST, "no plugin", test], directory=place),
            }
        times = spent(commands, rounds)
    return [
        Figure(
            name=f"{_CASES} cases of `prowess test`, against the same runs of an agent",
            value=times["test"].processor / times["runs"].processor,
            at_most=1.5,
            note="processor time of whole processes, scripted answers, a workspace for each: "
            + beside(times["test"], "the agent", times["runs"]),
        ),
        _of_plugin(times),
    ]


def _of_plugin(times: Mapping[str, Spent]) -> Figure:
    known = "plugin" in times
    note = "this environment has an older installation of Prowess, without the plugin; install it again"
    if known:
        note = f"processor time of whole processes: {beside(times['plugin'], 'without', times['plain'])}"
    return Figure(
        name="`pytest` with one empty test and the unused plugin, against `pytest` without it",
        value=times["plugin"].processor / times["plain"].processor if known else None,
        at_most=1.02,
        note=note,
    )


def _written(place: Path) -> tuple[str, str]:
    """Write a skill with its cases and a file with one empty test, and return their paths."""
    skill = place / "ledger"
    (skill / "evals").mkdir(parents=True)
    front = "---\nname: ledger\ndescription: Sums up a ledger. Use for sums.\n---\n"
    (skill / "SKILL.md").write_text(f"{front}Name the sum.\n", encoding="utf-8")
    one = {"input": "What do I owe?", "turns": [{"text": "You owe 12.50."}]}
    assertions = [{"type": "contains", "value": "12.50"}]
    cases = [{"case": f"case {number}", **one, "assertions": assertions} for number in range(_CASES)]
    (skill / "evals" / "tests.yaml").write_text(json.dumps({"cases": cases}), encoding="utf-8")
    test = place / "test_nothing.py"
    test.write_text("def test_nothing() -> None:\n    pass\n", encoding="utf-8")
    return os.fspath(skill), os.fspath(test)
