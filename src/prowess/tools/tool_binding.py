"""Which tools a skill's manifest says it depends on, and which of them are missing here.

A binding is the value of `tools` in an extended manifest (seed 001, Tool Binding): a list of dependencies, each with a
tool of the `allowed-tools` grammar, whether it is required, what for, and perhaps a least version. Nothing is read
from disk here, and nothing is refused: whoever activates a skill asks `missing` first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from prowess.errors import InvalidArgumentsError
from prowess.format.allowed_tools import ToolToken, parse_allowed_tools

_VERSION = re.compile(r"v?(?P<release>\d+(?:\.\d+)*)(?:-?(?P<pre>[A-Za-z][0-9A-Za-z.-]*))?(?:\+[0-9A-Za-z.-]+)?")
_FLAGS: Mapping[object, bool] = {"true": True, "false": False}  # as a reader of YAML texts gives them


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTool:
    """A dependency that is not met here; `reason` is one sentence."""

    dependency: ToolDependency
    reason: str


def read_tool_binding(value: object) -> ToolBinding:
    """Read the value of `tools`.

    Raises:
        InvalidArgumentsError: with one sentence for each thing that is wrong.
    """
    listed = value.get("dependencies") if isinstance(value, Mapping) else None
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise InvalidArgumentsError(("tools must be a mapping with dependencies, a list",))
    problems: list[str] = []
    found = [_dependency(each, f"tools.dependencies[{index}]", problems) for index, each in enumerate(listed)]
    if problems:
        raise InvalidArgumentsError(tuple(problems))
    return ToolBinding(dependencies=tuple(cast("list[ToolDependency]", found)))


def missing(binding: ToolBinding, available: Mapping[str, str | None]) -> tuple[MissingTool, ...]:
    """Return the dependencies that `available` (tool name → version, None where unknown) does not meet, in order.

    One that is not required is among them too: `dependency.required` says which must stop an activation.
    """
    found = []
    for each in binding.dependencies:
        name = each.tool.name
        if name not in available:
            found.append(MissingTool(dependency=each, reason=f"there is no tool {name!r}; it is for: {each.purpose}"))
        elif each.min_version is not None:
            version = available[name]
            if version is None:
                reason = f"the version of {name} is not known; {each.min_version} or later is needed"
            elif version_key(version) < version_key(each.min_version):
                reason = f"{name} is {version}; {each.min_version} or later is needed"
            else:
                continue
            found.append(MissingTool(dependency=each, reason=reason))
    return tuple(found)


def version_key(text: str) -> tuple[object, ...]:
    """Return what versions are compared by: 1.10 is later than 1.9, 1.0 is 1.0.0, and 1.0-rc.1 comes before 1.0.

    Raises:
        ValueError: it is no version.
    """
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no version")
    release = [int(part) for part in match["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    pre = match["pre"]
    # Numbers before words, and nothing at all after everything: a release is later than its candidates.
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"[.-]", pre)] if pre else []
    return tuple(release), pre is None, tuple(parts)


def _dependency(value: object, where: str, problems: list[str]) -> ToolDependency | None:
    before = len(problems)
    if not isinstance(value, Mapping):
        problems.append(f"{where} must be a mapping with tool, required and purpose")
        return None
    if unknown := sorted(str(name) for name in value if name not in ("tool", "required", "purpose", "minVersion")):
        problems.append(f"{where} has the unknown keys {', '.join(unknown)}")
    tool = value.get("tool")
    tokens = parse_allowed_tools(tool) if isinstance(tool, str) else None
    if tokens is None or tokens.fault or len(tokens.tokens) != 1:
        why = f": {tokens.fault.message}" if tokens is not None and tokens.fault else ""
        problems.append(f"{where}.tool must be one tool such as Read or Bash(git:*){why}")
    required = value.get("required")
    required = _FLAGS.get(required) if isinstance(required, str) else required
    if not isinstance(required, bool):
        problems.append(f"{where}.required must be true or false")
    purpose = value.get("purpose")
    if not isinstance(purpose, str) or not purpose.strip():
        problems.append(f"{where}.purpose must say what the tool is for")
    least = value.get("minVersion")
    if least is not None and not (isinstance(least, str) and _VERSION.fullmatch(least.strip())):
        problems.append(f"{where}.minVersion must be a version such as '2.30', in quotes")
    if len(problems) > before or tokens is None:
        return None
    return ToolDependency(
        tool=tokens.tokens[0],
        required=cast("bool", required),
        purpose=cast("str", purpose).strip(),
        min_version=cast("str | None", least),
    )
