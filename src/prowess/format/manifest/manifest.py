"""What `skill.manifest.yaml` beside SKILL.md says: the extended manifests, as typed and frozen values.

The file has up to four keys: `security` (what the skill needs to be able to do), `tests` (scenarios), `tools` (what it
calls) and `composition` (its relation to other skills). Nothing in it grants anything, and a skill without the file is
what it always was. The fields keep the spelling of their source in the file and in JSON.

The key `tools` is read here. Nothing is looked for; `prowess.tools.tool_binding.missing` compares a binding with the
tools that there are. The grammar of a tool is that of `allowed-tools`.

Sources: extended specification 001; where the file lies is ours, because SKILL.md knows six fields.
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


MAX_BYTES = 256 * 1024  # ours: scenarios are texts, and more than that is no manifest
KEYS = ("security", "tests", "tools", "composition")

FileSystemScope = Literal["skill-directory", "workspace", "system"]
ExecutionOrder = Literal["before", "after", "independent"]
AssertionType = Literal[
    "contains", "not-contains", "matches-regex", "file-created", "file-modified", "command-executed", "custom"
]

# Faults that leave open what the file narrows: with one of these a session does not load the skill.
_CLOSING = frozenset(
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
    """Something that a skill needs to be able to do, such as `file:read`, and why."""

    capability: str
    reason: str
    optional: bool = False


class SecurityManifest(Struct, frozen=True, kw_only=True):
    """What a skill says that it does; None where it does not say."""

    capabilities: tuple[Capability, ...] = ()
    requires_network: bool | None = None
    modifies_files: bool | None = None
    executes_commands: bool | None = None
    file_system_scope: FileSystemScope | None = None


class Assertion(Struct, frozen=True, kw_only=True):
    """What must be true of an answer, or of the workspace after it."""

    type: AssertionType
    value: str
    description: str | None = None


class ScenarioCase(Struct, frozen=True, kw_only=True):
    """One prompt and what must come of it; `expected_behavior` is for a reader or a judge."""

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
    """Another skill that this one relies on, and why."""

    skill_name: str
    reason: str
    optional: bool = False


class Composition(Struct, frozen=True, kw_only=True):
    """How a skill relates to others.

    `conflicts` are names of skills that may not be active beside it. `execution_order` says where it stands relative to
    its dependencies: `before` all of them, `after` all of them, or anywhere.
    """

    dependencies: tuple[SkillDependency, ...] = ()
    conflicts: tuple[str, ...] = ()
    execution_order: ExecutionOrder = "independent"


class Sidecar(Struct, frozen=True, kw_only=True):
    """Everything that the file says; a part that is absent, or could not be read, is None.

    `digest` is `sha256:<64 hex>` of its bytes, None without a file. `faults` say what is wrong, each with its place in
    the file, at the severities of the profile `spec`.
    """

    security: SecurityManifest | None = None
    tests: tuple[Scenario, ...] | None = None
    tools: ToolBinding | None = None
    composition: Composition | None = None
    digest: str | None = None
    faults: tuple[Diagnostic, ...] = ()

    @property
    def closing_fault(self) -> Diagnostic | None:
        """The first fault for which a session refuses to load the skill: what it may not be loaded with is unknown."""
        return next((fault for fault in self.faults if fault.rule in _CLOSING), None)

    def as_dict(self) -> dict[str, object]:
        """Return the four parts as plain data for JSON, under the keys of the file; null where absent."""
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
