"""Which tools a skill says it depends on: the key `tools` of an extended manifest, as typed and frozen values.

Nothing is looked for here; `prowess.tools.tool_binding.missing` compares a binding with the tools that there are.
Sources: extended specification 001, tool binding; the grammar of a tool is that of `allowed-tools`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.fields.allowed_tools import ToolToken, parse_allowed_tools
from prowess.format.fields.value_readers import (
    kind,
    named,
    needed,
    optional,
    read_boolean,
    read_list,
    read_record,
    read_text,
)

if TYPE_CHECKING:
    from prowess.format.fields.value_readers import Faults, Path

VERSION = r"v?(?P<release>\d+(?:\.\d+)*)(?:-?(?P<pre>[A-Za-z][0-9A-Za-z.-]*))?(?:\+[0-9A-Za-z.-]+)?"
_ITEM = "tools.dependencies.itemType"


class ToolDependency(Struct, frozen=True, kw_only=True):
    """One tool that a skill uses; `min_version` is None where any version will do."""

    tool: ToolToken
    required: bool
    purpose: str
    min_version: str | None = None


class ToolBinding(Struct, frozen=True, kw_only=True):
    """Everything that a manifest says about tools."""

    dependencies: tuple[ToolDependency, ...]


def read_binding(value: object, faults: Faults) -> ToolBinding | None:
    """Read the value of `tools`; None, after every fault is reported, if any part of it is wrong."""
    return _binding(value, "tools.type", ("tools",), faults)


def _tool(value: object, rule: str, path: Path, faults: Faults) -> ToolToken | None:
    tokens = parse_allowed_tools(value) if isinstance(value, str) else None
    if tokens is None or tokens.fault or len(tokens.tokens) != 1:
        why = f": {tokens.fault.message}" if tokens is not None and tokens.fault else ""
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be one tool such as Read or Bash(git:*){why}", path)
        return None
    return tokens.tokens[0]


def _flag(value: object, rule: str, path: Path, faults: Faults) -> bool | None:
    """Read a boolean, as a reader of JSON or of YAML texts gives it."""
    return value if isinstance(value, bool) else read_boolean(value, rule, path, faults)


def _version(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    if isinstance(value, str) and re.fullmatch(VERSION, value.strip()):
        return value
    faults.add(rule, f"{named(path)} is {kind(value)}, it must be a version such as '2.30', in quotes", path)
    return None


_dependency = read_record(
    ToolDependency,
    {
        "tool": needed("tool", _tool, _ITEM),
        "required": needed("required", _flag, _ITEM),
        "purpose": needed("purpose", read_text, _ITEM),
        "minVersion": optional("min_version", _version, _ITEM),
    },
    unknown=_ITEM,
)
_dependencies = read_list(_dependency, _ITEM)
_binding = read_record(ToolBinding, {"dependencies": needed("dependencies", _dependencies, "tools.dependencies.type")})
