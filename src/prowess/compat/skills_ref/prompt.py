"""The `<available_skills>` block, byte for byte as the reference library writes it.

Names and descriptions are escaped, the location is not: whoever parses these bytes expects it raw. A host that wants
well-formed XML from every path uses `prowess to-prompt --form xml`.
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
    """Render name, description and location of each directory, in this order, repeats kept; never a body.

    No directories give the opening and the closing tag. There is no line break at the end.

    Raises:
        ParseError, ValidationError: for the first directory that cannot be read; nothing is rendered then.
    """
    lines = ["<available_skills>"]
    for skill_dir in skill_dirs:
        directory = Path(resolved(Path(skill_dir)))
        properties = read_properties(directory)
        lines += ["<skill>", "<name>", html.escape(properties.name), "</name>"]
        lines += ["<description>", html.escape(properties.description), "</description>"]
        lines += ["<location>", str(find_skill_md(directory)), "</location>", "</skill>"]
    return "\n".join([*lines, "</available_skills>"])
