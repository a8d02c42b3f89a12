"""Parses the decision that a hook prints to standard output, in the format of Claude Code's hooks.

A hook that exits with status 0 may print one JSON object. Other text is no decision. Output that starts like JSON or
contains a deciding key must be valid JSON from start to end. Otherwise the hook refuses, because a denial may be meant.

Source: Claude Code documentation, "Hooks reference", JSON output. `permissionDecision` at the top level, as older hooks
print it, is accepted too. So are the decisions of other hosts at the top level: `permission` (Cursor) is read like
`permissionDecision`, and `allow` or `ok` with the value false denies. With the value true they decide nothing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, cast

from msgspec import Struct

from prowess._internal.schema_subset import type_name
from prowess._internal.text.canonical_json import NotJsonError, canonical_json
from prowess._internal.text.near_words import near_words
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.errors import LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Mapping

HookDecision = Literal["allow", "ask", "deny"]
MAX_ANSWER = 1024 * 1024  # bytes of canonical JSON

_STRICTNESS: tuple[HookDecision, ...] = ("allow", "ask", "deny")
_TEXTS = ("stopReason", "systemMessage", "reason", "message", "hookEventName", "permissionDecisionReason")
_TYPES: Mapping[str, type] = {
    **dict.fromkeys((*_TEXTS, "permissionDecision", "additionalContext"), str),
    **dict.fromkeys(("continue", "suppressOutput", "allow", "ok"), bool),
    **dict.fromkeys(("updatedInput", "hookSpecificOutput"), dict),
}
# Keys for actions that no session supports. An answer with one is refused, because its author relies on the action.
_UNSUPPORTED = ("async", "updatedPermissions", "updatedToolOutput", "updatedMCPToolOutput")
_WORDS: Mapping[str, Mapping[object, HookDecision]] = {
    "permissionDecision": {"allow": "allow", "deny": "deny", "ask": "ask"},
    "permission": {"allow": "allow", "deny": "deny", "ask": "ask"},
    "decision": {"approve": "allow", "block": "deny"},
    "behavior": {"allow": "allow", "deny": "deny"},
}
_KEYS = (*_TYPES, *_UNSUPPORTED, "decision", "behavior", "permission")
_DECIDE = ("permissionDecision", "decision", "behavior", "continue", "hookSpecificOutput", "updatedInput")
_READ_AT_TOP = frozenset(_DECIDE) - {"behavior"}
_READ_BELOW = {
    "hookSpecificOutput": frozenset({"permissionDecision", "decision", "updatedInput"}),
    "decision": frozenset({"behavior"}),
}
_DECIDING = rf"""(?i)\\?["'](?:{"|".join(_DECIDE)})\\?["']\s*:"""
_COLOUR = r"\x1b\[[0-9;:?]*[A-Za-z]"


def _folded(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())


_KEYS_FOLDED = {_folded(key): key for key in _KEYS}


class UnreadableAnswerError(ValueError):
    """The output of a hook may be a decision but cannot be parsed as one. The message states the reason."""


class HookAnswer(Struct, frozen=True, kw_only=True):
    """The answer of one hook. `decision` is None if it made no decision; `reason` may be empty.

    `updated_input` replaces the arguments. `context` is text for the model, `message` text for the user.
    """

    decision: HookDecision | None = None
    reason: str = ""
    updated_input: Mapping[str, object] | None = None
    context: str | None = None
    message: str | None = None


NO_ANSWER = HookAnswer()


def read_answer(output: bytes, event: str, *, whole: bool = True) -> HookAnswer:
    """Parse a hook's answer to `event`. Pass `whole=False` if the output was truncated.

    Raise UnreadableAnswerError if the output may be a decision but cannot be parsed as one.
    """
    if not whole:  # the missing part may contain a decision
        raise UnreadableAnswerError("it is longer than the limit on output")
    if not _could_decide(output):
        return NO_ANSWER
    try:
        value = strict_json(output, "the output")
        canonical_json(value, what="the output", max_bytes=MAX_ANSWER)
    except (StrictJsonError, NotJsonError, LimitExceededError) as fault:
        raise UnreadableAnswerError(str(fault)) from None
    if not isinstance(value, dict):
        raise UnreadableAnswerError(f"it is of type {type_name(value)}, not an object")
    return _answer(value, event)


def _could_decide(output: bytes) -> bool:
    """Whether the output starts like JSON, ignoring invisible characters, or contains a deciding key."""
    text = re.sub(_COLOUR, "", output.decode("utf-8", "replace").replace("\0", ""))
    for char in text:
        # U+FFFD replaces bytes that are not UTF-8, such as the byte order mark of another encoding.
        if char != "\ufffd" and unicodedata.category(char) not in {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"}:
            return char in "{[" or re.search(_DECIDING, text) is not None
    return False


def _answer(value: Mapping[str, object], event: str) -> HookAnswer:
    _check(value)
    inner = cast("Mapping[str, object]", value.get("hookSpecificOutput", {}))
    _check(inner)
    if (key := _misplaced(value, _READ_AT_TOP)) is not None:
        raise UnreadableAnswerError(f"it has the key {key} in a place where it has no effect")
    if (named := inner.get("hookEventName", event)) != event:
        raise UnreadableAnswerError(f"it answers the event {str(named)[:80]!r}, but the event is {event}")
    decisions = [found for part in (value, inner) for found in _decisions(part)]
    if value.get("continue") is False:
        decisions.append(("deny", _text(value, "stopReason", "reason")))
    if value.get("allow") is False or value.get("ok") is False:
        decisions.append(("deny", _text(value, "reason", "message")))
    decision, reason = max(decisions, key=lambda one: _STRICTNESS.index(one[0]), default=(None, ""))
    changes = [part["updatedInput"] for part in (value, inner) if "updatedInput" in part]
    if changes and event != "PreToolUse":
        raise UnreadableAnswerError(f"updatedInput has no effect at {event}")
    if len(changes) > 1:
        raise UnreadableAnswerError("updatedInput is given twice")
    return HookAnswer(
        decision=decision,
        reason=reason,
        updated_input=cast("Mapping[str, object]", changes[0]) if changes else None,
        context=_text(inner, "additionalContext") or _text(value, "additionalContext") or None,
        message=_text(value, "systemMessage") or None,
    )


def _misplaced(value: object, read: frozenset[str] = frozenset()) -> str | None:
    """Return a deciding key that is not in `read`, so in a wrong place. `updatedInput` may have any key."""
    if isinstance(value, list):
        return next((found for item in value if (found := _misplaced(item)) is not None), None)
    if not isinstance(value, dict):
        return None
    for key, item in cast("Mapping[str, object]", value).items():
        if key in _DECIDE and key not in read:
            return key
        if key == "updatedInput":
            continue
        if (found := _misplaced(item, _READ_BELOW.get(key, frozenset()))) is not None:
            return found
    return None


def _check(part: Mapping[str, object]) -> None:
    """Refuse misspelt keys, unsupported keys, and known keys with a value of the wrong type."""
    for key, value in part.items():
        if key not in _KEYS and (near := near_words(_folded(key[:80]), _KEYS_FOLDED, cutoff=0.75)):
            raise UnreadableAnswerError(f"it has the key {key[:80]!r}; did you mean {_KEYS_FOLDED[near[0]]}?")
        if key in _UNSUPPORTED:
            raise UnreadableAnswerError(f"{key} is not supported")
        if (kind := _TYPES.get(key)) is not None and not isinstance(value, kind):
            raise UnreadableAnswerError(f"{key} is of type {type_name(value)}")


def _decisions(part: Mapping[str, object]) -> list[tuple[HookDecision, str]]:
    """Return every decision in one object, each with its reason."""
    found = [(key, part[key], part) for key in ("permissionDecision", "permission", "decision") if key in part]
    if isinstance(request := part.get("decision"), dict):  # form of the event PermissionRequest
        _check(request)
        found[-1] = ("behavior", request.get("behavior"), request)
    decisions = []
    for key, word, where in found:
        decision = _WORDS[key].get(word) if isinstance(word, str) else None
        if decision is None:
            shown = repr(word[:80]) if isinstance(word, str) else f"of type {type_name(word)}"
            raise UnreadableAnswerError(f"{key} is {shown}; it can be {', '.join(map(str, _WORDS[key]))}")
        decisions.append((decision, _text(where, "permissionDecisionReason", "reason", "message")))
    return decisions


def _text(part: Mapping[str, object], *keys: str) -> str:
    return next((text.strip() for key in keys if isinstance(text := part.get(key), str) and text.strip()), "")
