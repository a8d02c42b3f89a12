"""Typed values of `skill.manifest.yaml`: one table for each kind of mapping; faults are collected with their place.

A part with any fault is read as absent, except that unknown fields are left out and the rest counts.
Extended specification 001; the rule ids are those of its validator, and further ones where that looks at nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast, get_args

from prowess.format.fields.value_readers import (
    Faults,
    kind,
    named,
    needed,
    optional,
    read_boolean,
    read_choice,
    read_list,
    read_record,
    read_text,
)
from prowess.format.manifest.manifest import (
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
from prowess.format.name import name_faults, normalise

if TYPE_CHECKING:
    from prowess.format.fields.value_readers import Path

_CAPABILITY = r"[A-Za-z][A-Za-z0-9_.-]*:[A-Za-z*][A-Za-z0-9_.*-]*"
_CAPABILITY_ITEM = "security.capabilities.itemType"
_SCENARIO_ITEM = "testing.scenarios.itemType"
_SCENARIO_LIST = "testing.scenarios.type"
_DEPENDENCY_ITEM = "composition.dependencies.itemType"
_CONFLICTS = "composition.conflicts.type"


def _capability_name(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    text = read_text(value, rule, path, faults)
    if text is None or re.fullmatch(_CAPABILITY, text):
        return text
    faults.add(rule, f"{named(path)} is {kind(text)}, it must be area:action such as file:read", path)
    return None


def _skill_name(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    text = read_text(value, rule, path, faults)
    if text is None:
        return None
    name = normalise(text)
    wrong = name_faults(name, ascii_only=False)
    if wrong:
        faults.add(rule, f"{named(path)} is {kind(text)}, which is no name of a skill: {wrong[0].message}", path)
        return None
    return name


_capability = read_record(
    Capability,
    {
        "capability": needed("capability", _capability_name, _CAPABILITY_ITEM),
        "reason": needed("reason", read_text, _CAPABILITY_ITEM),
        "optional": optional("optional", read_boolean, _CAPABILITY_ITEM),
    },
)
_security = read_record(
    SecurityManifest,
    {
        "capabilities": needed("capabilities", read_list(_capability, _CAPABILITY_ITEM), "security.capabilities.type"),
        "requiresNetwork": optional("requires_network", read_boolean, "security.type"),
        "modifiesFiles": optional("modifies_files", read_boolean, "security.type"),
        "executesCommands": optional("executes_commands", read_boolean, "security.type"),
        "fileSystemScope": optional(
            "file_system_scope", read_choice(get_args(FileSystemScope)), "security.fileSystemScope"
        ),
    },
)
_assertion = read_record(
    Assertion,
    {
        "type": needed("type", read_choice(get_args(AssertionType)), _SCENARIO_ITEM),
        "value": needed("value", read_text, _SCENARIO_ITEM),
        "description": optional("description", read_text, _SCENARIO_ITEM),
    },
)
_case = read_record(
    ScenarioCase,
    {
        "name": needed("name", read_text, "testing.scenarios.name"),
        "input": needed("input", read_text, _SCENARIO_ITEM),
        "assertions": needed("assertions", read_list(_assertion, _SCENARIO_ITEM), _SCENARIO_LIST),
        "expectedBehavior": optional("expected_behavior", read_text, "testing.scenarios.expectedOutput"),
    },
)
_scenario = read_record(
    Scenario,
    {
        "name": needed("name", read_text, "testing.scenarios.name"),
        "description": needed("description", read_text, _SCENARIO_ITEM),
        "cases": needed("cases", read_list(_case, _SCENARIO_ITEM), _SCENARIO_LIST),
    },
)
_scenarios = read_list(_scenario, _SCENARIO_ITEM)
_skill_dependency = read_record(
    SkillDependency,
    {
        "skillName": needed("skill_name", _skill_name, _DEPENDENCY_ITEM),
        "reason": needed("reason", read_text, _DEPENDENCY_ITEM),
        "optional": optional("optional", read_boolean, _DEPENDENCY_ITEM),
    },
)
_conflicts = read_list(_skill_name, _CONFLICTS)
_composition = read_record(
    Composition,
    {
        "dependencies": needed(
            "dependencies", read_list(_skill_dependency, _DEPENDENCY_ITEM), "composition.dependencies.type"
        ),
        "conflicts": optional("conflicts", _conflicts, _CONFLICTS),
        "executionOrder": optional(
            "execution_order", read_choice(get_args(ExecutionOrder)), "composition.executionOrder"
        ),
    },
)


def read_security(value: object, faults: Faults) -> SecurityManifest | None:
    """Read `security`: `capabilities` and what else it may say."""
    return _security(value, "security.type", ("security",), faults)


def read_tests(value: object, faults: Faults) -> tuple[Scenario, ...] | None:
    """Read `tests`: a list of scenarios."""
    scenarios = _scenarios(value, "testing.type", ("tests",), faults)
    return scenarios if scenarios is not None and len(scenarios) == len(cast("list[object]", value)) else None


def read_composition(value: object, faults: Faults) -> Composition | None:
    """Read `composition`: the skills that this one relies on, those it excludes, and where it stands among them."""
    composition = _composition(value, "composition.type", ("composition",), faults)
    if composition is None and isinstance(value, dict):
        # What it excludes holds all the same: a fault beside it must not open anything.
        conflicts = _conflicts(value.get("conflicts"), _CONFLICTS, (), Faults())
        return Composition(conflicts=conflicts) if conflicts else None
    return composition
