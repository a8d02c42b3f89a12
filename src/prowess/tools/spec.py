"""What a tool is, before anybody calls it, and the call: a request to run one tool, as a model or a program made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from prowess.tools.names import check_name, wire_name
from prowess.tools.validation import check_schema

if TYPE_CHECKING:
    from collections.abc import Mapping


class ToolCall(Struct, frozen=True, kw_only=True):
    """`id` is the caller's and comes back in the audit log; `name` may be any accepted spelling.

    A tool and a gate receive the call with the canonical name and with arguments that fit the schema. `unreadable` is
    one sentence where the arguments came as a text that could not be read; such a call is refused and recorded.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    unreadable: str | None = None


def object_schema(required: str = "", /, **properties: object) -> dict[str, object]:
    """Return the JSON Schema of an object with these properties and no others; blanks separate the required names."""
    listed = {"required": required.split()} if required else {}
    return {"type": "object", "properties": properties, **listed, "additionalProperties": False}


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as it is offered to a model; it belongs to no provider.

    `name` is canonical (`skills.load`). `input_schema` is a JSON Schema of the subset that
    `prowess.tools.validation` enforces; ValueError for any other, so that no schema promises what nobody checks.
    `output_schema` is for hosts and is not checked. The four flags are hints to a host, never a ground to permit a
    call: `read_only` changes nothing, `destructive` may remove or overwrite, `idempotent` may be repeated safely,
    `open_world` reaches outside this machine. `aliases` are other names that calls of this tool may use.
    `needs_approval` says why a person must be asked before each run; None leaves that to the policy.
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
    """Something that can be called. It receives arguments that fit its schema, with defaults filled in.

    `run` begins with `prowess.tools.require_executor(self, call)`, so that only an executor can run it. A `SkillError`
    is a failed result with that error's code; any other exception is a defect of the tool, reported as `internal`.
    """

    @property
    def spec(self) -> ToolSpec:
        """What is offered."""

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Do it and return the result as JSON values."""
