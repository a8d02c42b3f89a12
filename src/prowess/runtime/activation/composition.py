"""Checks a skill's manifest before activation: required tools, and the order among several skills.

A session knows its own tools. It knows the tools of the host only if the host lists them (`host_tools`). Then a missing
required tool refuses the load before any hook has run. Without that list, a missing tool may exist in the host, so the
model gets a notice and the load goes on.

Extended specification 001, tool binding and skill composition. Conflicts between skills are checked with the state
(`prowess.runtime.state.loaded`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from prowess.errors import InvalidArgumentsError, RequiredToolError, SkillParseError
from prowess.format.manifest.manifest import VERSION
from prowess.policy.tool_names import canonical_tool_name
from prowess.runtime.activation.load_result import Notice
from prowess.tools.tool_binding import missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.format.manifest.manifest import Composition, ToolBinding
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.tools import Tool

HostTools = Mapping[str, str | None] | Iterable[str]


class KnownTools:
    """The available tools by canonical name, each with its version or None if the version is unknown.

    `host` lists the host's tools beside those of the session; None means that the host has not listed them.

    Raises:
        InvalidArgumentsError: a version in `host` is malformed.
    """

    def __init__(self, host: HostTools | None = None) -> None:
        self._complete = host is not None
        versions = host if isinstance(host, Mapping) else dict.fromkeys(host or ())
        for name, version in versions.items():
            if version is not None and re.fullmatch(VERSION, version.strip()) is None:
                raise InvalidArgumentsError(
                    (f"host_tools: {version!r} is not a valid version of {name}; write one like 2.9",)
                )
        self._there = {canonical_tool_name(name): version for name, version in versions.items()}

    def add(self, tools: Iterable[Tool]) -> None:
        """Add tools of the session."""
        for tool in tools:
            for name in (tool.spec.name, *tool.spec.aliases):
                self._there.setdefault(canonical_tool_name(name), None)

    def require(self, taken: Sequence[Snapshot]) -> list[Notice]:
        """Check the manifests of skills that are to be activated, in the requested order, and return notices.

        Raise SkillParseError if an unreadable part could forbid the load, RequiredToolError if a tool is missing.
        """
        notices: list[Notice] = []
        for snapshot in taken:
            sidecar = snapshot.source.sidecar
            if sidecar.faults and (fault := sidecar.closing_fault) is not None:
                raise SkillParseError(fault.message, fault.location, sidecar.faults)
            if sidecar.tools is not None:
                notices += self._tools(snapshot.skill.name, sidecar.tools)
        if len(taken) > 1:
            asked = tuple(snapshot.skill.key for snapshot in taken)
            wanted = in_order((snapshot.skill.key, snapshot.source.sidecar.composition) for snapshot in taken)
            if wanted != asked:
                notices.append(_order(wanted))
        return notices

    def _tools(self, skill: str, binding: ToolBinding) -> list[Notice]:
        spelled = {each.tool.name: canonical_tool_name(each.tool.name) for each in binding.dependencies}
        available = {name: self._there[known] for name, known in spelled.items() if known in self._there}
        notices = []
        for found in missing(binding, available):
            name = found.dependency.tool.name
            if not found.dependency.required:
                continue
            if self._complete and (name not in available or available[name] is not None):  # it may be the right one
                raise RequiredToolError(skill, str(found.dependency.tool), found.reason)
            notices.append(_unsure(skill, found.reason))
        return notices


def _unsure(skill: str, reason: str) -> Notice:
    message = (
        f"{skill} requires a tool that this session does not know: {reason}. Check that you have it before you begin."
    )
    return Notice(code="required_tool_unknown", message=message, skill=skill)


def _order(names: Sequence[str]) -> Notice:
    return Notice(code="execution_order", message=f"Follow these skills in this order: {', '.join(names)}.")


def in_order(skills: Iterable[tuple[str, Composition | None]]) -> tuple[str, ...]:
    """Sort the names as `executionOrder` asks; otherwise keep the given order.

    A skill has one `executionOrder` for all its dependencies, so orders contradict each other only if the dependencies
    form a cycle. Skills of a cycle keep their order. The specification does not define `before` and `after` further;
    here they are the position of a skill relative to its dependencies.

        in_order([("deploy", after_its_tests), ("run-tests", None)])  # ('run-tests', 'deploy')
    """
    given = dict(skills)
    earlier: dict[str, set[str]] = {name: set() for name in given}
    for name, composition in given.items():
        if composition is None or composition.execution_order == "independent":
            continue
        for dependency in composition.dependencies:
            other = dependency.skill_name
            if other in given and other != name:
                first, second = (name, other) if composition.execution_order == "before" else (other, name)
                earlier[second].add(first)
    ordered: list[str] = []
    waiting = list(given)
    while waiting:
        ready = next((name for name in waiting if not earlier[name] & set(waiting)), waiting[0])
        ordered.append(ready)
        waiting.remove(ready)
    return tuple(ordered)
