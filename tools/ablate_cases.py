"""Which cases of a public plugin would notice a gutted skill? Asks `prowess eval ablate`, with a scripted model.

    python -m tools.ablate_cases PLUGIN [--noise 0.05] [--seed 1] [--by file|section] [--claude]

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
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prowess.evals.hosts.claude import CLAUDE
from tests.evals.campaigns.provider import MODEL, ScriptedProvider, text_of
from tools.hosts.calls import shell_call
from tools.hosts.capture import PROGRAMS, is_loopback_alone
from tools.hosts.scripted_provider import ScriptedProvider as ProviderOfHosts
from tools.hosts.wire_forms import ScriptedCall, Turn

if TYPE_CHECKING:
    from tests.evals.campaigns.provider import Answer, Request
    from tools.hosts.wire_forms import Conversation

SKILL = "yara-rule-authoring"

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
    options.add_argument("--claude", action="store_true")
    given = options.parse_args()
    if given.claude and not is_loopback_alone():
        raise SystemExit("this machine has a network: run it under unshare -n")
    with tempfile.TemporaryDirectory(prefix="ablate-cases-") as place:
        (found,) = (given.plugin / "skills").iterdir()
        skill = Path(place, found.name)
        shutil.copytree(found, skill)
        shutil.copytree(given.plugin / "evals", skill / "evals")
        words = (skill, "--by", given.by, "--runs", str(given.runs))
        model = _Model(given.noise, given.seed)
        if given.claude:
            with _ProviderOfClaude(model) as host:
                report, paid = _ablated(_with_claude(Path(place), host.url), *words, "--host", "claude"), host.paid
        else:
            with ScriptedProvider(model.answer) as provider:
                report = _ablated(provider.environment, *words, "--model", MODEL)
                paid = len(provider.requests)
    print(json.dumps(_figures(report, paid), indent=2))
    return 0


def _with_claude(place: Path, address: str) -> dict[str, str]:
    """Put Claude Code on the path, and return the variables of a process that uses it."""
    program = place / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAMS["claude"])} "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    return {"PATH": path, CLAUDE.upstream_variable: address, CLAUDE.credentials[0]: "key-scripted-0000"}


def _ablated(variables: dict[str, str], skill: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "prowess", "eval", "ablate", str(skill), *words]
    done = subprocess.run(
        [*command, "--judge", "none", "--jobs", "1", "--json"],
        env={**os.environ, **variables}, capture_output=True, text=True, check=False,
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
        "say nothing": report["without_verdict"],
        "calls": paid,
    }


class _Model:
    """Loads the skill, writes the file that the task names, and answers."""

    def __init__(self, noise: float, seed: int) -> None:
        self._noise, self._draw = noise, random.Random(seed)  # noqa: S311 -- noise that can be repeated

    def answer(self, request: Request) -> Answer:
        """Answer our agent."""
        messages = request["messages"]
        task = next(str(message["content"]) for message in messages if message["role"] == "user")
        turn = self.turn(task, text_of(request), sum(message["role"] == "assistant" for message in messages))
        return self._called(turn)

    def turn(self, task: str, read: str, number: int) -> str | dict[str, str]:
        """Return an answer, or what is written to which file. At first the skill is loaded: `SKILL.md` and nothing."""
        if number == 0:
            return {"SKILL.md": ""}
        forgets = self._draw.random() < self._noise
        name = _FILE.search(task)
        if name is None:
            return "It is too loose." if _PROGRAM not in read or forgets else f"It is too loose ({_CODE})."
        return {name[1]: "" if forgets else _rule(task)} if number == 1 else "The rule is written."

    def _called(self, turn: str | dict[str, str]) -> Answer:
        if isinstance(turn, str):
            return turn
        ((name, text),) = turn.items()
        if name == "SKILL.md":
            return [("skills_load", {"names": [SKILL]})]
        return [("Write", {"file_path": name, "content": text})]


class _ProviderOfClaude(ProviderOfHosts):
    """Answers Claude Code as the model says."""

    def __init__(self, model: _Model) -> None:
        super().__init__()
        self._model = model

    def answer(self, body: dict[str, Any], conversation: Conversation) -> Turn:
        """Return the turn: a call of the tools of Claude Code, or a text."""
        if not conversation.has_tools:
            return Turn(text="Noted.")
        read = json.dumps(body["messages"])
        task = body["messages"][0]["content"][-1]["text"]  # after the host's reminder
        said = self._model.turn(task, read, conversation.answered)
        if isinstance(said, str):
            return Turn(text=said)
        ((name, text),) = said.items()
        if name == "SKILL.md":
            return Turn(calls=(ScriptedCall(name="Skill", arguments={"skill": SKILL}),))
        return Turn(calls=(shell_call("claude", f"cat > {shlex.quote(name)} <<'END'\n{text}END"),))


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
