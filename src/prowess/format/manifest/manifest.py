"""The contents of `skill.manifest.yaml`, the file beside SKILL.md, as typed and frozen values.

The file has up to four keys: `security` (capabilities that the skill needs), `tests` (scenarios), `tools` (tools that
the skill calls) and `composition` (its relation to other skills). The file is optional and grants no permission. Fields
are spelled as in the extended specification, both in the file and in JSON.

The key `tools` is read here. `prowess.tools.tool_binding.missing` checks whether the tools are available. A tool is
written as in `allowed-tools`.

Sources: extended specification 001. The specification does not define a file: its name and place are chosen by Prowess,
because SKILL.md has only six fields.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

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
    from prowess.diagnostics import Diagnostic
    from prowess.format.fields.value_readers import Faults, Path

VERSION = r"v?(?P<release>\d+(?:\.\d+)*)(?:-?(?P<pre>[A-Za-z][0-9A-Za-z.-]*))?(?:\+[0-9A-Za-z.-]+)?"
_ITEM = "tools.dependencies.itemType"


class ToolDependency(Struct, frozen=True, kw_only=True):
    """One tool that a skill uses; `min_version` is `None` if any version will do."""

    tool: ToolToken
    required: bool
    purpose: str
    min_version: str | None = None


class ToolBinding(Struct, frozen=True, kw_only=True):
    """The part `tools` of a manifest."""

    dependencies: tuple[ToolDependency, ...]


def read_binding(value: object, faults: Faults) -> ToolBinding | None:
    """Read the value of `tools`. If any part is wrong, report every fault and return `None`."""
    return _binding(value, "tools.type", ("tools",), faults)


def _tool(value: object, rule: str, path: Path, faults: Faults) -> ToolToken | None:
    tokens = parse_allowed_tools(value) if isinstance(value, str) else None
    if tokens is None or tokens.fault or len(tokens.tokens) != 1:
        why = f": {tokens.fault.message}" if tokens is not None and tokens.fault else ""
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be one tool such as Read or Bash(git:*){why}", path)
        return None
    return tokens.tokens[0]


def _flag(value: object, rule: str, path: Path, faults: Faults) -> bool | None:
    """Read a boolean that is either a `bool` (from JSON) or a string (from the YAML reader)."""
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


MAX_BYTES = 256 * 1024  # our limit: scenarios are short texts
KEYS = ("security", "tests", "tools", "composition")

FileSystemScope = Literal["skill-directory", "workspace", "system"]
ExecutionOrder = Literal["before", "after", "independent"]
AssertionType = Literal[
    "contains", "not-contains", "matches-regex", "file-created", "file-modified", "command-executed", "custom"
]

_CLOSING = frozenset(  # Faults that hide a restriction of the file. A session does not load a skill with one of them.
    {
        "manifest.file",
        "manifest.syntax",
        "manifest.notMapping",
        "manifest.duplicateKey",
        "tools.type",
        "tools.dependencies.type",
        "tools.dependencies.itemType",
        "composition.type",
        "composition.conflicts.type",
    }
)


class Capability(Struct, frozen=True, kw_only=True):
    """A capability that a skill needs, such as `file:read`, and the reason."""

    capability: str
    reason: str
    optional: bool = False


class SecurityManifest(Struct, frozen=True, kw_only=True):
    """The skill's own statement about what it does; a field is `None` if the manifest does not state it."""

    capabilities: tuple[Capability, ...] = ()
    requires_network: bool | None = None
    modifies_files: bool | None = None
    executes_commands: bool | None = None
    file_system_scope: FileSystemScope | None = None


class Assertion(Struct, frozen=True, kw_only=True):
    """A condition on an answer, or on the workspace after the answer."""

    type: AssertionType
    value: str
    description: str | None = None


class ScenarioCase(Struct, frozen=True, kw_only=True):
    """One prompt and the assertions on its result; `expected_behavior` is for a person or a judge model."""

    name: str
    input: str
    assertions: tuple[Assertion, ...]
    expected_behavior: str | None = None


class Scenario(Struct, frozen=True, kw_only=True):
    """A group of cases."""

    name: str
    description: str
    cases: tuple[ScenarioCase, ...]


class SkillDependency(Struct, frozen=True, kw_only=True):
    """Another skill that this skill relies on, and why.

    `version` is an npm range such as `^2`, and `source` where the skill is installed from; `None` leaves both open.
    """

    skill_name: str
    reason: str
    optional: bool = False
    version: str | None = None
    source: str | None = None


class Composition(Struct, frozen=True, kw_only=True):
    """How a skill relates to other skills.

    `conflicts` are names of skills that may not be active at the same time. `execution_order` is the skill's place
    relative to its dependencies: `before` all of them, `after` all of them, or `independent`.
    """

    dependencies: tuple[SkillDependency, ...] = ()
    conflicts: tuple[str, ...] = ()
    execution_order: ExecutionOrder = "independent"


class Sidecar(Struct, frozen=True, kw_only=True):
    """All parts of the manifest file; a part that is absent or could not be read is `None`.

    `digest` is `sha256:<64 hex>` of the file's bytes, or `None` if there is no file. `faults` are the problems found,
    each with its place in the file, at the severities of the profile `spec`.
    """

    security: SecurityManifest | None = None
    tests: tuple[Scenario, ...] | None = None
    tools: ToolBinding | None = None
    composition: Composition | None = None
    digest: str | None = None
    faults: tuple[Diagnostic, ...] = ()

    @property
    def closing_fault(self) -> Diagnostic | None:
        """The first fault that may hide required tools or conflicts, so that a session refuses the skill, or `None`."""
        return next((fault for fault in self.faults if fault.rule in _CLOSING), None)

    def as_dict(self) -> dict[str, object]:
        """Return the four parts as plain data for JSON, under the keys of the file; `null` if absent."""
        return {key: _plain(getattr(self, key)) for key in KEYS}


def _plain(value: object) -> object:
    if isinstance(value, ToolToken):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Struct):
        return {_camel(name): _plain(getattr(value, name)) for name in value.__struct_fields__}
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
