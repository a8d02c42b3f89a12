"""Turns of a model from a transcript that `prowess agent --transcript` wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.format.suites.case_scripts import CallScript, TurnScript

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_RECORDING_BYTES = 16 * 1024 * 1024


def recorded_turns(directory: str, path: str) -> tuple[TurnScript, ...]:
    """Return the turns of the transcript `path` in the skill's directory. Lines that are not JSON are left out.

    Raises:
        InvalidArgumentsError: the file cannot be read, or has no turn.
    """
    turns = [turn for line in _lines(directory, path) if (turn := _turn(line)) is not None]
    if not turns:
        raise InvalidArgumentsError((f"recording {path!r} has no turn of a model",))
    return tuple(turns)


def _lines(directory: str, path: str) -> list[str]:
    try:
        with ContainedRoot(directory) as root, root.open(path, allow_hard_links=True) as file:
            return file.read(MAX_RECORDING_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        raise InvalidArgumentsError((f"recording {path!r} cannot be read: {reason}",)) from None


def _turn(line: str) -> TurnScript | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    listed = message.get("calls")
    calls = [_call(call) for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    text = message.get("text")
    return TurnScript(text=text if isinstance(text, str) else "", calls=tuple(calls))


def _call(call: Mapping[str, Any]) -> CallScript:
    arguments = call.get("arguments")
    return CallScript(name=str(call.get("name")), arguments=arguments if isinstance(arguments, dict) else {})
