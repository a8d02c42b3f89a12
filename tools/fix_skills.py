"""Put `prowess check --fix` to public skills, and see that it changes nothing that it does not announce.

    python -m tools.fix_skills FOLDER [--unsafe-fixes]

FOLDER is what `python -m tools.public_skills build FOLDER` made; it is copied, and the copy is fixed by the command
line as anybody would, twice. What was changed is then read by a YAML library alone, with every value as a text. A value
may stand under `metadata` afterwards, a list of tools may become a text, a missing name may be that of the directory;
below the frontmatter the case of letters may differ, for that of a file; with `--unsafe-fixes` a wrong name too becomes
that of the directory, and whole lines may differ. No other value may be different, new
or gone, and the second run must change nothing. Exits with 1 where any of this is not so.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_FRONTMATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BETWEEN_TOOLS = re.compile(r"[\s,]+")


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How many files were changed, by kind, and what is wrong: a line for each file and value."""

    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def judge(before: dict[Path, bytes], once: dict[Path, bytes], twice: dict[Path, bytes], *, unsafe: bool) -> Outcome:
    """Compare the files before, after one run and after two."""
    outcome = Outcome()
    for path, old in before.items():
        new = once[path]
        if twice[path] != new:
            outcome.wrong.append(f"{path}: the second run changed it")
        if new == old:
            outcome.kinds["left as they are"] += 1
            continue
        kind, faults = compare(old, new, path.parent.name, unsafe=unsafe)
        outcome.kinds[kind] += 1
        outcome.wrong += [f"{path}: {fault}" for fault in faults]
    return outcome


def compare(old: bytes, new: bytes, directory: str, *, unsafe: bool) -> tuple[str, list[str]]:
    """Return what kind of change it is, and what it should not have done."""
    (values, body), (after, body_after) = _read(old), _read(new)
    faults = [] if unsafe or body.lower() == body_after.lower() else ["a line below the frontmatter is another"]
    if after is None:
        return "unreadable", [*faults, "YAML cannot read it any more"]
    if values is None:
        return "could not be read before", faults
    flat, flat_after = _flat(values), _flat(after)
    for key, value in flat.items():
        now = flat_after.get(key, flat_after.get(key.lower().replace("_", "-")))
        renamed = unsafe and key == "name" and now == directory
        if now != value and not renamed and not (_is_tools(key) and _tools(now) == _tools(value)):
            faults.append(f"{key} was {value!r} and is {now!r}")
    added = {key for key, value in flat_after.items() if key not in flat and not (key == "name" and value == directory)}
    faults += [f"{key} is new" for key in sorted(added) if not _is_tools(key)]
    kind = "same values" if values == after else "values moved or announced"
    return (kind if body == body_after else f"{kind}, and lines below the frontmatter"), faults


def _read(data: bytes) -> tuple[dict[str, Any] | None, bytes]:
    found = _FRONTMATTER.match(data)
    if found is None:
        return None, data
    try:
        values = yaml.load(found[1].decode("utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 -- it makes nothing but texts
    except (yaml.YAMLError, UnicodeDecodeError):
        values = None
    return (values if isinstance(values, dict) else None), data[found.end() :]


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    metadata = values.get("metadata")
    return {**values, **metadata, "metadata": None} if isinstance(metadata, dict) else {**values, "metadata": None}


def _is_tools(key: str) -> bool:
    return key.lower().replace("_", "-") == "allowed-tools"


def _tools(value: object) -> str:
    return _BETWEEN_TOOLS.sub("", "".join(value) if isinstance(value, list) else str(value))


def _fixed(folder: Path, *, unsafe: bool) -> None:
    command = [sys.executable, "-m", "prowess", "check", str(folder), "--fix", "--json"]
    run = subprocess.run([*command, *(["--unsafe-fixes"] if unsafe else [])], capture_output=True, check=False)
    if run.returncode not in {0, 1}:
        sys.exit(f"{' '.join(command)} ended with {run.returncode}: {run.stderr.decode('utf-8', 'replace')[:2000]}")


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("SKILL.md")) if path.is_file()}


def run(folder: Path, *, unsafe: bool) -> Outcome:
    """Copy `folder`, fix the copy twice, and judge it."""
    with tempfile.TemporaryDirectory(prefix="prowess-fix-") as place:
        copy = Path(place) / folder.resolve().name
        shutil.copytree(folder, copy, symlinks=True)
        states = [_files(copy)]
        for _ in range(2):
            _fixed(copy, unsafe=unsafe)
            states.append(_files(copy))
    return judge(*states, unsafe=unsafe)


def main() -> int:
    """Print the table and what is wrong; 1 where anything is."""
    parser = argparse.ArgumentParser(description="prowess check --fix over public skills.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unsafe-fixes", action="store_true")
    args = parser.parse_args()
    outcome = run(args.folder, unsafe=args.unsafe_fixes)
    lines = [f"{count:6} {kind}" for kind, count in sorted(outcome.kinds.items())]
    sys.stdout.write("\n".join([*lines, *outcome.wrong, f"{len(outcome.wrong):6} wrong", ""]))
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
