"""Readers of single members that several forms share. A value of the wrong type reads as absent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.format.suites.suite import Check, CheckKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Kinds of assertions in public suites, and the member with the phrase or pattern of each.
TYPED: Mapping[str, tuple[CheckKind, str]] = {
    "contains_phrase": ("contains", "phrase"),
    "not_contains_phrase": ("not_contains", "phrase"),
    "contains_pattern": ("matches", "pattern"),
    "not_contains_pattern": ("not_matches", "pattern"),
}
_NAMED = {kind: (name, member) for name, (kind, member) in TYPED.items()}
_WORDS: Mapping[CheckKind, str] = {
    "judged": "{}",
    "contains": "The answer contains {}",
    "not_contains": "The answer does not contain {}",
    "matches": "The answer matches {}",
    "not_matches": "The answer does not match {}",
}


def text_in(data: Mapping[str, Any], member: str) -> str | None:
    """Return a text, or None."""
    value = data.get(member)
    return value if isinstance(value, str) else None


def has_half_character(text: str) -> bool:
    """Whether a text has half of a surrogate pair, which an escape in JSON can write, and which cannot be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def texts_in(data: Mapping[str, Any], member: str) -> tuple[str, ...]:
    """Return a list of texts; empty if the value is anything else."""
    value = data.get(member)
    return tuple(value) if isinstance(value, list) and is_of_texts(value) else ()


def is_of_texts(value: object) -> bool:
    """Whether the value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def id_in(data: Mapping[str, Any]) -> str | int | None:
    """Return the id, a number or a text, or None."""
    value = data.get("id")
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def flag_in(data: Mapping[str, Any], member: str) -> bool | None:
    """Return true or false, or None."""
    value = data.get(member)
    return value if isinstance(value, bool) else None


def checks_in(data: Mapping[str, Any], member: str) -> tuple[Check, ...]:
    """Return assertions, written as texts or as objects with `text`, `type` and `phrase` or `pattern`."""
    listed = data.get(member)
    if not isinstance(listed, list):
        return ()
    found = [_check(item) for item in listed]
    return tuple(one for one in found if one is not None) if all(found) else ()


def _check(item: object) -> Check | None:
    if isinstance(item, str):
        return Check(text=item)
    if not isinstance(item, dict) or not isinstance(text := item.get("text"), str):
        return None
    if (matched := pattern_of_answer(item)) is not None:
        return Check(text=text, kind=matched[0], value=matched[1], name=text_in(item, "name"), grader=item)
    kind, member = TYPED.get(str(item.get("type")), ("judged", ""))
    value = item.get(member)
    if not isinstance(value, str):
        kind, value = "judged", None
    # A type that is unknown, or has no value, is kept: a judge must not decide in the place of code.
    named = isinstance(item.get("type"), str) and item["type"] not in ("", "judged")
    grader = item if named and value is None else None
    return Check(text=text, kind=kind, value=value, name=text_in(item, "name"), grader=grader)


def pattern_of_answer(item: Mapping[str, Any]) -> tuple[CheckKind, str] | None:
    """Return the kind and the pattern of a `regex` on the answer, which other tools can check as well."""
    kinds: dict[str, CheckKind] = {"contains": "matches", "not_contains": "not_matches"}
    kind, pattern = kinds.get(str(item.get("match", "contains"))), text_in(item, "pattern")
    plain = item.get("type") == "regex" and item.get("target", "last_message") == "last_message"
    return (kind, pattern) if plain and kind and pattern and not item.get("flags") else None


def typed_check(check: Check) -> dict[str, Any]:
    """Return an assertion as an object."""
    named = {"name": check.name} if check.name is not None else {}
    if check.kind == "judged":
        return {**(check.grader or {}), **named, "text": check.text}
    name, member = _NAMED[check.kind]
    return {**named, "text": check.text, "type": name, member: check.value}


def kept_of_checks(before: Sequence[Check], after: Sequence[Check]) -> frozenset[tuple[int, str]]:
    """Return place and member of typed assertions that a conversion kept: in a grader, or as a kind with its value.

    The member of an assertion that was a text alone is empty.
    """
    found: set[tuple[int, str]] = set()
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old.kind == new.kind != "judged" and old.value == new.value:
            found |= {(place, member) for member in ("type", "match", "target")}
        if old == new == Check(text=old.text):
            found.add((place, ""))
        written, read = old.grader or {}, new.grader or {}
        found |= {(place, member) for member, value in written.items() if member in read and read[member] == value}
    return frozenset(found)


def said(kind: CheckKind, value: str) -> str:
    """Return an assertion of this kind as a sentence, for forms that have only the pattern."""
    return _WORDS[kind].format(value)
