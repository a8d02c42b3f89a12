"""Read `skill.manifest.yaml`: open the file safely, parse it, and give every fault its place.

Only a regular file is opened, and no symbolic link is followed. Faults of the file are returned, not raised. The limits
are those of front matter: no anchors, aliases or tags, and bounded depth and size.

Values are typed by one table for each kind of mapping. A part with a fault is read as absent, with one exception: an
unknown field is reported and left out, and the other fields of the part are kept. Source: extended specification 001.
Rule ids are those of the validator of that specification, plus new ids for faults that the validator does not check.
"""

from __future__ import annotations

import hashlib
import os
import re
from itertools import islice
from typing import TYPE_CHECKING, cast, get_args

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.yaml_reader import MAX_FAULTS, Mapping, read_yaml
from prowess.diagnostics import Location
from prowess.errors import UnsafePathError
from prowess.format.document import Field, key_text, plain, repeated_keys
from prowess.format.fields.value_readers import (
    UNKNOWN_FIELD,
    Faults,
    FieldFault,
    kind,
    named,
    needed,
    optional,
    read_boolean,
    read_choice,
    read_list,
    read_record,
    read_text,
    report_unknown,
)
from prowess.format.limits import MANIFEST_FILE
from prowess.format.manifest.manifest import (
    KEYS,
    MAX_BYTES,
    Assertion,
    AssertionType,
    Capability,
    Composition,
    ExecutionOrder,
    FileSystemScope,
    Scenario,
    ScenarioCase,
    SecurityManifest,
    Sidecar,
    SkillDependency,
    read_binding,
)
from prowess.format.manifest.requirements import range_fault, source_fault
from prowess.format.name import name_faults, normalise
from prowess.format.parsing import describe, finding
from prowess.format.rules.body_rules import place_of
from prowess.format.source.source_text import SourceText, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess._internal.files.tree_digest import TreeReading
    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Diagnostic
    from prowess.format.fields.value_readers import Path

_NONE = Sidecar()


def has_sidecar(directory: str) -> bool:
    """Whether the directory contains an entry with the manifest's name. The entry is not opened."""
    return os.path.lexists(os.path.join(directory, MANIFEST_FILE))


def read_sidecar(directory: str, *, shown_as: str | None = None) -> Sidecar:
    """Read the manifest of a skill's directory; the result is empty if there is no file.

    `shown_as` is the path of the directory in reports.

        sidecar = read_sidecar("examples/skills/csv-report")
        sidecar.composition, sidecar.faults

    A file that cannot be opened or read is reported in `faults`; no error is raised for it.
    """
    path = os.path.normpath(os.path.join(directory if shown_as is None else shown_as, MANIFEST_FILE))
    if not has_sidecar(directory):
        return _NONE
    try:
        with ContainedRoot(directory) as root, root.open(MANIFEST_FILE) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return _NONE
    except UnsafePathError as fault:
        return _unread(path, f"{MANIFEST_FILE} is not read: {fault.reason}")
    except OSError as fault:
        return _unread(path, f"{MANIFEST_FILE} cannot be read: {fault.strerror}")
    return parse_sidecar(data, path=path)


def sidecar_of(directory: str, files: TreeReading, *, shown_as: str | None = None) -> Sidecar:
    """Return the sidecar from the files of a skill that were already read.

    The result is empty if there is no manifest. If the manifest is unreadable or too large, the result contains that
    fault. `shown_as` is the path of the directory in reports.
    """
    path = os.path.normpath(os.path.join(directory if shown_as is None else shown_as, MANIFEST_FILE))
    if (kept := files.kept.get(MANIFEST_FILE)) is not None:
        return parse_sidecar(kept.data, path=path)
    if MANIFEST_FILE in files.manifest.obstacles:
        return read_sidecar(directory, shown_as=shown_as)
    return _NONE if files.manifest.find(MANIFEST_FILE) is None else _too_large(path)


def parse_sidecar(data: bytes, *, path: str | None = None) -> Sidecar:
    """Parse the bytes of a manifest; `path` is the path in reports. A file that is too large has only this fault."""
    if len(data) > MAX_BYTES:
        return _too_large(path)
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    decoded = decode(data)
    origin = SourceText(path=path, text=decoded.text, bom=decoded.bom)
    found = [
        finding("manifest.file", fault.message, origin.location(fault.offset), detail=fault.detail)
        for fault in decoded.faults
        if fault.rule != "encoding.bom"
    ]
    reading = read_yaml(decoded.text)
    for fault in reading.faults:
        message = describe(fault, decoded.text)
        found.append(finding("manifest.syntax", message, origin.location(fault.offset), detail=fault.construct))
    if found or reading.root is None:
        return Sidecar(digest=digest, faults=tuple(found[:MAX_FAULTS]))
    if not isinstance(reading.root, Mapping):
        message = f"{MANIFEST_FILE} must be a mapping of {', '.join(KEYS)}"
        place = origin.location(reading.root.start, reading.root.end)
        return Sidecar(digest=digest, faults=(finding("manifest.notMapping", message, place),))
    return _typed(reading.root, origin, digest)


def _typed(root: Mapping, origin: SourceText, digest: str) -> Sidecar:
    found = list(_duplicates(root, origin))
    fields: dict[str, Field] = {}
    for key, value in root.entries:
        field = Field(key=key_text(key, origin), key_node=key, value=value, origin=origin)
        fields.setdefault(field.key, field)
    values = {key: plain(field.value, origin) for key, field in fields.items()}
    faults = Faults()
    report_unknown(values, KEYS, UNKNOWN_FIELD, (), faults)
    parts = {
        part: read(values[part], faults)
        for part, read in (
            ("security", read_security),
            ("tests", read_tests),
            ("tools", read_binding),
            ("composition", read_composition),
        )
        if part in values
    }
    # If the list must be cut, drop unknown fields first, because they have no effect on the result.
    ordered = sorted(faults.found, key=lambda fault: fault.rule == UNKNOWN_FIELD)[:MAX_FAULTS]
    found += [finding(fault.rule, fault.message, _place(fields, fault)) for fault in ordered]
    found.sort(key=lambda one: (one.location.line, one.location.column))
    return Sidecar(digest=digest, faults=tuple(found), **parts)  # type: ignore[arg-type]  # each reader returns the type of its key


def place_in_composition(directory: str, shown_as: str, part: str, index: int) -> Location:
    """Return the place of an entry of `composition`, or the top of the file if the entry is no longer there."""
    path = os.path.normpath(os.path.join(shown_as, MANIFEST_FILE))
    try:
        with ContainedRoot(directory) as root, root.open(MANIFEST_FILE) as file:
            text = decode(file.read(MAX_BYTES + 1))
    except (OSError, UnsafePathError):
        return Location(path=path)
    origin = SourceText(path=path, text=text.text, bom=text.bom)
    root_node = read_yaml(text.text).root
    if isinstance(root_node, Mapping):
        for key, value in root_node.entries:
            if key_text(key, origin) == "composition":
                field = Field(key="composition", key_node=key, value=value, origin=origin)
                return place_of(field, FieldFault(rule="", message="", path=("composition", part, index)))
    return Location(path=path)


def _place(fields: dict[str, Field], fault: FieldFault) -> Location:
    return place_of(fields[str(fault.path[0])], fault)


def _duplicates(root: Node, origin: SourceText) -> Iterator[Diagnostic]:
    for name, key in islice(repeated_keys(root, origin), MAX_FAULTS):
        message = f"the key {name[:60]!r} is written twice; the first one counts"
        yield finding("manifest.duplicateKey", message, origin.location(key.start, key.end))


def _too_large(path: str | None) -> Sidecar:
    return _unread(path, f"{MANIFEST_FILE} is larger than {MAX_BYTES} bytes; keep long texts in files of their own")


def _unread(path: str | None, message: str) -> Sidecar:
    return Sidecar(faults=(finding("manifest.file", message, Location(path=path)),))


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
        faults.add(rule, f"{named(path)} is {kind(text)}, which is not a valid skill name: {wrong[0].message}", path)
        return None
    return name


def _range(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    return _checked_text(value, rule, path, faults, range_fault)


def _source(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    return _checked_text(value, rule, path, faults, source_fault)


def _checked_text(
    value: object, rule: str, path: Path, faults: Faults, fault_of: Callable[[str], str | None]
) -> str | None:
    text = read_text(value, rule, path, faults)
    if text is not None and (fault := fault_of(text)) is not None:
        faults.add(rule, f"{named(path)} is {kind(text)}, which {fault}", path)
        return None
    return text


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
        "version": optional("version", _range, _DEPENDENCY_ITEM),
        "source": optional("source", _source, _DEPENDENCY_ITEM),
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
    """Read `security`: `capabilities`, and the optional statements about network, files, commands and scope."""
    return _security(value, "security.type", ("security",), faults)


def read_tests(value: object, faults: Faults) -> tuple[Scenario, ...] | None:
    """Read `tests`: a list of scenarios. Return `None` if any of them is wrong."""
    scenarios = _scenarios(value, "testing.type", ("tests",), faults)
    return scenarios if scenarios is not None and len(scenarios) == len(cast("list[object]", value)) else None


def read_composition(value: object, faults: Faults) -> Composition | None:
    """Read `composition`: the skills that this skill depends on or excludes, and its order among them."""
    composition = _composition(value, "composition.type", ("composition",), faults)
    if composition is None and isinstance(value, dict):
        # Conflicts stay in force: a fault in another field must not allow a forbidden combination.
        conflicts = _conflicts(value.get("conflicts"), _CONFLICTS, (), Faults())
        return Composition(conflicts=conflicts) if conflicts else None
    return composition
