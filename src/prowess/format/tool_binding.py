"""Which tools a skill says it depends on: the key `tools` of an extended manifest, as typed and frozen values.

Nothing is looked for here; `prowess.tools.tool_binding.missing` compares a binding with the tools that there are.
Sources: extended specification 001, tool binding; the grammar of a tool is that of `allowed-tools`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from prowess.format.allowed_tools import ToolToken, parse_allowed_tools
from prowess.format.plain_values import named

if TYPE_CHECKING:
    from prowess.format.plain_values import Faults, Path

VERSION = re.compile(r"v?(?P<release>\d+(?:\.\d+)*)(?:-?(?P<pre>[A-Za-z][0-9A-Za-z.-]*))?(?:\+[0-9A-Za-z.-]+)?")
_FLAGS: Mapping[object, bool] = {"true": True, "false": False}  # as a reader of YAML texts gives them
_KEYS = ("tool", "required", "purpose", "minVersion")
_ITEM = "tools.dependencies.itemType"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDependency:
    """One tool that a skill uses; `min_version` is None where any version will do."""

    tool: ToolToken
    required: bool
    purpose: str
    min_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBinding:
    """Everything that a manifest says about tools."""

    dependencies: tuple[ToolDependency, ...]


def read_binding(value: object, faults: Faults) -> ToolBinding | None:
    """Read the value of `tools`; None, after every fault is reported, where any part of it is wrong."""
    if not isinstance(value, Mapping):
        faults.add("tools.type", "tools must be a mapping with dependencies, a list", ("tools",))
        return None
    for key in value:
        if key != "dependencies":
            message = f"tools has the unknown key {str(key)[:60]!r}; there is dependencies"
            faults.add("manifest.unknownField", message, ("tools", str(key)), on_key=True)
    within = len(faults.found)
    listed = value.get("dependencies")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        message = "tools must be a mapping with dependencies, a list"
        faults.add("tools.dependencies.type", message, ("tools", "dependencies"))
        return None
    found = [_dependency(each, ("tools", "dependencies", index), faults) for index, each in enumerate(listed)]
    if len(faults.found) > within:
        return None
    return ToolBinding(dependencies=tuple(cast("list[ToolDependency]", found)))


def _dependency(value: object, path: Path, faults: Faults) -> ToolDependency | None:
    before, where = len(faults.found), named(path)
    if not isinstance(value, Mapping):
        faults.add(_ITEM, f"{where} must be a mapping with tool, required and purpose", path)
        return None
    if unknown := sorted(str(name) for name in value if name not in _KEYS):
        message = f"{where} has the unknown keys {', '.join(unknown)[:200]}"
        faults.add(_ITEM, message, (*path, unknown[0]), on_key=True)
    tool = value.get("tool")
    tokens = parse_allowed_tools(tool) if isinstance(tool, str) else None
    if tokens is None or tokens.fault or len(tokens.tokens) != 1:
        why = f": {tokens.fault.message}" if tokens is not None and tokens.fault else ""
        faults.add(_ITEM, f"{where}.tool must be one tool such as Read or Bash(git:*){why}", (*path, "tool"))
    required = value.get("required")
    required = _FLAGS.get(required) if isinstance(required, str) else required
    if not isinstance(required, bool):
        faults.add(_ITEM, f"{where}.required must be true or false", (*path, "required"))
    purpose = value.get("purpose")
    if not isinstance(purpose, str) or not purpose.strip():
        faults.add(_ITEM, f"{where}.purpose must say what the tool is for", (*path, "purpose"))
    least = value.get("minVersion")
    if least is not None and not (isinstance(least, str) and VERSION.fullmatch(least.strip())):
        message = f"{where}.minVersion must be a version such as '2.30', in quotes"
        faults.add(_ITEM, message, (*path, "minVersion"))
    if len(faults.found) > before or tokens is None:
        return None
    return ToolDependency(
        tool=tokens.tokens[0],
        required=cast("bool", required),
        purpose=cast("str", purpose).strip(),
        min_version=cast("str | None", least),
    )
