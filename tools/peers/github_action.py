"""Run the steps of action.yml as a runner does: bash, inputs as variables, files for PATH and output, an empty home.

python tools/peers/github_action.py FOLDER     FOLDER is emptied; what is run is the last commit
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

_ROOT = Path(__file__).parents[2]
_GOOD = "---\nname: good\ndescription: Reads tables. Use when the user has a table.\n---\n# Read\n\nRead it.\n"


class Runner:
    """One job: its folders, and what its steps leave for later ones."""

    def __init__(self, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        self.work, self.action = place / "work", place / "action"
        for name in ("work", "action", "temp", "home"):
            (place / name).mkdir(parents=True)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=_ROOT, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "x"], cwd=self.action, input=archive, check=True)
        self.path = place / "GITHUB_PATH"
        self.path.touch()
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
        self.environment = kept | {
            "HOME": str(place / "home"),
            "PATH": os.defpath if shutil.which("python3", path=os.defpath) else os.environ["PATH"],
            "RUNNER_TEMP": str(place / "temp"),
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_WORKSPACE": str(self.work),
            "GITHUB_PATH": str(self.path),
            "GITHUB_OUTPUT": str(place / "GITHUB_OUTPUT"),
            "GITHUB_ACTIONS": "true",
            "CI": "true",
        }

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the text of one step."""
        added = reversed(self.path.read_text().split("\n"))
        path = os.pathsep.join([*(one for one in added if one), self.environment["PATH"]])
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.work, env={**self.environment, **variables, "PATH": path},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=240,
        )  # fmt: skip

    def use(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the steps of the action up to the first that fails; return what the last one said."""
        action: dict[str, Any] = yaml.safe_load((self.action / "action.yml").read_text())
        given = {name: inputs.get(name, str(known["default"])) for name, known in action["inputs"].items()}
        ran = None
        for step in action["runs"]["steps"]:
            named = {name: text.split("inputs.")[1].split()[0] for name, text in step.get("env", {}).items()}
            ran = self.run(step["run"], **{name: given[one] for name, one in named.items()})
            if ran.returncode:
                break
        assert ran is not None
        return ran


def main(place: Path) -> int:
    """Return 0 where the action annotates, fails and passes as its inputs say, and leaves the job its own Python."""
    runner = Runner(place)
    (runner.work / "skills" / "good").mkdir(parents=True)
    (runner.work / "skills" / "good" / "SKILL.md").write_text(_GOOD)
    (runner.work / "skills" / "no good").mkdir()
    (runner.work / "skills" / "no good" / "SKILL.md").write_text("---\nname: bad\n---\n")
    python = runner.run("command -v python3 pip3").stdout
    all_ = runner.use(paths="skills", sarif="out.sarif")
    good = runner.use(paths="\nskills/good\n")
    found = {
        "it fails where a skill is wrong": all_.returncode == 1,
        "it annotates the line": "::error file=skills/no good/SKILL.md,line=2," in all_.stdout,
        "it writes SARIF": json.loads((runner.work / "out.sarif").read_text())["version"] == "2.1.0",
        "it passes where none is wrong": (good.returncode, good.stderr) == (0, ""),
        "later steps have the command": runner.run("prowess --version").stdout.startswith("prowess"),
        "later steps have their own Python": runner.run("command -v python3 pip3").stdout == python,
    }
    for what, holds in found.items():
        print(f"{'yes' if holds else 'NO '} {what}")
    if not all(found.values()):
        print(all_.stdout, all_.stderr, good.stdout, good.stderr)
    return int(not all(found.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
