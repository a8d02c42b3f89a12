"""`prowess test` beside the same runs of an agent."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Command, Figure, beside, spent

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes in turns; the corpora are not used."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-scenarios-") as place:
        skill = _written(Path(place))
        python = [sys.executable, "-c"]
        commands = {
            "test": Command(arguments=[*python, _TEST, skill, str(_CASES)]),
            "runs": Command(arguments=[*python, _RUNS, skill, str(_CASES)]),
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
    ]


def _written(place: Path) -> str:
    """Write a skill with its cases, and return its path."""
    skill = place / "ledger"
    (skill / "evals").mkdir(parents=True)
    front = "---\nname: ledger\ndescription: Sums up a ledger. Use for sums.\n---\n"
    (skill / "SKILL.md").write_text(f"{front}Name the sum.\n", encoding="utf-8")
    one = {"input": "What do I owe?", "turns": [{"text": "You owe 12.50."}]}
    assertions = [{"type": "contains", "value": "12.50"}]
    cases = [{"case": f"case {number}", **one, "assertions": assertions} for number in range(_CASES)]
    (skill / "evals" / "tests.yaml").write_text(json.dumps({"cases": cases}), encoding="utf-8")
    return os.fspath(skill)
