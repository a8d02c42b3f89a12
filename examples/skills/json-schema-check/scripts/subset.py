"""A subset of JSON Schema draft 2020-12: every fault of a value, with its JSON Pointer and the keyword it breaks."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import re
import uuid
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 200
SILENT = frozenset({
    "$schema", "$id", "$defs", "definitions", "$comment", "title", "description", "default", "examples", "deprecated",
    "readOnly", "writeOnly", "then", "else", "minContains", "maxContains",
})  # fmt: skip
UNITS = {"Properties": ("property", "properties"), "Items": ("item", "items"), "Length": ("character", "characters")}
SAMPLE = 60  # characters of a value that are shown
Fault = dict[str, str]


class SchemaError(Exception):
    """The schema cannot be used as one."""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": _is_integer,
}
FORMATS: dict[str, Callable[[str], object]] = {
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "date-time": lambda text: (
        dt.datetime.fromisoformat(text) if re.search(r"[Tt ].*([Zz]|[+-]\d\d:\d\d)\Z", text) else 1 / 0
    ),
    "email": lambda text: None if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", text) else 1 / 0,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uuid": uuid.UUID,
    "uri": lambda text: None if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", text) else 1 / 0,
}


class Checker:
    """Holds one schema; `faults` judges one value. `not_checked` collects keywords outside the subset."""

    def __init__(self, schema: object, *, formats: bool = False) -> None:
        self.root = schema
        self.formats = formats
        self.not_checked: set[str] = set()
        self._rules = {_keyword(name): getattr(self, name) for name in dir(self) if name.startswith("_rule_")}

    def faults(self, value: object) -> list[Fault]:
        """Return every fault of `value`; empty where it is valid."""
        return self._check(value, self.root, "", 0)

    def _check(self, value: object, schema: object, at: str, depth: int) -> list[Fault]:
        if isinstance(schema, bool):
            return [] if schema else [_fault(at, "false", "nothing is allowed here")]
        if not isinstance(schema, dict):
            message = f"a schema must be an object or a boolean, found {_type(schema)} (used for {at or '/'})"
            raise SchemaError(message)
        if depth > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} levels at {at or '/'}; a $ref that leads to itself?"
            raise SchemaError(message)
        found: list[Fault] = []
        if doubled := getattr(value, "doubled", ""):
            found.append(_fault(at, "duplicate key", f"{doubled!r} occurs twice"))
        for keyword, argument in schema.items():
            rule = self._rules.get(keyword)
            if rule is None:
                if keyword not in SILENT:
                    self.not_checked.add(keyword)
                continue
            try:
                found += rule(value, argument, at, depth, schema)
            except (TypeError, AttributeError, re.error) as fault:
                message = f"the argument of {keyword!r} does not fit: {fault}"
                raise SchemaError(message) from fault
        return found

    # Any value

    def _rule_type(self, value: object, names: object, at: str, _depth: int, _schema: dict) -> list[Fault]:
        wanted = [names] if isinstance(names, str) else list(names)
        if unknown := [name for name in wanted if name not in TYPES]:
            message = f"there is no type {unknown[0]!r}"
            raise SchemaError(message)
        if any(TYPES[name](value) for name in wanted):
            return []
        return [_fault(at, "type", f"expected {' or '.join(wanted)}, found {_type(value)}{_sample(value)}")]

    def _rule_enum(self, value: object, choices: list, at: str, _depth: int, _schema: dict) -> list[Fault]:
        if any(_same(value, choice) for choice in choices):
            return []
        return [_fault(at, "enum", f"expected one of {_listed(choices)}, found{_sample(value)}")]

    def _rule_const(self, value: object, wanted: object, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return (
            [] if _same(value, wanted) else [_fault(at, "const", f"expected{_sample(wanted)}, found{_sample(value)}")]
        )

    def _rule_ref(self, value: object, target: str, at: str, depth: int, _schema: dict) -> list[Fault]:
        if not target.startswith("#"):
            self.not_checked.add(f"$ref {target}")
            return []
        return self._check(value, self._resolve(target), at, depth + 1)

    def _resolve(self, target: str) -> object:
        place = self.root
        for part in target[1:].strip("/").split("/") if target != "#" else []:
            key = part.replace("~1", "/").replace("~0", "~").replace("%24", "$").replace("%25", "%")
            try:
                place = place[int(key)] if isinstance(place, list) else place[key]
            except (KeyError, IndexError, ValueError, TypeError) as fault:
                message = f"$ref {target!r} leads nowhere"
                raise SchemaError(message) from fault
        return place

    def _rule_all_of(self, value: object, parts: list, at: str, depth: int, _schema: dict) -> list[Fault]:
        return [fault for part in parts for fault in self._check(value, part, at, depth + 1)]

    def _rule_any_of(self, value: object, parts: list, at: str, depth: int, _schema: dict) -> list[Fault]:
        tries = [self._check(value, part, at, depth + 1) for part in parts]
        if not all(tries):
            return []
        nearest = min(
            tries, key=lambda faults: (any(fault["rule"] in ("const", "type") for fault in faults), len(faults))
        )
        return [_fault(at, "anyOf", f"none of {len(parts)} forms fits; the nearest fails with: {_joined(nearest)}")]

    def _rule_one_of(self, value: object, parts: list, at: str, depth: int, schema: dict) -> list[Fault]:
        fits = sum(1 for part in parts if not self._check(value, part, at, depth + 1))
        if fits == 1:
            return []
        if fits:
            return [_fault(at, "oneOf", f"exactly one form must fit, {fits} do")]
        return [{**fault, "rule": "oneOf"} for fault in self._rule_any_of(value, parts, at, depth, schema)]

    def _rule_not(self, value: object, part: object, at: str, depth: int, _schema: dict) -> list[Fault]:
        return [] if self._check(value, part, at, depth + 1) else [_fault(at, "not", "has a form that is excluded")]

    def _rule_if(self, value: object, part: object, at: str, depth: int, schema: dict) -> list[Fault]:
        branch = "else" if self._check(value, part, at, depth + 1) else "then"
        return self._check(value, schema[branch], at, depth + 1) if branch in schema else []

    # Objects

    def _rule_properties(self, value: object, parts: dict, at: str, depth: int, _schema: dict) -> list[Fault]:
        named = parts.items() if isinstance(value, dict) else ()
        return [
            fault
            for key, part in named
            if key in value
            for fault in self._check(value[key], part, _into(at, key), depth + 1)
        ]

    def _rule_pattern_properties(self, value: object, parts: dict, at: str, depth: int, _schema: dict) -> list[Fault]:
        if not isinstance(value, dict):
            return []
        hits = [(key, part) for pattern, part in parts.items() for key in value if re.search(pattern, key)]
        return [fault for key, part in hits for fault in self._check(value[key], part, _into(at, key), depth + 1)]

    def _rule_additional_properties(
        self, value: object, part: object, at: str, depth: int, schema: dict
    ) -> list[Fault]:
        if not isinstance(value, dict):
            return []
        patterns = schema.get("patternProperties", {})
        extra = [
            key
            for key in value
            if key not in schema.get("properties", {}) and not any(re.search(one, key) for one in patterns)
        ]
        if part is False:
            return [
                _fault(_into(at, key), "additionalProperties", "this property is not in the schema") for key in extra
            ]
        return [fault for key in extra for fault in self._check(value[key], part, _into(at, key), depth + 1)]

    def _rule_property_names(self, value: object, part: object, at: str, depth: int, _schema: dict) -> list[Fault]:
        keys = value if isinstance(value, dict) else ()
        return [fault for key in keys for fault in self._check(key, part, _into(at, key), depth + 1)]

    def _rule_required(self, value: object, keys: list, at: str, _depth: int, _schema: dict) -> list[Fault]:
        lacking = [key for key in keys if key not in value] if isinstance(value, dict) else []
        return [_fault(at, "required", f"{key!r} is missing") for key in lacking]

    def _rule_dependent_required(self, value: object, table: dict, at: str, _depth: int, _schema: dict) -> list[Fault]:
        if not isinstance(value, dict):
            return []
        lacking = [(key, need) for key, needs in table.items() if key in value for need in needs if need not in value]
        return [_fault(at, "dependentRequired", f"{need!r} is missing, which {key!r} demands") for key, need in lacking]

    def _rule_min_properties(self, value: object, bound: int, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return _size(value, dict, bound, at, "minProperties")

    def _rule_max_properties(self, value: object, bound: int, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return _size(value, dict, bound, at, "maxProperties")

    # Arrays

    def _rule_prefix_items(self, value: object, parts: list, at: str, depth: int, _schema: dict) -> list[Fault]:
        pairs = list(zip(value, parts, strict=False)) if isinstance(value, list) else []
        return [
            fault
            for index, (item, part) in enumerate(pairs)
            for fault in self._check(item, part, _into(at, index), depth + 1)
        ]

    def _rule_items(self, value: object, part: object, at: str, depth: int, schema: dict) -> list[Fault]:
        first = len(schema.get("prefixItems", ()))
        rest = list(enumerate(value))[first:] if isinstance(value, list) else []
        return [fault for index, item in rest for fault in self._check(item, part, _into(at, index), depth + 1)]

    def _rule_contains(self, value: object, part: object, at: str, depth: int, schema: dict) -> list[Fault]:
        if not isinstance(value, list):
            return []
        hits = sum(1 for item in value if not self._check(item, part, at, depth + 1))
        least, most = schema.get("minContains", 1), schema.get("maxContains", hits)
        return [] if least <= hits <= most else [_fault(at, "contains", f"{hits} items have the form that is wanted")]

    def _rule_min_items(self, value: object, bound: int, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return _size(value, list, bound, at, "minItems")

    def _rule_max_items(self, value: object, bound: int, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return _size(value, list, bound, at, "maxItems")

    def _rule_unique_items(self, value: object, wanted: bool, at: str, _depth: int, _schema: dict) -> list[Fault]:  # noqa: FBT001 - the keyword's argument is a boolean
        if not wanted or not isinstance(value, list):
            return []
        seen: dict[str, int] = {}
        found = []
        for index, item in enumerate(value):
            first = seen.setdefault(_canonical(item), index)
            if first != index:
                found.append(_fault(_into(at, index), "uniqueItems", f"repeats item {first}"))
        return found

    # Text and numbers

    def _rule_min_length(self, value: object, bound: int, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return _size(value, str, bound, at, "minLength")

    def _rule_max_length(self, value: object, bound: int, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return _size(value, str, bound, at, "maxLength")

    def _rule_pattern(self, value: object, pattern: str, at: str, _depth: int, _schema: dict) -> list[Fault]:
        fits = re.search(pattern, value) if isinstance(value, str) else True
        return [] if fits else [_fault(at, "pattern", f"{_sample(value).strip()} does not match {pattern}")]

    def _rule_format(self, value: object, name: str, at: str, _depth: int, _schema: dict) -> list[Fault]:
        if not self.formats or not isinstance(value, str):
            return []
        if name not in FORMATS:
            self.not_checked.add(f"format {name}")
            return []
        try:
            FORMATS[name](value)
        except (ValueError, ZeroDivisionError):
            return [_fault(at, "format", f"{_sample(value).strip()} is no {name}")]
        return []

    def _rule_minimum(self, value: object, bound: float, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return (
            [] if not _is_number(value) or value >= bound else [_fault(at, "minimum", f"{value} is less than {bound}")]
        )

    def _rule_maximum(self, value: object, bound: float, at: str, _depth: int, _schema: dict) -> list[Fault]:
        return (
            [] if not _is_number(value) or value <= bound else [_fault(at, "maximum", f"{value} is more than {bound}")]
        )

    def _rule_exclusive_minimum(self, value: object, bound: float, at: str, _depth: int, _schema: dict) -> list[Fault]:
        fits = not _is_number(value) or value > bound
        return [] if fits else [_fault(at, "exclusiveMinimum", f"{value} is not more than {bound}")]

    def _rule_exclusive_maximum(self, value: object, bound: float, at: str, _depth: int, _schema: dict) -> list[Fault]:
        fits = not _is_number(value) or value < bound
        return [] if fits else [_fault(at, "exclusiveMaximum", f"{value} is not less than {bound}")]

    def _rule_multiple_of(self, value: object, step: float, at: str, _depth: int, _schema: dict) -> list[Fault]:
        if not _is_number(value):
            return []
        # Through their decimal text: 0.3 is a multiple of 0.1, whatever binary fractions say.
        fits = Fraction(repr(value)) % Fraction(repr(step)) == 0
        return [] if fits else [_fault(at, "multipleOf", f"{value} is not a multiple of {step}")]


def _keyword(name: str) -> str:
    """`_rule_any_of` judges `anyOf`."""
    first, *rest = name.removeprefix("_rule_").split("_")
    return "$ref" if first == "ref" else first + "".join(part.capitalize() for part in rest)


def _fault(at: str, rule: str, message: str) -> Fault:
    return {"at": at or "/", "rule": rule, "message": message}


def _into(at: str, key: object) -> str:
    return f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _size(value: object, kind: type, bound: int, at: str, rule: str) -> list[Fault]:
    if not isinstance(value, kind):
        return []
    least, size = rule.startswith("min"), len(value)
    if (size >= bound) if least else (size <= bound):
        return []
    unit = UNITS[rule[3:]][bound != 1]
    rest = f"{'is' if bound == 1 else 'are'} {'needed' if least else 'allowed'}, found {size}"
    return [_fault(at, rule, f"at {'least' if least else 'most'} {bound} {unit} {rest}")]


def _type(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return next(name for name, fits in TYPES.items() if name != "integer" and fits(value))


def _sample(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f" {text}" if len(text) <= SAMPLE else f" {text[: SAMPLE - 1]}…"


def _listed(choices: list) -> str:
    return ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices[:8]) + (", …" if choices[8:] else "")


def _joined(faults: list[Fault]) -> str:
    return "; ".join(f"{fault['at']} {fault['rule']}: {fault['message']}" for fault in faults[:3])


def _canonical(value: object) -> str:
    """One text for equal values: 1 and 1.0 are equal in JSON, true and 1 are not."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_canonical(item) for item in value) + "]"
    if _is_integer(value):
        return str(int(value))
    return json.dumps(value)


def _same(one: object, other: object) -> bool:
    return _canonical(one) == _canonical(other)
