#!/usr/bin/env python3
"""Print what a skill costs in context, step by step: always, when loaded, when read.

The estimate is one token for four characters, rounded up. Standard library only, nothing is written.

Exit codes: 0 printed, 1 not a skill folder, 2 wrong command line,
3 the body or the description is over the usual bound.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

MAX_BODY_TOKENS = 5000
MAX_DESCRIPTION = 1024
MAX_FILES = 200


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        description="Print what a skill costs in context.", epilog="Example: cost.py skills/csv-report"
    )
    parser.add_argument("folder", help="the folder that holds SKILL.md")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    folder = Path(options.folder)
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        sys.stderr.write(f"cost.py: {folder} is not a skill folder: {fault}\n")
        return 1
    parts = re.match(r"---[ \t]*\r?\n(.*?)^---[ \t]*$\r?\n?(.*)", text, re.DOTALL | re.MULTILINE)
    if parts is None:
        sys.stderr.write(f"cost.py: {folder}/SKILL.md has no front matter between two lines of ---\n")
        return 1
    front = _always(parts[1])
    rows = [("always", "name and description", len(front)), ("when loaded", "body", len(parts[2].strip()))]
    rows += [(_step(path), path.relative_to(folder).as_posix(), _size(path)) for path in _files(folder)]
    if options.json:
        print(
            json.dumps(
                [
                    {"step": step, "what": what, "characters": size, "tokens": _tokens(step, size)}
                    for step, what, size in rows
                ],
                indent=2,
            )
        )
    else:
        _print(rows)
    return 3 if _tokens("", rows[1][2]) > MAX_BODY_TOKENS or len(front) > MAX_DESCRIPTION else 0


def _always(front_matter: str) -> str:
    """Return the text of name and description; folded lines are joined."""
    found = dict(re.findall(r"^(name|description):[ \t]*(.*(?:\n[ \t]+.*)*)", front_matter, re.MULTILINE))
    return " ".join(
        re.sub(r"\A[>|][+-]?\s", "", value).strip().strip("\"'") for value in found.values() if value
    ).replace("\n  ", " ")


def _files(folder: Path) -> list[Path]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        found += [Path(place, name) for name in sorted(names) if name != "SKILL.md" and not name.startswith(".")]
    return found[:MAX_FILES]


def _step(path: Path) -> str:
    return "never" if path.parent.name == "scripts" else "when read"


def _size(path: Path) -> int:
    return len(path.read_bytes().decode("utf-8", "replace"))


def _tokens(step: str, size: int) -> int:
    return 0 if step == "never" else -(-size // 4)


def _print(rows: list[tuple[str, str, int]]) -> None:
    width = max(len(what) for _, what, _ in rows) + 2
    print(f"{'step'.ljust(13)} {'what'.ljust(width)}  characters  tokens (estimate)")
    for step, what, size in rows:
        print(f"{step.ljust(13)} {what.ljust(width)}  {size:>10}  {_tokens(step, size):>17}")


if __name__ == "__main__":
    sys.exit(main())
