"""Statistics of a set of skills, as numbers only: how they are written, how long they are, which files they have.

    python -m tools.corpus_statistics FOLDER        measure the public skills in FOLDER (`tools.public_skills build`)
                                                    and write benchmarks/public-statistics.json

`benchmarks.corpora` writes skills with these numbers, for machines without the public skills. A share is in percent of
the skills. Quantiles are the values at PERCENTS of the sorted skills. Front matter and body are measured line by line
and by patterns, so that a skill that no parser accepts counts too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tools.public_skills import pinned, skill_directories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

STATISTICS = Path(__file__).resolve().parent.parent / "benchmarks" / "public-statistics.json"
PERCENTS = (0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)

_RARE = 1.0  # percent; rarer front matter fields are left out of the file
_FIELD = re.compile(r"^([A-Za-z_][\w-]*):(?:[ \t]+(.*)|)$")
_LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)")
_FOLDERS = ("references", "scripts", "assets")
_BODY_LINES = {
    "headings": re.compile(r"#{1,6} "),
    "list items": re.compile(r"\s*(?:[-*+]|\d+[.)]) "),
    "table lines": re.compile(r"\s*\|"),
}


class Statistics(Struct, frozen=True, kw_only=True):
    """What is measured of a set of skills: `shares` in percent, `quantiles` at PERCENTS."""

    skills: int
    shares: Mapping[str, float]
    quantiles: Mapping[str, Sequence[int]]


class _Measured(Struct, frozen=True, kw_only=True):
    """One skill: what it has, and its counts."""

    features: frozenset[str]
    counts: Mapping[str, int]


def read_statistics(path: Path = STATISTICS) -> Statistics:
    """The statistics in the file."""
    stated = json.loads(path.read_text(encoding="utf-8"))
    return Statistics(skills=stated["skills"], shares=stated["shares"], quantiles=stated["quantiles"])


def statistics_of(directories: Iterable[Path]) -> Statistics:
    """Measure the skills in these directories; a directory without SKILL.md is passed over."""
    found = [_measured(directory) for directory in directories if (directory / "SKILL.md").is_file()]
    features = Counter(feature for one in found for feature in one.features)
    return Statistics(
        skills=len(found),
        shares={name: round(100 * count / len(found), 1) for name, count in sorted(features.items())},
        quantiles={
            name: [values[min(len(values) - 1, len(values) * percent // 100)] for percent in PERCENTS]
            for name in found[0].counts
            for values in [sorted(one.counts[name] for one in found)]
        },
    )


def _measured(directory: Path) -> _Measured:
    text = (directory / "SKILL.md").read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0) if lines[0] == "---" else 0
    front, body = lines[1:end], lines[end + 1 :] if end else lines
    features, description = _front_matter(front)
    body_features, counts = _body(body)
    sizes = {os.path.relpath(path, directory): os.lstat(path).st_size for path in _other_files(directory)}
    folders = {name.split("/")[0] if "/" in name else "" for name in sizes}
    features |= body_features | {f"files in {name}/" for name in folders & set(_FOLDERS)}
    if folders - set(_FOLDERS):
        features.add("files elsewhere")
    if not text.isascii():
        features.add("beyond ASCII")
    counts |= {
        "description characters": description,
        "front matter characters": sum(map(len, front)) + len(front),
        "other files": len(sizes),
        "bytes of other files": sum(sizes.values()),
        "other files named in the body": sum(name in text for name in sizes),
    }
    return _Measured(features=frozenset(features), counts=counts)


def _front_matter(lines: Sequence[str]) -> tuple[set[str], int]:
    """The features of the front matter, and the length of the description in characters."""
    features = {"no front matter"} if not lines else set()
    if any(line.lstrip().startswith("#") for line in lines):
        features.add("comment in front matter")
    description = 0
    for name, value, below in _fields(lines):
        features.add(f"field {name}")
        if name == "description":
            features.add(f"description {_form(value, below)}")
            text = " ".join(line.strip() for line in below)
            description = len(text if value[:1] in ("|", ">") else f"{value.strip(chr(34) + chr(39))} {text}".strip())
        elif value.startswith("["):
            features.add("flow list")
        elif below and below[0].lstrip().startswith("- "):
            features.add("block list")
        elif name == "metadata" and any(re.match(r"\s+[\w-]+:\s*$", line) for line in below):
            features.add("metadata nested")
    return features, description


def _fields(lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Each field of the first level: its name, the rest of its line, the lines below it."""
    starts = [(at, match) for at, line in enumerate(lines) if (match := _FIELD.match(line))]
    for (at, match), following in zip(starts, [*(at for at, _ in starts), len(lines)][1:], strict=True):
        yield match[1], (match[2] or "").strip(), [line for line in lines[at + 1 : following] if line.strip()]


def _form(value: str, below: Sequence[str]) -> str:
    forms = {"|": "literal", ">": "folded", '"': "double-quoted", "'": "single-quoted"}
    return forms.get(value[:1], "plain on several lines" if below else "plain")


def _body(lines: Sequence[str]) -> tuple[set[str], dict[str, int]]:
    """The features of the body and its counts; lines in code blocks are counted as such and not otherwise."""
    counts = dict.fromkeys(("code blocks", "code lines", *_BODY_LINES), 0)
    features, fence, links = set[str](), "", 0
    for line in lines:
        mark = line.lstrip()[:3]
        if fence:
            counts["code lines"] += 1
            fence = "" if mark == fence else fence
        elif mark in ("```", "~~~"):
            fence = mark
            counts["code blocks"] += 1
            counts["code lines"] += 1
        else:
            for name, pattern in _BODY_LINES.items():
                counts[name] += pattern.match(line) is not None
            for match in _LINK.finditer(line):
                links += 1
                target = match[1]
                features |= {"link", "link to the web" if re.match(r"[a-z]+:", target) else "link to a file"}
    counts |= {"body characters": sum(map(len, lines)) + len(lines), "body lines": len(lines), "links": links}
    features |= {name for name in ("code blocks", *_BODY_LINES) if counts[name]}
    return features, counts


def _other_files(directory: Path) -> Iterator[str]:
    for root, _, names in os.walk(directory):
        yield from (path for name in names if (path := os.path.join(root, name)) != str(directory / "SKILL.md"))


def main(arguments: list[str] | None = None) -> int:
    """Measure FOLDER and write the file."""
    parser = argparse.ArgumentParser(prog="python -m tools.corpus_statistics", description="Measure public skills.")
    parser.add_argument("folder", type=Path, help="where the public skills are")
    folder = parser.parse_args(arguments).folder
    found = statistics_of(skill_directories(folder, pinned()))
    shares = {name: share for name, share in found.shares.items() if share >= _RARE or not name.startswith("field ")}
    head = {"skills": found.skills, "percents": PERCENTS, "shares": shares}
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in found.quantiles.items())
    text = json.dumps(head, indent=1)
    text = re.sub(r'"percents": \[[^\]]*\]', f'"percents": {json.dumps(PERCENTS)}', text)
    STATISTICS.write_text(f'{text[:-2]},\n "quantiles": {{\n{rows}\n }}\n}}\n', encoding="utf-8")
    print(f"{found.skills} skills measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
