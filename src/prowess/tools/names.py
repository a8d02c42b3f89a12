"""The spellings of a tool's name: one canonical, the others through a table.

A canonical name may hold dots (`skills.run_script`). Many hosts refuse dots, so the same tool is exported under its
wire name (`skills_run_script`), which fits the strictest rule known: letters, digits and underscores, at most 40.
A call is looked up in a table that is made from the registered names. The way back is never computed by replacing
characters, because `run_script` holds an underscore of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_WIRE_LENGTH = 40
_CANONICAL = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*"


def wire_name(name: str) -> str:
    """Return the name under which a host that refuses dots sees the tool: `skills.load` is `skills_load`."""
    return name.replace(".", "_")


def check_name(name: str) -> None:
    """Raise ValueError where `name` cannot be a canonical tool name."""
    if not re.fullmatch(_CANONICAL, name) or len(name) > MAX_WIRE_LENGTH:
        rule = f"words of letters, digits and underscores, joined by dots, {MAX_WIRE_LENGTH} characters at most"
        message = f"tool name {name!r} must be {rule}"
        raise ValueError(message)


def spellings(name: str) -> tuple[str, ...]:
    """Return every accepted spelling: dotted, underscored and hyphenated (with hyphens for the dots, or for all)."""
    underscored = wire_name(name)
    return tuple(
        dict.fromkeys((name, underscored, name.replace(".", "-"), underscored.replace("_", "-").strip("-") or name))
    )


def spelling_table(names: Iterable[str], aliases: Mapping[str, tuple[str, ...]] | None = None) -> dict[str, str]:
    """Return spelling → canonical name; `aliases` has other names of tools among `names`.

    Raises:
        ValueError: two tools would share a spelling.
    """
    table: dict[str, str] = {}
    for name in names:
        own = (name, *(aliases or {}).get(name, ()))
        for text in own:
            check_name(text)
        for spelling in dict.fromkeys(spelling for text in own for spelling in spellings(text)):
            if spelling in table:
                message = f"tools {table[spelling]!r} and {name!r} would both answer to {spelling!r}"
                raise ValueError(message)
            table[spelling] = name
    return table
