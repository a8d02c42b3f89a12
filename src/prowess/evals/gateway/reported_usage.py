"""The usage that an answer reports: tokens, in a whole answer or in the events of a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prowess.agent.model import Usage
from prowess.evals.ledger.calls import MOST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.evals.gateway.paid_requests import WireFormat


def usage_of_answer(wire: WireFormat, content: bytes) -> Usage | None:
    """Return the tokens that a successful answer reports; None if it reports none, or a number that none can be.

    Tokens read from a cache or written to it count as input.
    """
    read = _READERS[wire]
    into = out = None
    for document in _documents(content):
        try:
            found_into, found_out = read(document)
        except ValueError:
            return None
        into = found_into if found_into is not None else into
        out = found_out if found_out is not None else out
    return None if into is None or out is None else Usage(input_tokens=into, output_tokens=out)


def _documents(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a stream of events, or the single document, or the elements of a list."""
    text = content.decode("utf-8", "replace")
    lines = text.splitlines()
    datas = [line[5:] for line in lines if line.startswith("data:")] or [text]
    for data in datas:
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            continue  # `[DONE]`, or an end that was cut off
        yield from (each for each in (found if isinstance(found, list) else [found]) if isinstance(each, dict))


def _sum(usage: object, *names: str) -> int | None:
    """Return the sum of the numbers under these names; None if there is none.

    Raises:
        ValueError: one of them can be no number of tokens.
    """
    if not isinstance(usage, dict):
        return None
    known = [usage[name] for name in names if usage.get(name) is not None]
    for value in known:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
            raise ValueError(value)
    return sum(known) if known else None


def _of_messages(document: Mapping[str, Any]) -> tuple[int | None, int | None]:
    message = document.get("message")
    usage = message.get("usage") if isinstance(message, dict) else document.get("usage")
    into = _sum(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return into, _sum(usage, "output_tokens")


def _of_responses(document: Mapping[str, Any]) -> tuple[int | None, int | None]:
    response = document.get("response")
    usage = response.get("usage") if isinstance(response, dict) else document.get("usage")
    return _sum(usage, "input_tokens"), _sum(usage, "output_tokens")


def _of_completions(document: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = document.get("usage")
    return _sum(usage, "prompt_tokens"), _sum(usage, "completion_tokens")


def _of_contents(document: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = document.get("usageMetadata")
    into = _sum(usage, "promptTokenCount", "toolUsePromptTokenCount")
    return into, _sum(usage, "candidatesTokenCount", "thoughtsTokenCount")


_READERS = {
    "messages": _of_messages,
    "responses": _of_responses,
    "completions": _of_completions,
    "contents": _of_contents,
}
