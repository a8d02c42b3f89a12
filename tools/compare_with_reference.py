"""Compare our commands with the reference tool's, byte for byte, over a folder of skills.

    python tools/compare_with_reference.py FOLDER --reference /path/to/venv/bin/agentskills [--pinned FILE]

For each skill in FOLDER, `validate`, `read-properties` and `to-prompt` run with both tools as processes of their own;
standard output, standard error and exit code must be equal. `--pinned` takes the list of public skills (repository,
commit, path, sha256 of SKILL.md): FOLDER then holds one directory OWNER/NAME for each repository, and a file whose
digest differs is refused. The table at the end counts equal and different answers; each difference is shown whole.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

COMMANDS = ("validate", "read-properties", "to-prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call of one tool gave."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both answers to one command on one skill."""

    command: str
    skill: str
    ours: Answer
    theirs: Answer

    @property
    def verdict(self) -> str:
        """`equal`, or what differs: `detail` is only the text after `Invalid YAML in frontmatter: `."""
        if self.ours == self.theirs:
            return "equal"
        cut = Answer(exit_code=self.theirs.exit_code, stdout=self.theirs.stdout, stderr=_cut(self.theirs.stderr))
        ours = Answer(exit_code=self.ours.exit_code, stdout=self.ours.stdout, stderr=_cut(self.ours.stderr))
        return "detail" if ours == cut else "different"


def main(arguments: list[str]) -> int:
    """Compare; return 1 if anything but the detail of a YAML fault differs."""
    parser = argparse.ArgumentParser(description="Compare our commands with the reference tool's.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reference", required=True, help="the reference tool's command")
    parser.add_argument("--ours", default=f"{sys.executable} -m prowess", help="our command")
    parser.add_argument("--pinned", type=Path, help="the list of public skills")
    parser.add_argument("--report", type=Path, help="write every difference to this JSON file")
    options = parser.parse_args(arguments)
    skills = pinned_skills(options.folder, options.pinned) if options.pinned else all_skills(options.folder)
    ours, theirs = shlex.split(options.ours), shlex.split(options.reference)
    jobs = [(command, skill) for skill in skills for command in COMMANDS]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = list(pool.map(lambda job: compare(*job, ours=ours, theirs=theirs), jobs))
    _print_table(found, skills)
    if options.report:
        differences = [{"verdict": item.verdict, **asdict(item)} for item in found if item.verdict != "equal"]
        options.report.write_text(json.dumps(differences, indent=1, ensure_ascii=False), encoding="utf-8")
    return int(any(item.verdict == "different" for item in found))


def all_skills(folder: Path) -> list[Path]:
    """Every directory below `folder` that holds a SKILL.md or skill.md, sorted."""
    return sorted({path.parent for name in ("SKILL.md", "skill.md") for path in folder.rglob(name)})


def pinned_skills(folder: Path, pinned: Path) -> list[Path]:
    """The skills of the list, each with the bytes that the list names."""
    skills = []
    for entry in json.loads(pinned.read_text(encoding="utf-8"))["skills"]:
        path = folder / entry["repository"] / entry["path"]
        if hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
            raise SystemExit(f"{path} is not the file of commit {entry['commit']}")
        skills.append(path.parent)
    return skills


def compare(command: str, skill: Path, *, ours: list[str], theirs: list[str]) -> Comparison:
    """Run one command with both tools."""
    return Comparison(
        command=command,
        skill=str(skill),
        ours=_run([*ours, command, str(skill)]),
        theirs=_run([*theirs, command, str(skill)]),
    )


def _run(command: list[str]) -> Answer:
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return Answer(
        exit_code=done.returncode,
        stdout=done.stdout.decode("utf-8", "backslashreplace"),
        stderr=done.stderr.decode("utf-8", "backslashreplace"),
    )


def _cut(text: str) -> str:
    head, marker, _ = text.partition("Invalid YAML in frontmatter: ")
    return head + marker


def _print_table(found: list[Comparison], skills: list[Path]) -> None:
    for item in found:
        if item.verdict == "different":
            print(f"--- {item.command} {item.skill}\n  ours   {item.ours}\n  theirs {item.theirs}")
    verdicts = ("equal", "detail", "different")
    print(f"{len(skills)} skills\n{'command':<16}" + "".join(f" {verdict:>10}" for verdict in verdicts))
    for command in COMMANDS:
        given = [item.verdict for item in found if item.command == command]
        print(f"{command:<16}" + "".join(f" {given.count(verdict):>10}" for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
