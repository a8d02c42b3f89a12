"""From the plain data of `skill.manifest.yaml` to typed values; what is wrong is collected, with the way to it.

A part with any fault is read as absent, except that unknown fields are left out and the rest counts.
Extended specification 001; the rule ids are those of its validator, and further ones where that looks at nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar, get_args

from prowess.format.name import name_faults, normalise
from prowess.format.plain_values import Faults, is_blank, kind, named, read_boolean, read_text
from prowess.format.sidecar import (
    Assertion,
    AssertionType,
    Capability,
    Composition,
    ExecutionOrder,
    FileSystemScope,
    Scenario,
    ScenarioCase,
    SecurityManifest,
    SkillDependency,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prowess.format.plain_values import Path

    Value = TypeVar("Value")

_CAPABILITY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*:[A-Za-z*][A-Za-z0-9_.*-]*")
_FLAGS = {
    "requiresNetwork": "requires_network",
    "modifiesFiles": "modifies_files",
    "executesCommands": "executes_commands",
}
_SCENARIO = "testing.scenarios.itemType"
_DEPENDENCY = "composition.dependencies.itemType"


class ManifestFaults(Faults):
    """Collects what is wrong; `decisive` counts the faults that make a part unreadable, so not the unknown fields."""

    def __init__(self) -> None:
        super().__init__()
        self.decisive = 0

    def add(self, rule: str, message: str, path: Path, *, on_key: bool = False) -> None:
        """Report one fault."""
        super().add(rule, message, path, on_key=on_key)
        self.decisive += rule != "manifest.unknownField"


def read_security(value: object, faults: ManifestFaults) -> SecurityManifest | None:
    """Read `security`: `capabilities` and what else it may say."""
    path: Path = ("security",)
    if (entries := _mapping(value, "security.type", path, faults)) is None:
        return None
    before = faults.decisive
    listed = _items(entries, "capabilities", "security.capabilities.type", path, faults)
    capabilities = _each(listed, (*path, "capabilities"), _capability, faults)
    flags = {
        field: read_boolean(entries[key], "security.type", (*path, key), faults)
        for key, field in _FLAGS.items()
        if key in entries
    }
    scope: FileSystemScope | None = None
    if "fileSystemScope" in entries:
        scope = _one_of(
            entries.get("fileSystemScope", ""),
            FileSystemScope,
            "security.fileSystemScope",
            (*path, "fileSystemScope"),
            faults,
        )
    if faults.decisive > before:
        return None
    _known(entries, ("capabilities", *_FLAGS, "fileSystemScope"), path, faults)
    return SecurityManifest(capabilities=capabilities, file_system_scope=scope, **flags)


def read_tests(value: object, faults: ManifestFaults) -> tuple[Scenario, ...] | None:
    """Read `tests`: a list of scenarios."""
    if not isinstance(value, list):
        faults.add("testing.type", f"tests is {_wrong(value)}, it must be a list of scenarios", ("tests",))
        return None
    before = faults.decisive
    scenarios = _each(value, ("tests",), _scenario, faults)
    return scenarios if faults.decisive == before else None


def read_composition(value: object, faults: ManifestFaults) -> Composition | None:
    """Read `composition`: the skills that this one relies on, those it excludes, and where it stands among them."""
    path: Path = ("composition",)
    if (entries := _mapping(value, "composition.type", path, faults)) is None:
        return None
    before = faults.decisive
    listed = _items(entries, "dependencies", "composition.dependencies.type", path, faults)
    dependencies = _each(listed, (*path, "dependencies"), _skill_dependency, faults)
    conflicts: tuple[str, ...] = ()
    if "conflicts" in entries:
        excluded = _items(entries, "conflicts", "composition.conflicts.type", path, faults)
        conflicts = _each(excluded, (*path, "conflicts"), _conflict, faults)
    order: ExecutionOrder | None = "independent"
    if "executionOrder" in entries:
        order = _one_of(
            entries.get("executionOrder", ""),
            ExecutionOrder,
            "composition.executionOrder",
            (*path, "executionOrder"),
            faults,
        )
    whole = faults.decisive == before
    _known(entries, ("dependencies", "conflicts", "executionOrder"), path, faults)
    if not whole or order is None:
        # What it excludes holds all the same: a fault beside it must not open anything.
        return Composition(conflicts=conflicts) if conflicts else None
    return Composition(dependencies=dependencies, conflicts=conflicts, execution_order=order)


def _capability(value: object, path: Path, faults: ManifestFaults) -> Capability | None:
    rule = "security.capabilities.itemType"
    if (entries := _mapping(value, rule, path, faults, "capability and reason")) is None:
        return None
    capability = read_text(entries.get("capability", ""), rule, (*path, "capability"), faults)
    if capability is not None and _CAPABILITY.fullmatch(capability) is None:
        message = f"{named(path)}.capability is {kind(capability)}, it must be area:action such as file:read"
        faults.add(rule, message, (*path, "capability"))
        capability = None
    reason = read_text(entries.get("reason", ""), rule, (*path, "reason"), faults)
    optional = read_boolean(entries["optional"], rule, (*path, "optional"), faults) if "optional" in entries else False
    _known(entries, ("capability", "reason", "optional"), path, faults)
    if capability is None or reason is None or optional is None:
        return None
    return Capability(capability=capability, reason=reason, optional=optional)


def _scenario(value: object, path: Path, faults: ManifestFaults) -> Scenario | None:
    if (entries := _mapping(value, _SCENARIO, path, faults, "name, description and cases")) is None:
        return None
    name = read_text(entries.get("name", ""), "testing.scenarios.name", (*path, "name"), faults)
    description = read_text(entries.get("description", ""), _SCENARIO, (*path, "description"), faults)
    listed = _items(entries, "cases", "testing.scenarios.type", path, faults)
    before = faults.decisive
    cases = _each(listed, (*path, "cases"), _case, faults)
    whole = faults.decisive == before
    _known(entries, ("name", "description", "cases"), path, faults)
    if name is None or description is None or not whole:
        return None
    return Scenario(name=name, description=description, cases=cases)


def _case(value: object, path: Path, faults: ManifestFaults) -> ScenarioCase | None:
    if (entries := _mapping(value, _SCENARIO, path, faults, "name, input and assertions")) is None:
        return None
    before = faults.decisive
    name = read_text(entries.get("name", ""), "testing.scenarios.name", (*path, "name"), faults)
    prompt = read_text(entries.get("input", ""), _SCENARIO, (*path, "input"), faults)
    listed = _items(entries, "assertions", "testing.scenarios.type", path, faults)
    assertions = _each(listed, (*path, "assertions"), _assertion, faults)
    expected = None
    if "expectedBehavior" in entries:
        at = (*path, "expectedBehavior")
        expected = read_text(entries["expectedBehavior"], "testing.scenarios.expectedOutput", at, faults)
    whole = faults.decisive == before
    _known(entries, ("name", "input", "assertions", "expectedBehavior"), path, faults)
    if name is None or prompt is None or not whole:
        return None
    return ScenarioCase(name=name, input=prompt, assertions=assertions, expected_behavior=expected)


def _assertion(value: object, path: Path, faults: ManifestFaults) -> Assertion | None:
    if (entries := _mapping(value, _SCENARIO, path, faults, "type and value")) is None:
        return None
    kind_of: AssertionType | None = _one_of(entries.get("type", ""), AssertionType, _SCENARIO, (*path, "type"), faults)
    wanted = read_text(entries.get("value", ""), _SCENARIO, (*path, "value"), faults)
    described = None
    if "description" in entries:
        described = read_text(entries["description"], _SCENARIO, (*path, "description"), faults)
    _known(entries, ("type", "value", "description"), path, faults)
    if kind_of is None or wanted is None:
        return None
    return Assertion(type=kind_of, value=wanted, description=described)


def _skill_dependency(value: object, path: Path, faults: ManifestFaults) -> SkillDependency | None:
    if (entries := _mapping(value, _DEPENDENCY, path, faults, "skillName and reason")) is None:
        return None
    name = _skill_name(entries.get("skillName", ""), _DEPENDENCY, (*path, "skillName"), faults)
    reason = read_text(entries.get("reason", ""), _DEPENDENCY, (*path, "reason"), faults)
    optional: bool | None = False
    if "optional" in entries:
        optional = read_boolean(entries["optional"], _DEPENDENCY, (*path, "optional"), faults)
    _known(entries, ("skillName", "reason", "optional"), path, faults)
    if name is None or reason is None or optional is None:
        return None
    return SkillDependency(skill_name=name, reason=reason, optional=optional)


def _conflict(value: object, path: Path, faults: ManifestFaults) -> str | None:
    return _skill_name(value, "composition.conflicts.type", path, faults)


def _skill_name(value: object, rule: str, path: Path, faults: ManifestFaults) -> str | None:
    text = read_text(value, rule, path, faults)
    if text is None:
        return None
    name = normalise(text)
    wrong = name_faults(name, ascii_only=False)
    if wrong:
        faults.add(rule, f"{named(path)} is {kind(text)}, which is no name of a skill: {wrong[0].message}", path)
        return None
    return name


def _mapping(
    value: object, rule: str, path: Path, faults: ManifestFaults, of: str = "fields"
) -> dict[str, object] | None:
    if isinstance(value, dict):
        return value
    faults.add(rule, f"{named(path)} is {_wrong(value)}, it must be a mapping of {of}", path)
    return None


def _items(entries: dict[str, object], key: str, rule: str, path: Path, faults: ManifestFaults) -> list[object]:
    value = entries.get(key)
    if isinstance(value, list):
        return value
    shown = "absent" if key not in entries else _wrong(value)
    faults.add(rule, f"{named((*path, key))} is {shown}, it must be a list", (*path, key))
    return []


def _each(
    listed: Iterable[object],
    path: Path,
    read: Callable[[object, Path, ManifestFaults], Value | None],
    faults: ManifestFaults,
) -> tuple[Value, ...]:
    """Read each item; one that cannot be read has been reported, and is left out."""
    values = [read(item, (*path, index), faults) for index, item in enumerate(listed)]
    return tuple(value for value in values if value is not None)


def _one_of(value: object, choice: object, rule: str, path: Path, faults: ManifestFaults) -> Value | None:
    allowed: tuple[Value, ...] = get_args(choice)
    for one in allowed:
        if value == one:
            return one
    words = [str(one) for one in allowed]
    wanted = f"{', '.join(words[:-1])} or {words[-1]}"
    faults.add(rule, f"{named(path)} is {_wrong(value)}, it must be {wanted}", path)
    return None


def _known(entries: dict[str, object], known: tuple[str, ...], path: Path, faults: ManifestFaults) -> None:
    for key in entries:
        if key not in known:
            message = f"{named(path)} has no {kind(key)}, there are {', '.join(known)}"
            faults.add("manifest.unknownField", message, (*path, key), on_key=True)


def _wrong(value: object) -> str:
    return "empty" if is_blank(value) else kind(value)
