"""The requirement manifest as data: `requirements/*.toml` and the milestones of `reached.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

SPEC = Path(__file__).parent
LEVELS = ("must", "should", "may")
MILESTONES = ("stands", "format", "catalog", "runtime", "safety", "governance", "distribution", "evals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise; `file` is the stem of the file that holds it."""

    id: str
    level: str
    text: str
    sources: tuple[str, ...]
    room: str
    due: str
    decision: str | None
    file: str


def requirements(folder: Path = SPEC / "requirements") -> tuple[Requirement, ...]:
    """Every requirement, in the order of the files' names and of the tables in them."""
    return tuple(
        Requirement(
            id=table["id"],
            level=table["level"],
            text=table["text"],
            sources=tuple(table["sources"]),
            room=table["room"],
            due=table["due"],
            decision=table.get("decision"),
            file=path.stem,
        )
        for path in sorted(folder.glob("*.toml"))
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["requirement"]
    )


def reached_milestones() -> frozenset[str]:
    """The milestones that this tree has reached."""
    table = tomllib.loads((SPEC / "reached.toml").read_text(encoding="utf-8"))
    return frozenset(table["milestones"])
