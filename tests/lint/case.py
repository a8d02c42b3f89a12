"""A case of a lint rule: a skill that breaks the rule, and skills that do not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DESCRIPTION = "Extracts tables from PDF files. Use when the user asks for data from a PDF."


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`bad` and `good` are SKILL.md after its name, or files in the form of `skill`; `files` lie beside each."""

    rule: str
    bad: str
    good: tuple[str, ...]
    says: str = ""
    line: int | None = None
    times: int = 1
    profile: str = "spec"
    name: str = "pdf-tables"
    files: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.rule


def body(text: str) -> str:
    """SKILL.md with a good description and this body; its first line is line 5."""
    return f"description: {DESCRIPTION}\n---\n{text}\n"


def front(fields: str, text: str = "# PDF\n") -> str:
    """SKILL.md with a good description and more fields; the first of them is on line 4."""
    return f"description: {DESCRIPTION}\n{fields}\n---\n{text}"


def beside(text: str, **files: str) -> str:
    """Add files to a SKILL.md: a name has `__` for `/`, and its last `_` is the point of the ending."""
    return text + "".join(f"\0{_path(name)}\0{content}" for name, content in files.items())


def lay_out(case: Case, text: str, folder: Path) -> Path:
    """Write a skill and return its directory."""
    own, *more = text.split("\0")
    root = folder / case.name
    files = case.files | dict(zip(more[::2], more[1::2], strict=True))
    for path, content in {**files, "SKILL.md": f"---\nname: {case.name}\n{own}"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    return root


def _path(name: str) -> str:
    stem, _, ending = name.replace("__", "/").rpartition("_")
    return f"{stem}.{ending}"
