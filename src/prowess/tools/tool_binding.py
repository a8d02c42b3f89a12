"""The tools that a skill's manifest depends on, and the dependencies that are missing.

A binding is the value of `tools` in an extended manifest (extended specification 001, tool binding). This module reads
no files and refuses no skill: the code that activates a skill calls `missing` first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import InvalidArgumentsError
from prowess.format.fields.value_readers import Faults
from prowess.format.manifest.manifest import VERSION, ToolBinding, ToolDependency, read_binding

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MissingTool", "ToolBinding", "ToolDependency", "missing", "read_tool_binding", "version_key"]


class MissingTool(Struct, frozen=True, kw_only=True):
    """A dependency that is not met. `reason` is one sentence."""

    dependency: ToolDependency
    reason: str


def read_tool_binding(value: object) -> ToolBinding:
    """Parse the value of `tools`. Raise InvalidArgumentsError with one sentence for each fault."""
    faults = Faults()
    binding = read_binding(value, faults)
    if binding is None or faults.found:
        raise InvalidArgumentsError(tuple(fault.message for fault in faults.found))
    return binding


def missing(binding: ToolBinding, available: Mapping[str, str | None]) -> tuple[MissingTool, ...]:
    """Return the unmet dependencies in order. Only a dependency with `required` must stop an activation.

    `available` maps tool names to versions; None means that the version is unknown.
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
    """Return a sort key: 1.10 is after 1.9, 1.0 equals 1.0.0, 1.0-rc.1 is before 1.0. Raise ValueError if invalid."""
    match = re.fullmatch(VERSION, text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a version")
    release = [int(part) for part in match["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    pre = match["pre"]
    # Numbers sort before words. A release sorts after its pre-releases.
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"[.-]", pre)] if pre else []
    return tuple(release), pre is None, tuple(parts)
