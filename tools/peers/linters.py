"""Other linters over public skills: how each is run, and what it said in one form.

A peer runs as a process of its own environment and says nothing to us but its report. `said` is one finding: the
skill, the peer's own rule, severity, file, line and message.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WAIT_SECONDS = 900

# The reference tool judges one skill a call; its library is asked for all of them in one process.
_REFERENCE = """
import json, sys
from pathlib import Path
from skills_ref.validator import validate
for line in sys.stdin:
    try:
        faults = validate(Path(line.rstrip("\\n")))
    except Exception as fault:
        faults = [f"{type(fault).__name__}: {fault}"]
    print(json.dumps([line.rstrip("\\n"), faults]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One finding of one tool. `line` is 0 where the tool gives none."""

    skill: str
    rule: str
    severity: str
    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one tool said about all skills, and what it took: wall time in seconds, and the runs that failed."""

    said: list[Said]
    seconds: float
    failed: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A linter of other people: its package, the Python it needs, and how it is run over skills."""

    package: str
    python: tuple[int, int]
    run: Callable[[Path, Path, list[Path]], Run]


def environment(peer: Peer, place: Path) -> Path:
    """Return the `bin` folder of an environment of the peer's own; made once. Raises as `installed` does."""
    return installed(peer.package, peer.python, place)


def installed(package: str, python: tuple[int, int], place: Path) -> Path:
    """Return the `bin` folder of an environment with this package, below `place`; made once.

    Raises:
        RuntimeError: no Python of this version, or the package cannot be installed; the text says why.
    """
    home = place / package.partition("==")[0]
    marker = home / "ready"
    if not marker.exists() or marker.read_text() != package:
        shutil.rmtree(home, ignore_errors=True)
        try:
            subprocess.run([_interpreter(python), "-m", "venv", home], check=True, capture_output=True)
            install: list[str | Path] = [
                home / "bin" / "python",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]
            install.append(package)
            subprocess.run(install, check=True, capture_output=True, timeout=WAIT_SECONDS)
        except subprocess.SubprocessError as fault:
            raise RuntimeError(f"{package} cannot be installed: {fault}") from None
        marker.write_text(package)
    return home / "bin"


def _interpreter(least: tuple[int, int]) -> str:
    candidates = [sys.executable, *(f"python3.{minor}" for minor in range(least[1], 20))]
    candidates += sorted(str(path) for path in Path.home().glob(".pyenv/versions/*/bin/python"))
    question = f"import sys; sys.exit(sys.version_info < {least})"
    for candidate in candidates:
        found = shutil.which(candidate)
        if found and subprocess.run([found, "-c", question], check=False, capture_output=True).returncode == 0:
            return found
    raise RuntimeError(f"needs Python {least[0]}.{least[1]} or later, and there is none on PATH or below ~/.pyenv")


def _json_of(command: Sequence[str | Path], folder: Path, failed: list[str], *, given: str = "") -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, input=given, capture_output=True, text=True, check=False, timeout=WAIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        failed.append(f"no end after {WAIT_SECONDS} s: {command[-1]}")
        return ""
    if not done.stdout:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        failed.append(f"{command[-1]}: {last[:300]}")
    return done.stdout


class _Owner:
    """Which skill a file belongs to: the innermost one whose directory holds it."""

    def __init__(self, folder: Path, skills: list[Path]) -> None:
        self._skills = {os.path.relpath(skill, folder) for skill in skills}

    def of(self, file: str) -> str | None:
        while file:
            if file in self._skills:
                return file
            file = os.path.dirname(file)
        return None


def agnix(binaries: Path, folder: Path, skills: list[Path]) -> Run:
    """Run agnix once over everything, with all its rules."""
    failed: list[str] = []
    began = time.perf_counter()
    command: list[str | Path] = [
        binaries / "agnix",
        "--format",
        "json",
        "--ignore-inline-suppressions",
        "--max-files",
        "0",
        ".",
    ]
    text = _json_of(command, folder, failed)
    owner = _Owner(folder, skills)
    said = []
    for entry in json.loads(text or '{"diagnostics": []}')["diagnostics"]:
        skill = owner.of(os.path.dirname(entry["file"]))
        if skill is not None:
            said.append(
                Said(
                    skill=skill,
                    rule=entry["rule"],
                    severity=entry["level"],
                    file=entry["file"],
                    line=entry["line"],
                    message=entry["message"],
                )
            )
    return Run(said=said, seconds=time.perf_counter() - began, failed=failed)


def skillsaw(binaries: Path, folder: Path, skills: list[Path]) -> Run:
    """Run skillsaw over the skills of one source at a time, its infos too."""
    failed: list[str] = []
    said: list[Said] = []
    owner = _Owner(folder, skills)
    began = time.perf_counter()
    for directories in _by_source(folder, skills):
        root = os.path.commonpath(directories)
        options: list[str] = ["--type", "agentskills", "--no-custom-rules", "--no-progress", "--no-baseline", "-v"]
        text = _json_of([binaries / "skillsaw", "lint", *options, "--format", "json", *directories], folder, failed)
        for entry in json.loads(text or '{"violations": []}')["violations"]:
            file = os.path.relpath(os.path.normpath(os.path.join(root, entry["file_path"] or "")), folder)
            skill = owner.of(file) or owner.of(os.path.dirname(file))
            if skill is not None:
                said.append(
                    Said(
                        skill=skill,
                        rule=entry["rule_id"],
                        severity=entry["severity"],
                        file=file,
                        line=entry["line"] or 0,
                        message=entry["message"],
                    )
                )
    return Run(said=said, seconds=time.perf_counter() - began, failed=failed)


def agentskills_tools(binaries: Path, folder: Path, skills: list[Path]) -> Run:
    """Run `validate` and `lint` over each folder that holds skills."""
    failed: list[str] = []
    said: dict[tuple[str, str, str, int], Said] = {}
    owner = _Owner(folder, skills)
    began = time.perf_counter()
    for command in ("validate", "lint"):
        for parent in sorted({str(skill.parent) for skill in skills}):
            text = _json_of([binaries / "agentskills", command, "--format", "json", parent], folder, failed)
            for entry in json.loads(text or '{"skills": []}')["skills"]:
                skill = owner.of(os.path.relpath(entry["path"], folder))
                for found in entry["findings"] if skill else ():
                    file = os.path.relpath(found["file"] or entry["path"], folder)
                    one = Said(
                        skill=skill or "",
                        rule=found["code"],
                        severity=found["severity"],
                        file=file,
                        line=found["line"] or 0,
                        message=found["message"],
                    )
                    said[one.skill, one.rule, one.message, one.line] = one
    return Run(said=list(said.values()), seconds=time.perf_counter() - began, failed=failed)


def skills_ref(binaries: Path, folder: Path, skills: list[Path]) -> Run:
    """Ask the reference library about every skill in one process."""
    failed: list[str] = []
    began = time.perf_counter()
    given = "".join(f"{skill}\n" for skill in skills)
    text = _json_of([binaries / "python", "-c", _REFERENCE], folder, failed, given=given)
    said = []
    for line in text.splitlines():
        path, faults = json.loads(line)
        skill = os.path.relpath(path, folder)
        said += [
            Said(skill=skill, rule="validate", severity="error", file=f"{skill}/SKILL.md", line=0, message=fault)
            for fault in faults
        ]
    return Run(said=said, seconds=time.perf_counter() - began, failed=failed)


def _by_source(folder: Path, skills: list[Path]) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for skill in skills:
        groups.setdefault(skill.relative_to(folder).parts[:2], []).append(str(skill))
    return list(groups.values())


def prowess(binaries: Path, folder: Path, skills: list[Path]) -> Run:
    """Run `prowess check` over the skills of one source at a time; `binaries` is our own environment's."""
    failed: list[str] = []
    said = []
    owner = _Owner(folder, skills)
    began = time.perf_counter()
    for directories in _by_source(folder, skills):
        text = _json_of([binaries / "prowess", "check", "--json", "--isolated", *directories], folder, failed)
        report = json.loads(text or '{"diagnostics": []}')
        for entry in report["diagnostics"]:
            file = os.path.relpath(os.path.join(folder, entry["path"]), folder)
            said.append(
                Said(
                    skill=owner.of(os.path.dirname(file)) or os.path.dirname(file),
                    rule=entry["rule"],
                    severity=entry["severity"],
                    file=file,
                    line=entry["line"],
                    message=entry["message"],
                )
            )
    return Run(said=said, seconds=time.perf_counter() - began, failed=failed)


PEERS = {
    "agnix": Peer(package="agnix==0.59.3", python=(3, 11), run=agnix),
    "skillsaw": Peer(package="skillsaw==0.22.0", python=(3, 11), run=skillsaw),
    "agentskills-tools": Peer(package="agentskills-tools==0.7.0", python=(3, 12), run=agentskills_tools),
    "skills-ref": Peer(package="skills-ref==0.1.1", python=(3, 11), run=skills_ref),
}
