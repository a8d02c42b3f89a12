"""Which cases of a public plugin would notice a gutted skill? Asks `prowess eval ablate`, with a scripted model.

    python -m tools.ablate_cases PLUGIN [--noise 0.05] [--seed 1] [--by file|section]

PLUGIN is `plugins/yara-authoring` in a copy of github.com/trailofbits/skills. Nothing of it is in this project. Its
authors deleted guidance of the skill and ran their cases with a real model: two of three scored as before, and the
third, which asks for the codes of the plugin's own linter, fell. The model here is a script that behaves as they
measured: it knows how to write both rules as soon as any skill is loaded, and it names codes of the linter only if what
it read names the program. So this shows whether the ablation finds from runs which case notices; the behaviour itself
is taken from their figures. With `--noise` an answer is empty with this probability. Assertions for a judge are left
out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.evals.campaigns.provider import MODEL, ScriptedProvider, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evals.campaigns.provider import Answer, Request

_FILE = re.compile(r"`([\w.-]+\.yar)`")
_PROGRAM = "yara_lint"
_CODE = "E002"


def main() -> int:
    """Print the report's figures as JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("plugin", type=Path)
    options.add_argument("--noise", type=float, default=0.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--by", choices=["file", "section"], default="file")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="ablate-cases-") as place:
        (found,) = (given.plugin / "skills").iterdir()
        skill = Path(place, found.name)
        shutil.copytree(found, skill)
        shutil.copytree(given.plugin / "evals", skill / "evals")
        with ScriptedProvider(_model(given.noise, given.seed)) as provider:
            report = _ablated(provider, skill, "--by", given.by, "--runs", str(given.runs))
            paid = len(provider.requests)
    print(json.dumps(_figures(report, paid), indent=2))
    return 0


def _ablated(provider: ScriptedProvider, skill: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "prowess", "eval", "ablate", str(skill), "--model", MODEL, *words]
    done = subprocess.run(
        [*command, "--judge", "none", "--jobs", "1", "--json"],
        env={**os.environ, **provider.environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _figures(report: dict[str, Any], paid: int) -> dict[str, Any]:
    kept = ("path", "line", "end_line", "verdict", "delta", "low", "high", "runs")
    needed = [unit for unit in report["units"] if unit["verdict"] != "no_effect"]
    return {
        "cases": report["evals"],
        "removals": len(report["units"]),
        "needed or unsure": [{name: unit[name] for name in kept} for unit in needed],
        "say nothing": sorted({name.split(":")[0] for name in report["without_verdict"]}),
        "calls": paid,
    }


def _model(noise: float, seed: int) -> Callable[[Request], Answer]:
    """Return a model: it loads the skill, writes the file that the task names, and answers."""
    draw = random.Random(seed)  # noqa: S311 -- noise that can be repeated

    def answer(request: Request) -> Answer:
        messages, read = request["messages"], text_of(request)
        task = next(str(message["content"]) for message in messages if message["role"] == "user")
        turn = sum(message["role"] == "assistant" for message in messages)
        if turn == 0:
            return [("skills_load", {"names": ["yara-rule-authoring"]})]
        name = _FILE.search(task)
        if turn == 1 and name is not None:
            return [("Write", {"file_path": name[1], "content": "" if draw.random() < noise else _rule(task)})]
        if name is not None:
            return "The rule is written."
        return "It is too loose." if _PROGRAM not in read or draw.random() < noise else f"It is too loose ({_CODE})."

    return answer


def _rule(task: str) -> str:
    """Return the rule that a model writes which knows the subject: from words and numbers of the task alone."""
    numbers = re.findall(r"uint32\(0\) == 0x([0-9A-F]{8})", task)
    if numbers:  # little-endian reads: the bytes in the other order
        turned = [bytes.fromhex(number)[::-1].hex().upper() for number in numbers]
        return "condition:\n" + " or\n".join(f"uint32(0) == 0x{number}" for number in turned) + "\n"
    unique = [line for line in task.splitlines() if re.search(r"Mtx|\.pdb$|/beacon/", line)]
    strings = "\n".join(f"$s{number} = {json.dumps(line)}" for number, line in enumerate(unique))
    return f"strings:\n{strings}\ncondition:\nuint16(0) == 0x5A4D and\nfilesize < 2MB and any of them\n"


if __name__ == "__main__":
    sys.exit(main())
