"""Compare our commands with the reference tool's, byte for byte, over a folder of skills.

    python -m tools.compare_with_reference FOLDER --reference /path/to/venv/bin/agentskills [--pinned [LIST]]

For each skill in FOLDER, `validate`, `read-properties` and `to-prompt` run with both tools as processes of their own;
standard output, standard error and exit code must be equal. `--pinned` takes the list of public skills, of which
`python -m tools.public_skills build FOLDER` made FOLDER; a skill whose files differ from the list is refused. The table
at the end counts equal and different answers; each difference is shown whole.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from tools import public_skills

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
    parser.add_argument("--pinned", type=Path, nargs="?", const=public_skills.LIST, help="the list of public skills")
    parser.add_argument("--report", type=Path, help="write every difference to this JSON file")
    options = parser.parse_args(arguments)
    skills = pinned_skills(options.folder, options.pinned) if options.pinned else all_skills(options.folder)
    ours, theirs = shlex.split(options.ours), shlex.split(options.reference)
    jobs = [(command, skill) for skill in skills for command in COMMANDS]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = list(pool.map(lambda job: compare(*job, ours=ours, theirs=theirs), jobs))
    _print_table(found, skills, options.folder)
    if options.report:
        differences = [{"verdict": item.verdict, **asdict(item)} for item in found if item.verdict != "equal"]
        options.report.write_text(json.dumps(differences, indent=1, ensure_ascii=False), encoding="utf-8")
    return int(any(item.verdict == "different" for item in found))


def all_skills(folder: Path) -> list[Path]:
    """Every directory below `folder` that holds a SKILL.md or skill.md, sorted."""
    return sorted({path.parent for name in ("SKILL.md", "skill.md") for path in folder.rglob(name)})


def pinned_skills(folder: Path, pinned: Path) -> list[Path]:
    """The skills of the list, each with the files that the list names."""
    sources = public_skills.pinned(pinned)
    different = public_skills.verify(folder, sources)
    if different:
        raise SystemExit(f"not the skills of the list: {', '.join(different)}")
    return public_skills.skill_directories(folder, sources)


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


def _print_table(found: list[Comparison], skills: list[Path], folder: Path) -> None:
    for item in found:
        if item.verdict == "different":
            print(f"--- {item.command} {item.skill}\n  ours   {item.ours}\n  theirs {item.theirs}")
    verdicts = ("equal", "detail", "different")
    rows: dict[str, list[str]] = {}
    for item in found:
        source = "/".join(Path(item.skill).relative_to(folder).parts[:2])
        rows.setdefault(source, []).append(item.verdict)
        rows.setdefault(f"all {item.command}", []).append(item.verdict)
    print(f"{len(skills)} skills\n{'':<48}" + "".join(f" {verdict:>10}" for verdict in verdicts))
    for name, given in sorted(rows.items(), key=lambda row: (row[0].startswith("all "), row[0])):
        print(f"{name:<48}" + "".join(f" {given.count(verdict):>10}" for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
