"""Report skills that a search does not find, because a directory above them contains a SKILL.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.catalog.scan import Scan

_OF_THE_SKILL = frozenset(  # Directories of a skill. A SKILL.md in them is a sample, a template or a test.
    {
        ".git", "node_modules", "assets", "docs", "evals", "examples", "fixtures", "references", "scripts", "templates",
        "test", "tests",
    }
)  # fmt: skip
_MOST_DIRECTORIES = 2000
_MOST_LEVELS = 6
_SHOWN = 5


def report_hidden(scan: Scan, directory: str, reason: str = "directories below a SKILL.md are not searched") -> None:
    """Report the skills below the real `directory` that are not listed, as one finding. `reason` states why."""
    hidden = [path for path in _skills_below(directory) if f"{directory}/{path}" not in scan.entries]
    if hidden:
        more = f" and {len(hidden) - _SHOWN} more" if len(hidden) > _SHOWN else ""
        count = "1 skill is" if len(hidden) == 1 else f"{len(hidden)} skills are"
        shown = f"{', '.join(hidden[:_SHOWN])}{more}"
        message = f"{count} not listed: {shown}; {reason}; move the skills, or name their directory"
        scan.report("catalog.hidden", directory, message)


def _skills_below(directory: str) -> list[str]:
    """Return the directories below `directory` with a SKILL.md, as relative paths. Symbolic links are not followed."""
    found: list[str] = []
    left = _MOST_DIRECTORIES
    for parent, directories, files in os.walk(directory):
        relative = parent[len(directory) + 1 :]
        if "SKILL.md" in files and relative:
            found.append(relative)
        left -= 1
        deep = relative.count("/") + 1 if relative else 0
        below = sorted(set(directories) - _OF_THE_SKILL) if left > 0 and deep < _MOST_LEVELS else []
        directories[:] = [name for name in below if not os.path.islink(f"{parent}/{name}")]
    return found
