"""The `<available_skills>` block, byte for byte as in the reference library.

Names and descriptions are escaped. The location is not escaped, because programs that parse this block expect the raw
path. A host that needs well-formed XML for every path uses `prowess to-prompt --form xml`.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.compat.skills_ref.parser import find_skill_md, read_properties, resolved

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable


def to_prompt(skill_dirs: Iterable[str | os.PathLike[str]]) -> str:
    """Render name, description and location of each directory, in the given order.

    A repeated directory is rendered again.

    Bodies are not included. Without directories the result is the opening and the closing tag. There is no line break
    at the end.

    Raises:
        ParseError, ValidationError: for the first directory that cannot be read.
    """
    found = [(directory, read_properties(directory)) for directory in map(directory_of, skill_dirs)]
    return block((directory, properties.name, properties.description) for directory, properties in found)


def directory_of(skill_dir: str | os.PathLike[str]) -> Path:
    """Return the directory with the path that the block shows."""
    return Path(resolved(Path(skill_dir)))


def block(skills: Iterable[tuple[Path, str, str]]) -> str:
    """Render skills as (directory, name, description)."""
    lines = ["<available_skills>"]
    for directory, name, description in skills:
        lines += ["<skill>", "<name>", html.escape(name), "</name>"]
        lines += ["<description>", html.escape(description), "</description>"]
        lines += ["<location>", str(find_skill_md(directory)), "</location>", "</skill>"]
    return "\n".join([*lines, "</available_skills>"])
