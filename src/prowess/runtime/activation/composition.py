"""What a skill's manifest says before it comes into force: the tools it requires, and where it stands among others.

A session knows its own tools. Which further ones there are is known where the host says so (`host_tools`): then a
required tool that is missing refuses the load, before any hook has run. Where the host says nothing, a tool that is
missing here may well be there; the model is told, and nothing is refused.

Extended specification 001, tool binding and skill composition. Which skills exclude each other is decided with the
state (`prowess.runtime.state.loaded`).
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
    """The tools that there are, under the names that rules know them by; a version is None where nobody said it.

    `host` is None where the host has not said which it has beside those of the session.

    Raises:
        InvalidArgumentsError: a version of `host` is none.
    """

    def __init__(self, host: HostTools | None = None) -> None:
        self._complete = host is not None
        versions = host if isinstance(host, Mapping) else dict.fromkeys(host or ())
        for name, version in versions.items():
            if version is not None and re.fullmatch(VERSION, version.strip()) is None:
                raise InvalidArgumentsError((f"host_tools: {version!r} is no version of {name}; write one like 2.9",))
        self._there = {canonical_tool_name(name): version for name, version in versions.items()}

    def add(self, tools: Iterable[Tool]) -> None:
        """Count these tools of the session among them."""
        for tool in tools:
            for name in (tool.spec.name, *tool.spec.aliases):
                self._there.setdefault(canonical_tool_name(name), None)

    def require(self, taken: Sequence[Snapshot]) -> list[Notice]:
        """Return what to say about the manifests of skills that are to be activated, in the order asked for.

        Raises:
            SkillParseError: a manifest cannot be read where it says what its skill may not be loaded with.
            RequiredToolError: a tool that one of them requires is not there.
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
            # A version that nobody knows may be the right one.
            if self._complete and (name not in available or available[name] is not None):
                raise RequiredToolError(skill, str(found.dependency.tool), found.reason)
            notices.append(_unsure(skill, found.reason))
        return notices


def _unsure(skill: str, reason: str) -> Notice:
    message = f"{skill} requires a tool that this session does not know: {reason}. Make sure of it before you begin."
    return Notice(code="required_tool_unknown", message=message, skill=skill)


def _order(names: Sequence[str]) -> Notice:
    return Notice(code="execution_order", message=f"Follow these skills in this order: {', '.join(names)}.")


def in_order(skills: Iterable[tuple[str, Composition | None]]) -> tuple[str, ...]:
    """Return the names in the order that `executionOrder` asks for, otherwise in that given.

    `executionOrder` is one word for all dependencies of a skill, so orders contradict each other only if the
    dependencies form a circle, which leaves its skills as they were. That the order is relative to the dependencies is
    ours.

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
