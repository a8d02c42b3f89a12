"""Joins the pieces in which a stream writes a text or the arguments of a call, so that no path is split over two.

A recorded answer is replayed in another directory: paths in it are replaced (`prowess.evals.recordings.places`), which
needs them whole. The pieces are not missed, because a recorded answer is handed on at once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.evals.gateway.paid_requests import WireFormat

_DATA = "data:"


def with_joined_deltas(wire: WireFormat, content: bytes) -> bytes:
    """Return a stream of events in which neighbouring pieces of one text are one piece. Other answers are unchanged."""
    join = _JOINS.get(wire)
    if join is None or b"data:" not in content:
        return content
    try:
        events = [event for event in content.decode().replace("\r\n", "\n").split("\n\n") if event.strip()]
    except UnicodeDecodeError:
        return content
    return "".join(f"{event}\n\n" for event in _joined_events(events, join)).encode()


def _joined_events(events: list[str], join: Callable[[dict[str, Any], dict[str, Any]], bool]) -> Iterator[str]:
    held: str | None = None
    held_data: dict[str, Any] | None = None
    for event in events:
        data = _data(event)
        if held_data is not None and data is not None and join(held_data, data):
            held = _with_data(event, held_data)
            continue
        if held is not None:
            yield held
        held, held_data = event, data
    if held is not None:
        yield held


def _data(event: str) -> dict[str, Any] | None:
    lines = [line for line in event.split("\n") if line.startswith(_DATA)]
    try:
        data = json.loads(lines[0][len(_DATA) :]) if len(lines) == 1 else None
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _with_data(event: str, data: dict[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return "\n".join(f"{_DATA} {text}" if line.startswith(_DATA) else line for line in event.split("\n"))


def _join_key(first: dict[str, Any], second: dict[str, Any], key: str) -> bool:
    """Add the text of `second` to that of `first` if everything else in them is equal."""
    one, two = first.get(key), second.get(key)
    if not (isinstance(one, str) and isinstance(two, str)):
        return False
    if {**first, key: "", "sequence_number": 0} != {**second, key: "", "sequence_number": 0}:
        return False
    first[key] = one + two
    return True


def _join_messages(first: dict[str, Any], second: dict[str, Any]) -> bool:
    if first.get("type") != "content_block_delta" or second.get("type") != "content_block_delta":
        return False
    one, two = first.get("delta"), second.get("delta")
    if first.get("index") != second.get("index") or not (isinstance(one, dict) and isinstance(two, dict)):
        return False
    return any(_join_key(one, two, key) for key in ("partial_json", "text", "thinking"))


def _join_responses(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return str(first.get("type", "")).endswith(".delta") and _join_key(first, second, "delta")


def _join_completions(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Join the text, or the arguments of one call, of two chunks without other contents."""
    choices = [data.get("choices") for data in (first, second)]
    if not all(isinstance(each, list) and len(each) == 1 for each in choices) or second.get("usage"):
        return False
    one, two = (each[0] for each in choices if each)
    if one.get("finish_reason") or two.get("finish_reason") or one.get("index") != two.get("index"):
        return False
    before, after = one.get("delta"), two.get("delta")
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return False
    if before.keys() == after.keys() == {"content"}:
        return _join_key(before, after, "content")
    return after.keys() == {"tool_calls"} == before.keys() and _join_call(before["tool_calls"], after["tool_calls"])


def _join_call(before: object, after: object) -> bool:
    if not (isinstance(before, list) and isinstance(after, list) and len(before) == len(after) == 1):
        return False
    one, two = before[0], after[0]
    if not (isinstance(one, dict) and isinstance(two, dict)) or one.get("index") != two.get("index"):
        return False
    functions = one.get("function"), two.get("function")
    if not (isinstance(functions[0], dict) and isinstance(functions[1], dict)) or functions[1].keys() != {"arguments"}:
        return False
    functions[0]["arguments"] = f"{functions[0].get('arguments') or ''}{functions[1]['arguments']}"
    return True


_JOINS: dict[WireFormat, Callable[[dict[str, Any], dict[str, Any]], bool]] = {
    "messages": _join_messages,
    "responses": _join_responses,
    "completions": _join_completions,
}
