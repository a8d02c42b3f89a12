"""Specifications of tools, tool calls, and the validation of arguments against a schema.

A canonical name may contain dots (`skills.run_script`). Many hosts refuse dots, so a tool is exported under its wire
name (`skills_run_script`). Wire names follow the strictest known rule: letters, digits and underscores, at most 40. A
call is looked up in a table made from the registered names. Replacing characters cannot restore a canonical name,
because `run_script` contains an underscore of its own.

Schemas are a subset of JSON Schema: `type` (a name or a list of names), `properties`, `required`,
`additionalProperties`, `enum`, `items`, `minItems`, `maxItems`, `minimum`, `maximum`, `minLength`, `maxLength`. A
schema with any other keyword is refused when the tool is registered, because a tool would rely on a rule that is not
enforced. Neither `true` nor 2.0 is an integer. All problems of the arguments are reported together, and no value is
coerced. The messages are those of the platform requirements 003, "Error Handling".
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from operator import gt, lt
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from prowess._internal.text.near_words import near_words
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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

    `name` is canonical (`skills.load`). `input_schema` must be in the subset of JSON Schema that `prowess.tools.spec`
    enforces; otherwise ValueError is raised, so that no schema promises a rule that is not checked. `output_schema` is
    for hosts and is not checked. Four flags are hints for a host and never a reason to permit a call: `read_only`
    (changes no data), `destructive` (may remove or overwrite), `idempotent` (may be repeated safely), `open_world`
    (reaches outside this machine). `aliases` are other names that calls of this tool may use. `needs_approval` is the
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


MAX_PROBLEMS = 50  # limit on the named problems; the rest is counted
_MAX_NAME = 80  # characters of a name that a message quotes

_REMARKS = frozenset({"title", "description", "default", "examples", "$schema"})
_RULES = frozenset({"type", "properties", "required", "additionalProperties", "enum", "items"}) | {
    f"{side}{suffix}" for side in ("min", "max") for suffix in ("imum", "Items", "Length")
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}


def check_schema(schema: object, where: str = "schema") -> None:
    """Raise ValueError for a schema that is not enforced completely."""
    if not isinstance(schema, Mapping):
        message = f"{where} must be a mapping, not {type(schema).__name__}"
        raise ValueError(message)  # noqa: TRY004 -- every fault of a schema raises the same type of error
    if unknown := sorted(set(schema) - _RULES - _REMARKS):
        message = f"{where} uses {', '.join(unknown)}, which is not enforced"
        raise ValueError(message)
    if strange := [name for name in type_names(schema) if name not in _TYPES]:
        message = f"{where} has the unknown type {strange[0]!r}"
        raise ValueError(message)
    for name, below in _mapping(schema.get("properties")).items():
        check_schema(below, f"{where}.{name}")
    for keyword in ("items", "additionalProperties"):
        if not isinstance(schema.get(keyword, True), bool):
            check_schema(schema[keyword], f"{where}.{keyword}")


def require_fitting(arguments: object, schema: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments, with default values for arguments that the call leaves out.

    Raise InvalidArgumentsError with one sentence for each problem, and suggestions for misspelt names.
    """
    found: list[str] = []
    suggestions: list[str] = []
    more = 0
    for text, suggestion in _faults(arguments, schema, ""):
        if len(found) < MAX_PROBLEMS:
            found.append(text)
            suggestions += suggestion
        else:
            more += 1
    if not found and isinstance(arguments, Mapping):
        return _with_defaults(arguments, schema)
    error = InvalidArgumentsError((*found, f"and {more} more problems") if more else tuple(found))
    error.suggestions = tuple(dict.fromkeys(suggestions))
    raise error


def _with_defaults(arguments: Mapping[str, object], schema: Mapping[str, object]) -> dict[str, object]:
    filled = {name: _copied(item) for name, item in arguments.items()}
    for name, below in _mapping(schema.get("properties")).items():
        if name not in filled and isinstance(below, Mapping) and "default" in below:
            filled[name] = copy.deepcopy(below["default"])
    return filled


def _copied(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Copy the mutable parts of a JSON value. Mappings other than `dict` are not copied."""
    kind = type(value)
    if kind is dict:
        return {name: _copied(item) for name, item in value.items()}
    return kind(map(_copied, value)) if kind is list or kind is tuple else value


_Fault = tuple[str, list[str]]


def _faults(value: object, schema: Mapping[str, object], path: str) -> Iterator[_Fault]:
    names = type_names(schema)
    if names and not any(_is(value, name) for name in names):
        yield (
            f"Invalid parameter type: expected {' or '.join(names)}, got {type_name(value)} ({path or 'arguments'})",
            [],
        )
        return
    if "enum" in schema:
        yield from _faults_of_choice(value, _sequence(schema["enum"]), path)
    match value:
        case str():
            yield from _faults_of_size(len(value), schema, path, "Length", "character")
        case list() | tuple():
            yield from _faults_of_size(len(value), schema, path, "Items", "item")
            items = schema.get("items")
            if isinstance(items, Mapping):
                for index, item in enumerate(value):
                    yield from _faults(item, items, f"{path}[{index}]")
        case Mapping():
            yield from _faults_of_object(value, schema, path)
        case int() | float() if not isinstance(value, bool):
            yield from _faults_of_size(value, schema, path, "imum")


def _faults_of_object(value: Mapping[str, object], schema: Mapping[str, object], path: str) -> Iterator[_Fault]:
    properties = _mapping(schema.get("properties"))
    for name in _sequence(schema.get("required")):
        if name not in value:
            yield f"Missing required parameter: {_join(path, str(name))}", []
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        below = properties.get(name, others)
        if isinstance(below, Mapping):
            yield from _faults(item, below, _join(path, name))
        elif below is False:
            near = near_words(name[:_MAX_NAME], properties)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield f"Unknown parameter: {_join(path, name)}{hint}", near


def _faults_of_choice(value: object, choices: Sequence[object], path: str) -> Iterator[_Fault]:
    if not any(value == choice and type_name(value) == type_name(choice) for choice in choices):
        texts = [str(choice) for choice in choices]
        near = near_words(value[:_MAX_NAME], texts) if isinstance(value, str) else []
        yield f"Invalid parameter value: {path or 'arguments'}: expected one of {', '.join(map(repr, texts))}", near


def _faults_of_size(
    size: float, schema: Mapping[str, object], path: str, suffix: str, unit: str = ""
) -> Iterator[_Fault]:
    """Compare a number, or a count of `unit`, with both limits."""
    for prefix, word, wrong in (("min", "at least", lt), ("max", "at most", gt)):
        limit = schema.get(prefix + suffix)
        if isinstance(limit, (int, float)) and wrong(size, limit):
            wanted = f"{limit} {unit}{'' if limit == 1 else 's'}" if unit else limit
            yield f"Invalid parameter value: {path or 'arguments'}: expected {word} {wanted}, got {size}", []


def type_name(value: object) -> str:
    """Return the JSON name of a value's type, or the Python name if JSON has no such type."""
    for name in ("boolean", "integer", *_TYPES):
        if _is(value, name):
            return name
    return type(value).__name__


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):  # in Python, bool is a subclass of int
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def type_names(schema: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the types that a schema permits. An empty tuple means any type."""
    declared = schema.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(str(name) for name in _sequence(declared))


def _join(path: str, name: str) -> str:
    shown = printable_line(name[:_MAX_NAME]) + ("…" if len(name) > _MAX_NAME else "")
    return f"{path}.{shown}" if path else shown


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
