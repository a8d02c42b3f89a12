"""Field reader: from plain data to typed values, with every fault at its place.

Every scalar of a front matter is text, so numbers and booleans are read from text. A reader takes the value, the rule
that a fault breaks, the path of the value, and where faults are collected. It returns the value, or None after it
reported why there is none; what None means is decided by the caller, field by field. Nothing is raised, whatever the
data is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

UNKNOWN_FIELD = "manifest.unknownField"
_WHOLE = r"[+-]?[0-9]{1,9}\Z"  # nine digits: more is no number anyone means, and costs nothing to refuse
_SECONDS = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m)?\Z"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}
_SHOWN = 60
# The words that Claude Code takes for booleans, in any case.
SWITCHES = {
    "true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip

Path = tuple[str | int, ...]


class FieldFault(Struct, frozen=True, kw_only=True):
    """What is wrong with one value. `path` leads to it: keys and indices from the top; `on_key`: the key is wrong."""

    rule: str
    message: str
    path: Path
    on_key: bool = False


class Faults:
    """Collects what readers report."""

    def __init__(self) -> None:
        self.found: list[FieldFault] = []

    def add(self, rule: str, message: str, path: Path, *, on_key: bool = False) -> None:
        """Report one fault."""
        self.found.append(FieldFault(rule=rule, message=message, path=path, on_key=on_key))


_Value = TypeVar("_Value")
Reader = Callable[[object, str, Path, Faults], _Value | None]


class RecordField(Struct, frozen=True, kw_only=True):
    """How one key of a mapping is read: into which attribute, by which reader, and the rule that its faults break."""

    attribute: str
    read: Callable[[object, str, Path, Faults], object]
    rule: str
    required: bool = True


def needed(attribute: str, read: Callable[..., object], rule: str) -> RecordField:
    """Return the field of a key that must be there."""
    return RecordField(attribute=attribute, read=read, rule=rule)


def optional(attribute: str, read: Callable[..., object], rule: str) -> RecordField:
    """Return the field of a key that may be left out."""
    return RecordField(attribute=attribute, read=read, rule=rule, required=False)


def is_blank(value: object) -> bool:
    """Whether a value is an empty text, as a key without a value has."""
    return isinstance(value, str) and not value.strip()


def kind(value: object) -> str:
    """Return what a value is, for a sentence: `a list`, `empty`, `absent` for None, or the text itself in quotes."""
    if value is None or is_blank(value):
        return "absent" if value is None else "empty"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}...")
    if isinstance(value, list | tuple):
        return "a list"
    return "a mapping" if isinstance(value, dict) else "no text"


def named(path: Path) -> str:
    """Spell a path for a sentence: `hooks.PreToolUse[0].once`."""
    text = ""
    for part in path:
        shown = f"[{part}]" if isinstance(part, int) else part if len(part) <= _SHOWN else f"{part[:_SHOWN]}..."
        text += shown if isinstance(part, int) or not text else f".{shown}"
    return text


def read_text(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    """Read a text that says something, trimmed."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    faults.add(rule, f"{named(path)} is {kind(value)}, it must be a text", path)
    return None


def read_texts(value: object, rule: str, path: Path, faults: Faults) -> tuple[str, ...] | None:
    """Read a list of texts; None, after every fault is reported, where it is anything else."""
    if not isinstance(value, list | tuple):
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be a list of texts", path)
        return None
    read = [read_text(item, rule, (*path, index), faults) for index, item in enumerate(value)]
    whole = tuple(item for item in read if item is not None)
    return whole if len(whole) == len(read) else None


def read_boolean(value: object, rule: str, path: Path, faults: Faults) -> bool | None:
    """Read `true` or `false`, spelled so: of `yes`, `On` or `TRUE` some readers make a boolean and some a text."""
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
    """Read a whole number; one outside `bounds` is reported and becomes the nearest bound."""
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
    """Read a duration in seconds: `30`, `1.5`, `500ms`, `30s` or `2m`; one above `most` is reported and becomes it."""
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
    """Return a reader of one of these words."""

    def read(value: object, rule: str, path: Path, faults: Faults) -> _Value | None:
        for choice in choices:
            if value == choice:
                return choice
        *words, last = map(str, choices)
        faults.add(rule, f"{named(path)} is {kind(value)}, it must be {', '.join(words)} or {last}", path)
        return None

    return read


def read_list(read_item: Reader[_Value], item_rule: str) -> Reader[tuple[_Value, ...]]:
    """Return a reader of a list; an item that cannot be read is reported, and left out."""

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
    """Return a reader of a mapping with these keys, which `make` takes as keyword arguments.

    Any fault makes the value None. `unknown` is the rule that an unknown key breaks; one that breaks `UNKNOWN_FIELD` is
    left out, and the value counts.
    """

    def read(value: object, rule: str, path: Path, faults: Faults) -> _Value | None:
        if not isinstance(value, Mapping):
            wanted = " and ".join(key for key, field in fields.items() if field.required)
            faults.add(rule, f"{named(path)} is {kind(value)}, it must be a mapping with {wanted}", path)
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
    """Report each key that is not known; `then` ends the sentence with what follows from it."""
    for key in value:
        if key not in known:
            message = f"{named(path) or 'the file'} has no {kind(str(key))}, there are {', '.join(known)}{then}"
            faults.add(rule, message, (*path, str(key)), on_key=True)
