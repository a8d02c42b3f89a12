"""The arguments that a skill declares, in the order in which a call gives them.

Either names alone, as a list or as one text with blanks, or mappings with a description and a default. A declaration
that cannot be read whole counts as none: with one entry left out, every later name would get its neighbour's value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.fields.value_readers import is_blank, kind, named, read_boolean, read_text, report_unknown

if TYPE_CHECKING:
    from prowess.format.fields.value_readers import Faults, Path

MAX_ARGUMENTS = 64
MAX_DEFAULT_LENGTH = 4096
_RULE = "arguments.type"
_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z"
_TAKEN = frozenset({"ARGUMENTS", "SKILL_DIR", "SESSION_ID"})  # placeholders with a meaning of their own


class Argument(Struct, frozen=True, kw_only=True):
    """One declared argument; `default` is None where there is none."""

    name: str
    description: str = ""
    default: str | None = None
    required: bool = False


def read_arguments(value: object, faults: Faults) -> tuple[Argument, ...]:
    """Read the field; what is wrong is added to `faults`, and then there are no arguments."""
    if is_blank(value):
        return ()
    listed = value.split() if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        message = f"arguments is {kind(value)}, it must be a list of names or of mappings with a name"
        faults.add(_RULE, message, ("arguments",))
        return ()
    if len(listed) > MAX_ARGUMENTS:
        faults.add(_RULE, f"arguments has {len(listed)} entries, at most {MAX_ARGUMENTS} are allowed", ("arguments",))
        return ()
    before = len(faults.found)
    seen: dict[str, Argument] = {}
    for index, entry in enumerate(listed):
        path: Path = ("arguments",) if isinstance(value, str) else ("arguments", index)
        argument = _argument(entry, path, faults)
        if argument is not None and argument.name in seen:
            faults.add(_RULE, f"the argument {argument.name!r} is declared twice", path)
        elif argument is not None:
            seen[argument.name] = argument
    return tuple(seen.values()) if len(faults.found) == before else ()


def _argument(entry: object, path: Path, faults: Faults) -> Argument | None:
    if not isinstance(entry, dict):
        name = _name(entry, path, faults)
        return None if name is None else Argument(name=name)
    report_unknown(entry, ("name", "description", "default", "required"), _RULE, path, faults)
    if "name" not in entry:
        faults.add(_RULE, f"{named(path)} has no name", path)
        return None
    name = _name(entry["name"], (*path, "name"), faults)
    described = entry.get("description", "")
    description = "" if is_blank(described) else read_text(described, _RULE, (*path, "description"), faults)
    default = entry.get("default")
    if default is not None and not (isinstance(default, str) and len(default) <= MAX_DEFAULT_LENGTH):
        message = f"{named((*path, 'default'))} must be a text of at most {MAX_DEFAULT_LENGTH} characters"
        faults.add(_RULE, message, (*path, "default"))
    required = read_boolean(entry["required"], _RULE, (*path, "required"), faults) if "required" in entry else False
    if name is None or description is None or required is None:
        return None
    return Argument(
        name=name,
        description=description,
        default=default if isinstance(default, str) else None,
        required=required,
    )


def _name(value: object, path: Path, faults: Faults) -> str | None:
    taken = isinstance(value, str) and value in _TAKEN
    if isinstance(value, str) and re.match(_NAME, value) and not taken:
        return value
    why = "that has a meaning of its own" if taken else "it must be letters, digits, _ and -, a letter or _ first"
    faults.add(_RULE, f"{named(path)} is {kind(value)}, {why}", path)
    return None
