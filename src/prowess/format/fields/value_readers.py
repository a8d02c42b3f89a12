"""Readers that convert plain data to typed values and report every fault with its place.

Every scalar of front matter is a string, so numbers and booleans are parsed from strings. A reader takes the value, the
id of the rule for faults, the path of the value, and the collector of faults. It returns the value, or `None` after it
reported a fault. The caller decides what `None` means for its field. Readers raise no errors for any data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

UNKNOWN_FIELD = "manifest.unknownField"
_WHOLE = r"[+-]?[0-9]{1,9}\Z"  # at most nine digits: cheap to refuse, and longer numbers make no sense here
_SECONDS = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m)?\Z"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}
_SHOWN = 60
SWITCHES = {  # The words that Claude Code reads as booleans, in any letter case.
    "true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip

Path = tuple[str | int, ...]


class FieldFault(Struct, frozen=True, kw_only=True):
    """A fault in one value. `path` has the keys and indices from the top; `on_key` is true if the key is wrong."""

    rule: str
    message: str
    path: Path
    on_key: bool = False


class Faults:
    """Collects the faults that readers report."""

    def __init__(self) -> None:
        self.found: list[FieldFault] = []

    def add(self, rule: str, message: str, path: Path, *, on_key: bool = False) -> None:
        """Report one fault."""
        self.found.append(FieldFault(rule=rule, message=message, path=path, on_key=on_key))


_Value = TypeVar("_Value")
Reader = Callable[[object, str, Path, Faults], _Value | None]


class RecordField(Struct, frozen=True, kw_only=True):
    """How to read one key of a mapping: target attribute, reader, and rule id for faults."""

    attribute: str
    read: Callable[[object, str, Path, Faults], object]
    rule: str
    required: bool = True


def needed(attribute: str, read: Callable[..., object], rule: str) -> RecordField:
    """Return a `RecordField` for a required key."""
    return RecordField(attribute=attribute, read=read, rule=rule)


def optional(attribute: str, read: Callable[..., object], rule: str) -> RecordField:
    """Return a `RecordField` for an optional key."""
    return RecordField(attribute=attribute, read=read, rule=rule, required=False)


def is_blank(value: object) -> bool:
    """Whether a value is an empty string, which is the value of a key without a value."""
    return isinstance(value, str) and not value.strip()


def kind(value: object) -> str:
    """Describe a value for a message: `a list`, `a number`, `absent` for None, or the string itself in quotes."""
    if value is None or is_blank(value):
        return "absent" if value is None else "empty"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}...")
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "a mapping" if isinstance(value, dict) else "a number" if isinstance(value, int | float) else "not a text"


def named(path: Path) -> str:
    """Format a path for a message: `hooks.PreToolUse[0].once`."""
    text = ""
    for part in path:
        shown = f"[{part}]" if isinstance(part, int) else part if len(part) <= _SHOWN else f"{part[:_SHOWN]}..."
        text += shown if isinstance(part, int) or not text else f".{shown}"
    return text


def read_text(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    """Read a non-empty string and trim it."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    faults.add(rule, f"{named(path)} is {kind(value)}, it must be a text", path)
    return None


def read_texts(value: object, rule: str, path: Path, faults: Faults) -> tuple[str, ...] | None:
    """Read a list of non-empty strings. On any fault, report all of them and return `None`."""
    if not isinstance(value, list | tuple):
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be a list of texts", path)
        return None
    read = [read_text(item, rule, (*path, index), faults) for index, item in enumerate(value)]
    whole = tuple(item for item in read if item is not None)
    return whole if len(whole) == len(read) else None


def read_boolean(value: object, rule: str, path: Path, faults: Faults) -> bool | None:
    """Read `true` or `false`, in this spelling only: readers disagree whether `yes`, `On` or `TRUE` is a boolean."""
    return _boolean(value, rule, path, faults, value if value in ("true", "false") else None)


def read_switch(value: object, rule: str, path: Path, faults: Faults) -> bool | None:
    """Read one of `SWITCHES`, quoted or not."""
    return _boolean(value, rule, path, faults, value.strip().lower() if isinstance(value, str) else None)


def _boolean(value: object, rule: str, path: Path, faults: Faults, word: object) -> bool | None:
    if isinstance(word, str) and word in SWITCHES:
        return SWITCHES[word]
    faults.add(rule, f"{named(path)} is {kind(value)}, it must be true or false", path)
    return None


def read_whole(
    value: object, rule: str, path: Path, faults: Faults, *, bounds: tuple[int, int] | None = None
) -> int | None:
    """Read a whole number. A number outside `bounds` is reported and becomes the nearest bound."""
    if not isinstance(value, str) or re.match(_WHOLE, value) is None:
        wanted = "a whole number" if bounds is None else f"a whole number from {bounds[0]} to {bounds[1]}"
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be {wanted}", path)
        return None
    number = int(value)
    if bounds is None or bounds[0] <= number <= bounds[1]:
        return number
    nearest = min(max(number, bounds[0]), bounds[1])
    faults.add(rule, f"{named(path)} is {number}, it must be {bounds[0]} to {bounds[1]}; {nearest} is used", path)
    return nearest


def read_seconds(value: object, rule: str, path: Path, faults: Faults, *, most: float) -> float | None:
    """Read seconds: `30`, `1.5`, `500ms`, `30s` or `2m`. A duration above `most` is reported and becomes `most`."""
    match = re.match(_SECONDS, value) if isinstance(value, str) else None
    seconds = 0.0 if match is None else float(match[1]) * _UNITS[match[2]]
    if seconds <= 0:
        wanted = "a time above zero, such as 30, 1.5, 500ms, 30s or 2m"
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be {wanted}", path)
        return None
    if seconds > most:
        faults.add(rule, f"{named(path)} is {value}, it must be at most {most:g} seconds; that is used", path)
        return most
    return seconds


def read_choice(choices: tuple[_Value, ...]) -> Reader[_Value]:
    """Return a reader that accepts one of these choices."""

    def read(value: object, rule: str, path: Path, faults: Faults) -> _Value | None:
        for choice in choices:
            if value == choice:
                return choice
        *words, last = map(str, choices)
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be {', '.join(words)} or {last}", path)
        return None

    return read


def read_list(read_item: Reader[_Value], item_rule: str) -> Reader[tuple[_Value, ...]]:
    """Return a reader of a list. An item that cannot be read is reported and left out."""

    def read(value: object, rule: str, path: Path, faults: Faults) -> tuple[_Value, ...] | None:
        if not isinstance(value, list | tuple):
            faults.add(rule, f"{named(path)} is {kind(value)}, it must be a list", path)
            return None
        items = [read_item(item, item_rule, (*path, index), faults) for index, item in enumerate(value)]
        return tuple(item for item in items if item is not None)

    return read


def read_record(
    make: Callable[..., _Value], fields: Mapping[str, RecordField], *, unknown: str = UNKNOWN_FIELD
) -> Reader[_Value]:
    """Return a reader of a mapping with these keys; `make` takes the values as keyword arguments.

    The reader returns `None` if there is any fault. `unknown` is the id of the rule that an unknown key breaks. If it
    is `UNKNOWN_FIELD`, the key is only left out.
    """

    def read(value: object, rule: str, path: Path, faults: Faults) -> _Value | None:
        if not isinstance(value, Mapping):
            needs = " and ".join(key for key, field in fields.items() if field.required)
            wanted = f"a mapping with {needs}" if needs else "a mapping"
            faults.add(rule, f"{named(path)} is {kind(value)}, it must be {wanted}", path)
            return None
        before = len(faults.found)
        attributes = {
            field.attribute: field.read(value.get(key), field.rule, (*path, key), faults)
            for key, field in fields.items()
            if field.required or value.get(key) is not None
        }
        report_unknown(value, fields, unknown, path, faults)
        whole = all(fault.rule == UNKNOWN_FIELD for fault in faults.found[before:])
        return make(**attributes) if whole else None

    return read


def report_unknown(
    value: Mapping[str, object], known: Iterable[str], rule: str, path: Path, faults: Faults, *, then: str = ""
) -> None:
    """Report each unknown key; `then` is appended to the message, to state the consequence."""
    for key in value:
        if key not in known:
            message = f"{named(path) or 'the file'} has no key {kind(str(key))}; known keys: {', '.join(known)}{then}"
            faults.add(rule, message, (*path, str(key)), on_key=True)
