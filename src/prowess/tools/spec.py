"""Specifications of tools, tool calls, and the validation of arguments against a schema.

A canonical name may contain dots (`skills.run_script`). Many hosts refuse dots, so a tool is exported under its wire
name (`skills_run_script`). Wire names follow the strictest known rule: letters, digits and underscores, at most 40. A
call is looked up in a table made from the registered names. Replacing characters cannot restore a canonical name,
because `run_script` contains an underscore of its own.

Input schemas are in the subset of `prowess._internal.schema_subset`. A schema with any other keyword is refused when
the tool is registered, because a tool would rely on a rule that is not enforced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from prowess._internal.schema_subset import check_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess.policy.facts.skill_identity import SkillIdentity

MAX_WIRE_LENGTH = 40
Trigger = Literal["model", "user", "host"]
_CANONICAL = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*"


def wire_name(name: str) -> str:
    """Return the name of a tool for hosts that refuse dots: `skills_load` for `skills.load`."""
    return name.replace(".", "_")


def as_called(name: str, called: str) -> str:
    """Spell a canonical name in the style of `called`, the caller's name: with dots, hyphens, or else underscores."""
    if "." in called:
        return name
    return name.replace(".", "-") if "-" in called else wire_name(name)


def check_name(name: str) -> None:
    """Raise ValueError if `name` cannot be a canonical tool name."""
    if not re.fullmatch(_CANONICAL, name) or len(name) > MAX_WIRE_LENGTH:
        rule = f"words of letters, digits and underscores, joined by dots, {MAX_WIRE_LENGTH} characters at most"
        message = f"tool name {name!r} must be {rule}"
        raise ValueError(message)


def spellings(name: str) -> tuple[str, ...]:
    """Return the spellings with dots, underscores, hyphens for dots, and hyphens for dots and underscores."""
    underscored = wire_name(name)
    return tuple(
        dict.fromkeys((name, underscored, name.replace(".", "-"), underscored.replace("_", "-").strip("-") or name))
    )


def spelling_table(names: Iterable[str], aliases: Mapping[str, tuple[str, ...]] | None = None) -> dict[str, str]:
    """Return a table from spellings to canonical names. Raise ValueError if two tools would share a spelling."""
    table: dict[str, str] = {}
    for name in names:
        own = (name, *(aliases or {}).get(name, ()))
        for text in own:
            check_name(text)
        for spelling in dict.fromkeys(spelling for text in own for spelling in spellings(text)):
            if spelling in table:
                message = f"tools {table[spelling]!r} and {name!r} would both answer to {spelling!r}"
                raise ValueError(message)
            table[spelling] = name
    return table


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call of a tool.

    `id` is chosen by the caller and recorded in the audit log. `name` may be any accepted spelling. Tools and gates
    receive the call with the canonical name and with arguments that fit the schema. If the arguments came as a text
    that could not be parsed, `unreadable` is a sentence about the fault, and the call is refused and recorded. `skills`
    are the skills that the call is about (`prowess.policy.PolicyCall`), or None if they have not been determined.
    `called` is the caller's spelling of the name; it is empty if it equals `name`. `trigger` is recorded: who started
    the call, a `model`, a `user`, or the code of the `host`.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    unreadable: str | None = None
    skills: tuple[SkillIdentity, ...] | None = None
    called: str = ""
    trigger: Trigger = "model"


def object_schema(required: str = "", /, **properties: object) -> dict[str, object]:
    """Return the JSON Schema of an object with only these properties. `required` has names separated by blanks."""
    listed = {"required": required.split()} if required else {}
    return {"type": "object", "properties": properties, **listed, "additionalProperties": False}


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as it is offered to a model, independent of providers.

    `name` is canonical (`skills.load`). `input_schema` must be in the subset of JSON Schema that is enforced; otherwise
    ValueError is raised, so that no schema promises a rule that is not checked. `output_schema` is for hosts and is not
    checked. Four flags are hints for a host and never a reason to permit a call: `read_only` (changes no data),
    `destructive` (may remove or overwrite), `idempotent` (may be repeated safely), `open_world` (reaches outside this
    machine). `aliases` are other names that calls of this tool may use. `needs_approval` is the
    reason why a person must approve each run; None leaves the decision to the policy.
    """

    name: str
    description: str
    input_schema: Mapping[str, object]
    output_schema: Mapping[str, object] | None = None
    title: str | None = None
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    aliases: tuple[str, ...] = ()
    needs_approval: str | None = None

    def __post_init__(self) -> None:
        for name in (self.name, *self.aliases):
            check_name(name)
        check_schema(self.input_schema)
        if self.input_schema.get("type") != "object":
            message = f"the input schema of {self.name!r} must be of type object"
            raise ValueError(message)

    @property
    def wire_name(self) -> str:
        """The name for hosts that refuse dots."""
        return wire_name(self.name)


class Tool(Protocol):
    """A tool that an executor can run. The arguments of `run` fit the tool's schema and include default values.

    `run` must begin with `prowess.tools.require_executor(self, call)`, so that only an executor can run it. A
    `SkillError` becomes a failed result; any other exception is a defect of the tool, reported as `internal`.
    """

    @property
    def spec(self) -> ToolSpec:
        """The specification of this tool."""

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool and return its result as JSON values."""
