"""The fields beyond the specification that a runtime obeys, as typed and frozen values.

`extended_fields` reads them from the properties of a skill, whoever read those. It raises for nothing. A value that
cannot be read is a fault, and where the field narrows what may happen the closed reading holds: a skill is isolated,
hidden or not run rather than opened by a typing error. What each field means where it is absent stands at its type.

Sources: agent skills platform, YAML frontmatter fields, skill scoping, script execution security; the fields of agents
in use for who may invoke a skill, with which arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, to_builtins

from prowess.format.fields.arguments import Argument, read_arguments
from prowess.format.fields.execution import Execution, read_execution
from prowess.format.fields.hooks import Hooks, read_hooks
from prowess.format.fields.value_readers import (
    Faults,
    FieldFault,
    is_blank,
    kind,
    read_boolean,
    read_text,
    read_texts,
    read_whole,
    report_unknown,
)
from prowess.format.limits import EXTENDED_FIELDS, MAX_TAG_LENGTH, MAX_TAGS

if TYPE_CHECKING:
    from collections.abc import Mapping

Context = Literal["inherit", "fork"]
_SCOPES = ("agents", "tenants", "environments")


class Scope(Struct, frozen=True, kw_only=True):
    """Where a skill is visible. None of a dimension admits everything, an empty tuple nothing.

    `closed`: a part of the scope could not be read, and the skill is visible nowhere.
    """

    agents: tuple[str, ...] | None = None
    tenants: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None
    closed: bool = False

    def admits(self, *, agent: str | None = None, tenant: str | None = None, environment: str | None = None) -> bool:
        """Whether the skill is visible there: every dimension must match. None is a place without a name."""
        if self.closed:
            return False
        pairs = ((self.agents, agent), (self.tenants, tenant), (self.environments, environment))
        return all(allowed is None or place in allowed for allowed, place in pairs)


_NO_HOOKS, _NO_SCOPE, _NO_EXECUTION = Hooks(), Scope(), Execution()


class ExtendedFields(Struct, frozen=True, kw_only=True):
    """The fields beyond the specification.

    `model` and `agent` are None where the host chooses. `paths` is None where the key is absent. `faults` say what
    could not be read as written; `unreadable` names its fields.
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
    """Read the fields from properties as `Frontmatter.properties` and `SkillEntry.properties` give them.

    Raises nothing, whatever the values are. A skill without any of the fields costs one look at its keys.

        fields = extended_fields({"name": "deploy", "context": "fork", "user-invocable": "no"})
        fields.context, fields.user_invocable, fields.unreadable  # ('fork', False, frozenset({'user-invocable'}))
    """
    if EXTENDED_FIELDS.isdisjoint(properties):
        return _ABSENT
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
        tags=_tags(found.get("tags", ""), faults),
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
    read = read_boolean(found[key], "invocation.type", (key,), faults)
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
    """Tags guard nothing, so the readable ones are kept beside a fault."""
    if is_blank(value):
        return ()
    if isinstance(value, str):
        faults.add("tags.type", "tags is a text, it must be a list of texts; commas separate it", ("tags",))
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


def _hint(value: object, faults: Faults) -> str | None:
    if is_blank(value):
        return None
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        # `argument-hint: [issue]` is meant as a text and is a list to YAML.
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
