"""Fields beyond the specification that a runtime obeys, as typed and frozen values.

`extended_fields` reads them from the properties of a skill, whatever parser produced those. This function raises no
errors. A value that cannot be read is a fault. If the field is a restriction, its strictest value then applies: a
typing error may isolate a skill, hide it or stop it from running, but never gives it more rights. The types below
document the meaning of an absent field.

Sources: agent skills platform, YAML frontmatter fields, skill scoping, script execution security; a platform in use,
for the names and bounds of the limits on a turn; agents in use, for the fields on who may invoke a skill, with which
arguments.

Arguments are in the order in which a call passes them. The field `arguments` is either a list of names (or one text of
names with spaces), or a list of mappings with a description and a default. If any part of the declaration cannot be
read, there are no arguments: if only the faulty entry were left out, every later name would get the wrong value.

The field `execution` is a request by the skill. It grants no permission: limits of the host and its sandbox always
apply. A number outside its bounds becomes the nearest bound. A value that cannot be read is left to the host, or, if
that could grant a right, becomes the strictest value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from prowess.format.fields.hooks import Hooks, read_hooks
from prowess.format.fields.value_readers import (
    Faults,
    FieldFault,
    is_blank,
    kind,
    named,
    read_choice,
    read_seconds,
    read_switch,
    read_text,
    read_texts,
    read_whole,
    report_unknown,
)
from prowess.format.limits import EXTENDED_FIELDS, MAX_TAG_LENGTH, MAX_TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.format.fields.value_readers import Path

ExecutionMode = Literal["simple", "autonomous"]
MAX_ITERATIONS = 100
MAX_RETRIES = 10
MAX_ITERATION_SECONDS = 3600.0
_EXEC = "execution.type"


class Execution(Struct, frozen=True, kw_only=True):
    """Execution settings that a skill requests; `None` leaves a setting to the host.

    `sandbox` is false only if the skill sets it to false. `allowed_paths` are as written, `None` if the key is absent.
    `network` is a word as written; `restricted` and `none` are in use. Times are in seconds.
    """

    mode: ExecutionMode | None = None
    max_iterations: int | None = None
    max_retries_per_tool: int | None = None
    timeout_per_iteration: float | None = None
    early_termination: bool | None = None
    sandbox: bool = True
    allowed_paths: tuple[str, ...] | None = None
    network: str | None = None


def read_execution(value: object, faults: Faults) -> Execution:
    """Read the field `execution`; problems are added to `faults`."""
    if is_blank(value):
        return Execution()
    if not isinstance(value, dict):
        message = f"execution is {kind(value)}, it must be a mapping such as max-iterations: 20"
        faults.add(_EXEC, message, ("execution",))
        return Execution()
    report_unknown(value, _READERS, _EXEC, ("execution",), faults, then="; it is ignored")
    read = {
        key.replace("-", "_"): _READERS[key](setting, ("execution", key), faults)
        for key, setting in value.items()
        if key in _READERS
    }
    return Execution(**read)  # type: ignore[arg-type]  # each reader returns the type of its field


_mode = read_choice(get_args(ExecutionMode))
_READERS: dict[str, Callable[[object, Path, Faults], object]] = {
    "mode": lambda value, path, faults: _mode(value, _EXEC, path, faults),
    "max-iterations": lambda value, path, faults: read_whole(value, _EXEC, path, faults, bounds=(1, MAX_ITERATIONS)),
    "max-retries-per-tool": lambda value, path, faults: read_whole(value, _EXEC, path, faults, bounds=(0, MAX_RETRIES)),
    "timeout-per-iteration": lambda value, path, faults: read_seconds(
        value, _EXEC, path, faults, most=MAX_ITERATION_SECONDS
    ),
    "early-termination": lambda value, path, faults: read_switch(value, _EXEC, path, faults),
    "sandbox": lambda value, path, faults: read_switch(value, _EXEC, path, faults) is not False,
    "allowed-paths": lambda value, path, faults: read_texts(value, _EXEC, path, faults) or (),
    "network": lambda value, path, faults: read_text(value, _EXEC, path, faults) or "none",
}


MAX_ARGUMENTS = 64
MAX_DEFAULT_LENGTH = 4096
_ARGS = "arguments.type"
_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z"
_TAKEN = frozenset({"ARGUMENTS", "SKILL_DIR", "SESSION_ID"})  # placeholders with their own meaning


class Argument(Struct, frozen=True, kw_only=True):
    """One declared argument; `default` is `None` if there is no default."""

    name: str
    description: str = ""
    default: str | None = None
    required: bool = False


def read_arguments(value: object, faults: Faults) -> tuple[Argument, ...]:
    """Read the field `arguments`. On any problem, add it to `faults` and return no arguments."""
    if is_blank(value):
        return ()
    listed = value.split() if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        message = f"arguments is {kind(value)}, it must be a list of names or of mappings with a name"
        faults.add(_ARGS, message, ("arguments",))
        return ()
    if len(listed) > MAX_ARGUMENTS:
        faults.add(_ARGS, f"arguments has {len(listed)} entries, at most {MAX_ARGUMENTS} are allowed", ("arguments",))
        return ()
    before = len(faults.found)
    seen: dict[str, Argument] = {}
    for index, entry in enumerate(listed):
        path: Path = ("arguments",) if isinstance(value, str) else ("arguments", index)
        argument = _argument(entry, path, faults)
        if argument is not None and argument.name in seen:
            faults.add(_ARGS, f"the argument {argument.name!r} is declared twice", path)
        elif argument is not None:
            seen[argument.name] = argument
    return tuple(seen.values()) if len(faults.found) == before else ()


def _argument(entry: object, path: Path, faults: Faults) -> Argument | None:
    if not isinstance(entry, dict):
        name = _name(entry, path, faults)
        return None if name is None else Argument(name=name)
    report_unknown(entry, ("name", "description", "default", "required"), _ARGS, path, faults)
    if "name" not in entry:
        faults.add(_ARGS, f"{named(path)} has no name", path)
        return None
    name = _name(entry["name"], (*path, "name"), faults)
    described = entry.get("description", "")
    description = "" if is_blank(described) else read_text(described, _ARGS, (*path, "description"), faults)
    default = entry.get("default")
    if default is not None and not (isinstance(default, str) and len(default) <= MAX_DEFAULT_LENGTH):
        message = f"{named((*path, 'default'))} must be a text of at most {MAX_DEFAULT_LENGTH} characters"
        faults.add(_ARGS, message, (*path, "default"))
    required = read_switch(entry["required"], _ARGS, (*path, "required"), faults) if "required" in entry else False
    if name is None or description is None or required is None:
        return None
    return Argument(
        name=name,
        description=description,
        default=default if isinstance(default, str) else None,
        required=required,
    )


def _name(value: object, path: Path, faults: Faults) -> str | None:
    taken = isinstance(value, str) and value in _TAKEN
    if isinstance(value, str) and re.match(_NAME, value) and not taken:
        return value
    why = "which is a reserved name" if taken else "it must be letters, digits, _ and -, a letter or _ first"
    faults.add(_ARGS, f"{named(path)} is {kind(value)}, {why}", path)
    return None


Context = Literal["inherit", "fork"]
_SCOPES = ("agents", "tenants", "environments")


class Scope(Struct, frozen=True, kw_only=True):
    """The agents, tenants and environments in which a skill is visible.

    A field that is `None` admits every value, an empty tuple admits no value. If `closed` is true, a part of the scope
    could not be read, and the skill is not visible at all.
    """

    agents: tuple[str, ...] | None = None
    tenants: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None
    closed: bool = False

    def admits(self, *, agent: str | None = None, tenant: str | None = None, environment: str | None = None) -> bool:
        """Whether the skill is visible for this agent, tenant and environment. All three must be admitted.

        An argument that is `None` is admitted only if the field is `None`.
        """
        if self.closed:
            return False
        pairs = ((self.agents, agent), (self.tenants, tenant), (self.environments, environment))
        return all(allowed is None or place in allowed for allowed, place in pairs)


_NO_HOOKS, _NO_SCOPE, _NO_EXECUTION = Hooks(), Scope(), Execution()


class ExtendedFields(Struct, frozen=True, kw_only=True):
    """The fields beyond the specification.

    `model` and `agent` are `None` if the host chooses. `paths` is `None` if the key is absent. `faults` are the values
    that could not be read as written; `unreadable` names their fields. `tags` are those below `metadata` if there is no
    field `tags`.
    """

    model: str | None = None
    context: Context = "inherit"
    agent: str | None = None
    hooks: Hooks = _NO_HOOKS
    scope: Scope = _NO_SCOPE
    execution: Execution = _NO_EXECUTION
    priority: int = 0
    tags: tuple[str, ...] = ()
    disable_model_invocation: bool = False
    user_invocable: bool = True
    arguments: tuple[Argument, ...] = ()
    argument_hint: str | None = None
    paths: tuple[str, ...] | None = None
    faults: tuple[FieldFault, ...] = ()

    @property
    def unreadable(self) -> frozenset[str]:
        """The keys of the fields with a fault, as written in the front matter."""
        return frozenset(str(fault.path[0]) for fault in self.faults)

    def as_dict(self) -> dict[str, object]:
        """Return plain data for JSON, without the faults."""
        data: dict[str, object] = to_builtins(self)
        del data["faults"]
        return data


_ABSENT = ExtendedFields()


def extended_fields(properties: Mapping[str, object]) -> ExtendedFields:
    """Read the extended fields from properties, as returned by `Frontmatter.properties` and `SkillEntry.properties`.

    Raises no error for any value. For a skill without extended fields only the keys and `metadata` are examined.

        fields = extended_fields({"name": "deploy", "context": "fork", "user-invocable": "no"})
        fields.context, fields.user_invocable, fields.unreadable  # ('fork', False, frozenset({'user-invocable'}))
    """
    if EXTENDED_FIELDS.isdisjoint(properties):
        tags = _tags_below_metadata(properties)
        return replace(_ABSENT, tags=tags) if tags else _ABSENT
    faults = Faults()
    found = dict(properties)
    model = _optional_text(found, "model", faults)
    return ExtendedFields(
        model=None if model == "inherit" else model,
        context=_context(found, faults),
        agent=_optional_text(found, "agent", faults),
        hooks=read_hooks(found.get("hooks", ""), faults),
        scope=_scope(found, faults),
        execution=read_execution(found.get("execution", ""), faults),
        priority=_priority(found.get("priority", ""), faults),
        tags=_tags(found["tags"], faults) if "tags" in found else _tags_below_metadata(found),
        disable_model_invocation=_flag(found, "disable-model-invocation", faults, absent=False, closed=True),
        user_invocable=_flag(found, "user-invocable", faults, absent=True, closed=False),
        arguments=read_arguments(found.get("arguments", ""), faults),
        argument_hint=_hint(found.get("argument-hint", ""), faults),
        paths=_paths(found, faults),
        faults=tuple(faults.found),
    )


def _optional_text(found: dict[str, object], key: str, faults: Faults) -> str | None:
    value = found.get(key, "")
    return None if is_blank(value) else read_text(value, f"{key}.type", (key,), faults)


def _context(found: dict[str, object], faults: Faults) -> Context:
    value = found.get("context", "inherit")
    if value == "inherit":
        return "inherit"
    if value != "fork":
        faults.add("context.value", f"context is {kind(value)}, it must be inherit or fork; fork is used", ("context",))
    return "fork"


def _flag(found: dict[str, object], key: str, faults: Faults, *, absent: bool, closed: bool) -> bool:
    if key not in found:
        return absent
    read = read_switch(found[key], "invocation.type", (key,), faults)
    return closed if read is None else read


def _scope(found: dict[str, object], faults: Faults) -> Scope:
    if "scope" not in found:
        return Scope()
    value = found["scope"]
    if not isinstance(value, dict):
        message = f"scope is {kind(value)}, it must be a mapping of {', '.join(_SCOPES)}; the skill is visible nowhere"
        faults.add("scope.type", message, ("scope",))
        return Scope(closed=True)
    before = len(faults.found)
    report_unknown(value, _SCOPES, "scope.type", ("scope",), faults, then="; the skill is visible nowhere")
    read: dict[str, tuple[str, ...] | None] = {}
    for key in _SCOPES:
        if key in value:
            listed = value[key]
            one = isinstance(listed, str) and not is_blank(listed)
            read[key] = read_texts([listed] if one else listed, "scope.type", ("scope", key), faults)
    return Scope(**read, closed=len(faults.found) > before)


def _priority(value: object, faults: Faults) -> int:
    return 0 if is_blank(value) else read_whole(value, "priority.type", ("priority",), faults) or 0


def _tags(value: object, faults: Faults) -> tuple[str, ...]:
    """Read the field `tags`. Tags restrict nothing, so readable tags are kept even if others have faults."""
    if is_blank(value):
        return ()
    if isinstance(value, str):
        faults.add("tags.type", "tags is a text, it must be a list of texts; it is split at commas", ("tags",))
        value = [part for part in value.split(",") if part.strip()]
    if not isinstance(value, list | tuple):
        faults.add("tags.type", f"tags is {kind(value)}, it must be a list of texts", ("tags",))
        return ()
    if len(value) > MAX_TAGS:
        faults.add("tags.type", f"tags has {len(value)} entries, at most {MAX_TAGS} are read", ("tags",))
    kept: dict[str, None] = {}
    for index, item in enumerate(value[:MAX_TAGS]):
        tag = read_text(item, "tags.type", ("tags", index), faults)
        if tag is not None and len(tag) > MAX_TAG_LENGTH:
            message = f"a tag has {len(tag)} characters, at most {MAX_TAG_LENGTH} are allowed; it is left out"
            faults.add("tags.type", message, ("tags", index))
        elif tag is not None:
            kept[tag] = None
    return tuple(kept)


def _tags_below_metadata(found: Mapping[str, object]) -> tuple[str, ...]:
    """Read `tags` below `metadata` like the field. It is not an extended field, so faults are not reported."""
    metadata = found.get("metadata")
    return _tags(metadata["tags"], Faults()) if isinstance(metadata, dict) and "tags" in metadata else ()


def _hint(value: object, faults: Faults) -> str | None:
    if is_blank(value):
        return None
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        # `argument-hint: [issue]` is meant as text, but YAML reads a list.
        message = "argument-hint is a list to YAML; put it in quotes"
        faults.add("argument-hint.type", message, ("argument-hint",))
        return f"[{', '.join(value)}]"
    return read_text(value, "argument-hint.type", ("argument-hint",), faults)


def _paths(found: dict[str, object], faults: Faults) -> tuple[str, ...] | None:
    value = found.get("paths", "")
    if is_blank(value):
        return None
    if isinstance(value, str):
        return tuple(_split(value))
    return read_texts(value, "paths.type", ("paths",), faults) or ()


def _split(text: str) -> list[str]:
    """Split at commas outside braces: `src/*.{ts,tsx}, docs/**` is two patterns."""
    parts, depth = [""], 0
    for char in text:
        depth = max(0, depth + {"{": 1, "}": -1}.get(char, 0))
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]
