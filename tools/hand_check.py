"""A check by hand: findings drawn by a fixed seed, judged by two readers who do not see each other's verdicts.

    python -m tools.hand_check FOLDER draw PAGE [--seed 20] [--count 100]
    python -m tools.hand_check FOLDER record VERDICTS VERDICTS
    python -m tools.hand_check FOLDER count

`draw` runs `prowess check` over the skills that `python -m tools.public_skills build FOLDER` put into FOLDER, draws
from its errors and warnings, and writes two files: tests/compat/hand-check.json, which holds for each finding an id,
its place and its message, and PAGE, which shows each with what stands around it. A reader judges with PAGE and FOLDER
alone and writes a JSON object: id -> {"verdict": "true" | "false", "why": "..."}. True is: the skill has this fault, at
this place, and the sentence says what is so; whether the rule is worth having is not asked. `record` takes the files of
both readers into the list; `count` shows what a reader calls false, and exits with 1 above two in a hundred.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from tools import public_skills
from tools.peers.linters import Said, prowess

LIST = Path(__file__).resolve().parent.parent / "tests" / "compat" / "hand-check.json"

_ABOUT = "Findings on public skills, drawn by a seed and judged by two readers apart. See tools/hand_check.py."
_VERDICTS = ("true", "false")
_AROUND = 4  # lines before and after
_WIDEST = 400
_MOST_FILES = 60
_MOST_FALSE = 0.02


def finding_id(said: Said) -> str:
    """The id of a finding: twelve hexadecimal digits of the SHA-256 of what it says and where."""
    text = "\n".join((said.skill, said.rule, said.severity, said.file, str(said.line), said.message))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def drawn(said: list[Said], *, seed: int, count: int) -> list[tuple[str, Said]]:
    """Draw from the errors and warnings; the same findings and seed give the same draw, whatever their order."""
    by_id = {finding_id(one): one for one in said if one.severity in {"error", "warning"}}
    ids = random.Random(seed).sample(  # noqa: S311 -- a draw that can be repeated, no secret
        sorted(by_id), min(count, len(by_id))
    )
    return [(one, by_id[one]) for one in ids]


def write_draw(draw: list[tuple[str, Said]], *, seed: int, population: int, path: Path = LIST) -> None:
    """Write the list without verdicts."""
    findings: list[dict[str, Any]] = [
        {
            "id": name,
            "skill": said.skill,
            "rule": said.rule,
            "severity": said.severity,
            "line": said.line,
            "message": said.message,
        }
        for name, said in draw
    ]
    _write({"about": _ABOUT, "seed": seed, "drawn_from": population, "findings": findings}, path)


def reading_page(draw: list[tuple[str, Said]], folder: Path) -> str:
    """What a reader gets: each finding, the lines around it, and the files of the skill."""
    parts = []
    for number, (name, said) in enumerate(draw, 1):
        parts.append(
            f"## {number}. {name}\n\n{said.severity} `{said.rule}` at {said.file}:{said.line}\n\n{said.message}\n"
        )
        lines = (folder / said.file).read_bytes().decode("utf-8", "replace").splitlines() if said.file else []
        first = max(said.line - 1 - _AROUND, 0)
        shown = [
            f"{'>' if at == said.line - 1 else ' '} {at + 1:5} {lines[at][:_WIDEST]}"
            for at in range(first, min(said.line + _AROUND, len(lines)))
        ]
        parts.append("~~~~text\n" + "\n".join(shown) + "\n~~~~\n")
        files = sorted(public_skills.files_on_disk(folder / said.skill))
        listed = ", ".join(files[:_MOST_FILES]) + (
            f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        )
        parts.append(f"Files: {listed}\n")
    return "\n".join(parts)


def record(readers: list[Path], path: Path = LIST) -> None:
    """Take the verdicts of both readers into the list."""
    data = json.loads(path.read_text(encoding="utf-8"))
    judged = [json.loads(reader.read_text(encoding="utf-8")) for reader in readers]
    for entry in data["findings"]:
        entry["verdicts"] = []
        for verdicts in judged:
            verdict = verdicts[entry["id"]]
            if verdict["verdict"] not in _VERDICTS:
                raise SystemExit(f"{entry['id']}: a verdict is true or false, not {verdict['verdict']!r}")
            entry["verdicts"].append({"verdict": verdict["verdict"], "why": verdict["why"]})
    _write(data, path)


def false_findings(path: Path = LIST) -> tuple[list[dict[str, Any]], int]:
    """The findings that at least one reader calls false, and how many were judged."""
    findings = json.loads(path.read_text(encoding="utf-8"))["findings"]
    judged = [entry for entry in findings if entry.get("verdicts")]
    return [entry for entry in judged if any(one["verdict"] == "false" for one in entry["verdicts"])], len(judged)


def _write(data: dict[str, Any], path: Path) -> None:
    findings = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in data["findings"])
    head = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in data.items() if key != "findings")
    path.write_text(f'{{{head}, "findings": [\n{findings}\n]}}\n', encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run one of the three commands."""
    parser = argparse.ArgumentParser(prog="python -m tools.hand_check", description="Findings judged by hand.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", choices=("draw", "record", "count"))
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args(arguments)
    if options.command == "draw":
        sources = public_skills.pinned()
        if different := public_skills.verify(options.folder, sources):
            raise SystemExit(f"not the skills of the list: {', '.join(different[:5])}")
        skills = public_skills.skill_directories(options.folder.resolve(), sources)
        said = prowess(Path(sys.executable).parent, options.folder.resolve(), skills).said
        draw = drawn(said, seed=options.seed, count=options.count)
        population = len({finding_id(one) for one in said if one.severity in {"error", "warning"}})
        write_draw(draw, seed=options.seed, population=population)
        (page,) = options.files
        page.write_text(reading_page(draw, options.folder), encoding="utf-8")
        print(f"{len(draw)} of {population} errors and warnings, for readers in {os.fspath(page)}")
    elif options.command == "record":
        record(options.files)
    else:
        wrong, judged = false_findings()
        for entry in wrong:
            print(entry["id"], entry["rule"], entry["skill"], *(one["why"] for one in entry["verdicts"]), sep="\n  ")
        print(f"{len(wrong)} of {judged} are false to at least one reader")
        return int(len(wrong) > _MOST_FALSE * judged)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
