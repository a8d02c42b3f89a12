"""Skills on disk, for the tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import TypedDict

    from prowess.catalog import Catalog, SkillEntry
    from prowess.diagnostics import Diagnostic

    class SkillKeywords(TypedDict, total=False):
        """Arguments of `write_skill`."""

        description: str
        extra: str
        body: str


def write_skill(
    directory: Path, *, name: str | None = None, description: str = "Does it.", extra: str = "", body: str = "# Do it\n"
) -> Path:
    """Write SKILL.md into `directory` and return the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name or directory.name}\ndescription: {description}\n{extra}---\n{body}"
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return directory


def names(entries: Iterable[SkillEntry]) -> list[str]:
    return [entry.name for entry in entries]


def rules(catalog: Catalog) -> list[str]:
    return [found.rule for found in catalog.diagnostics]


def finding(catalog: Catalog, rule: str) -> Diagnostic:
    """Return the only finding of this rule."""
    (found,) = [found for found in catalog.diagnostics if found.rule == rule]
    return found
