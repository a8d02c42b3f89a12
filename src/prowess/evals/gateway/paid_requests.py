"""Requests that cost money: which they are, for which model, and the most that their answer can have.

Four forms: Anthropic messages, OpenAI responses, OpenAI chat completions, Gemini `generateContent`. A request is
changed in two places only. The bound on its answer is put in, or lowered to the bound of the run, because without one
the cost of a call has no bound. And a stream of chat completions is asked for its usage.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from prowess.evals.ledger.calls import CallBound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WireFormat = Literal["messages", "responses", "completions", "contents"]
_PATHS: tuple[tuple[re.Pattern[str], WireFormat], ...] = (
    (re.compile(r"/v1/messages"), "messages"),
    (re.compile(r"/v1/responses"), "responses"),
    (re.compile(r"/v1/chat/completions"), "completions"),
    (re.compile(r"/v1(?:alpha|beta)?/models/(?!\.)[A-Za-z0-9._-]+:(?:g|streamG)enerateContent"), "contents"),
)
_QUERY = frozenset({"beta", "alt", "key", "api-version"})
_BOUNDS: dict[WireFormat, tuple[str, ...]] = {
    "messages": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "completions": ("max_completion_tokens", "max_tokens"),
    "contents": ("maxOutputTokens",),
}


_SAME = {
    "generation_config": "generationConfig",
    "candidate_count": "candidateCount",
    "max_output_tokens": "maxOutputTokens",
}
_STORED = ("previous_response_id", "conversation", "prompt", "cachedContent", "cached_content")  # input at the provider


class PaidRequest(Struct, frozen=True, kw_only=True):
    """One request for an answer of a model. `kept` is the part for the journal: path and body, and no header.

    `content` is the body to send. Both differ from the host's own request in the bound on the answer alone.
    """

    wire: WireFormat
    model: str
    content: bytes
    kept: bytes
    bound: CallBound


def read_paid_request(path: str, body: bytes, most_output_tokens: int | None, otherwise: int) -> PaidRequest | None:
    """Return a request that costs money; None for any other path, and for a body that is no JSON object.

    It is None, too, for a request whose cost has no bound: with input that lies at the provider, or with a number of
    answers that is no whole number.

    `path` is as it was sent, without the query. The whole path must be known, and none of these has an escape, so that
    the provider cannot read another path from it.

    `most_output_tokens` is the highest bound on an answer that the run allows. If it is None, the host's own bound
    holds, and `otherwise` if the host set none.
    """
    wire = next((wire for pattern, wire in _PATHS if pattern.fullmatch(path)), None)
    if wire is None or not isinstance(data := _json(body), dict):
        return None
    if wire == "contents":
        data = _with_wire_names(data)
    answers = _bounded(wire, data, most_output_tokens, otherwise)
    if answers is None or any(data.get(name) is not None for name in _STORED):
        return None
    if wire == "completions" and data.get("stream"):
        options = data.get("stream_options")
        data["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
    content = _bytes(data)
    kept = {"path": path, "body": data}
    return PaidRequest(
        wire=wire,
        model=_model(wire, path, data),
        content=content,
        kept=_bytes(kept),
        bound=CallBound.of(content, answers),
    )


def forwarded_query(query: str, with_credentials: Callable[[str], str]) -> str | None:
    """Return the query with the keys and its question mark, or empty; None if a parameter in it is not known."""
    pairs = parse_qsl(query, keep_blank_values=True)
    if any(name not in _QUERY for name, _ in pairs):
        return None
    return f"?{urlencode([(name, with_credentials(value)) for name, value in pairs])}" if pairs else ""


def _with_wire_names(data: dict[str, Any]) -> dict[str, Any]:
    """Return a request of Gemini's form with the settings that have a bound under one name: it takes two for each."""
    found = {_SAME.get(name, name): value for name, value in data.items()}
    settings = found.get("generationConfig")
    if isinstance(settings, dict):
        found["generationConfig"] = {_SAME.get(name, name): value for name, value in settings.items()}
    return found


def _bounded(wire: WireFormat, data: dict[str, Any], most: int | None, otherwise: int) -> int | None:
    """Set the bound on one answer, and return the most output tokens of all answers that are asked for.

    It is None if the number of answers is no number.
    """
    holder, answers = data, data.get("n")
    if wire == "contents":
        settings = data.get("generationConfig")
        holder = data["generationConfig"] = dict(settings) if isinstance(settings, dict) else {}
        answers = holder.get("candidateCount")
    if answers is not None and type(answers) is not int:
        return None
    names = [name for name in _BOUNDS[wire] if name in holder] or [_BOUNDS[wire][0]]
    own = [value for name in names if isinstance(value := holder.get(name), int) and value > 0]
    bound = min([*own, *(() if most is None else (most,))], default=otherwise)
    for name in names:
        holder[name] = bound
    _keep_thinking_below(holder, bound)
    return bound * max(answers or 1, 1)


def _keep_thinking_below(data: Mapping[str, Any], bound: int) -> None:
    """Anthropic refuses a request whose budget for thinking is not below the bound on the answer."""
    thinking = data.get("thinking")
    if isinstance(thinking, dict) and isinstance(budget := thinking.get("budget_tokens"), int) and budget >= bound:
        thinking["budget_tokens"] = max(bound // 2, 1)


def _model(wire: WireFormat, path: str, data: Mapping[str, Any]) -> str:
    if wire == "contents":
        return path.rpartition("/")[2].partition(":")[0]
    return str(data.get("model", ""))


def _bytes(data: object) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return json.dumps(data, separators=(",", ":")).encode()


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
