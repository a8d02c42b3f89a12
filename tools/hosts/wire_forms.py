"""The four wire forms of the scripted provider: what a request holds, and the events of an answer.

Anthropic messages, OpenAI responses, OpenAI chat completions, Gemini `generateContent`. Each form has `read`
(how far the conversation is, what the user wrote, whether tools are offered), `events` (the answer as server-sent
events) and `whole` (the answer as one document). Answers have fixed token counts, so that costs can be compared.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INPUT_TOKENS, OUTPUT_TOKENS = 100, 20  # of every answer


class ScriptedCall(Struct, frozen=True, kw_only=True):
    """One tool call of the model. `namespace` is a group of tools, which only the responses form has."""

    name: str
    namespace: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


class Turn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the model: text, then calls.

    `status` answers with that HTTP status and no content; `hold` waits so many seconds first; `cut` ends the connection
    in the middle of the answer.
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    status: int = 0
    hold: float = 0.0
    cut: bool = False


class Conversation(Struct, frozen=True, kw_only=True):
    """What the provider needs to know of a request. `answered` counts the model's answers that it holds."""

    answered: int
    user_text: str
    has_tools: bool
    streams: bool = True


class WireForm(Struct, frozen=True, kw_only=True):
    """How one provider's requests are read and answered."""

    read: Callable[[dict[str, Any]], Conversation]
    events: Callable[[Turn, str], Iterator[bytes]]
    whole: Callable[[Turn, str], dict[str, Any]]


def _sse(data: dict[str, Any], *, named: bool = True) -> bytes:
    head = f"event: {data['type']}\n" if named else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _texts(content: object) -> str:
    """Return the text parts of a message's content; results of tools are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict) and "text" in part)


def _pieces(text: str) -> list[str]:
    half = len(text) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]


# ── Anthropic ────────────────────────────────────────────────────────────────────────────────────────────────


def _read_messages(body: dict[str, Any]) -> Conversation:
    messages = body.get("messages", [])
    return Conversation(
        answered=sum(message["role"] == "assistant" for message in messages),
        user_text="\n".join(_texts(message["content"]) for message in messages if message["role"] == "user"),
        has_tools=bool(body.get("tools")),
        streams=bool(body.get("stream")),
    )


def _message(turn: Turn, key: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{key}{at:02d}", "name": call.name, "input": call.arguments}
        for at, call in enumerate(turn.calls)
    ]
    return {
        "id": f"msg_{key}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def _message_events(turn: Turn, key: str) -> Iterator[bytes]:
    whole = _message(turn, key)
    start = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": 1}}
    yield _sse({"type": "message_start", "message": start})
    for index, block in enumerate(whole["content"]):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield _sse({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in _pieces(block["text"] if is_text else json.dumps(block["input"])):
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield _sse({"type": "content_block_delta", "index": index, "delta": delta})
        yield _sse({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _sse({"type": "message_delta", "delta": ended, "usage": {"output_tokens": OUTPUT_TOKENS}})
    yield _sse({"type": "message_stop"})


# ── OpenAI responses ─────────────────────────────────────────────────────────────────────────────────────────


def _read_responses(body: dict[str, Any]) -> Conversation:
    given = body.get("input", [])
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    answered = was_answer = 0
    for item in items:  # text and calls of one answer are items of their own, in a row
        is_answer = item.get("role") == "assistant" or item.get("type") in {"function_call", "custom_tool_call"}
        answered += is_answer and not was_answer
        was_answer = is_answer
    return Conversation(
        answered=answered,
        user_text="\n".join(_texts(item.get("content")) for item in items if item.get("role") == "user"),
        has_tools=bool(body.get("tools")),
        streams=bool(body.get("stream")),
    )


def _response(turn: Turn, key: str) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        output.append(
            {"type": "message", "id": f"msg_{key}", "role": "assistant", "status": "completed", "content": content}
        )
    for at, call in enumerate(turn.calls):
        call_id = f"call_{key}{at:02d}"
        item = {"type": "function_call", "id": f"fc_{key}{at:02d}", "call_id": call_id, "status": "completed"}
        grouped = {"namespace": call.namespace} if call.namespace else {}
        output.append({**item, **grouped, "name": call.name, "arguments": json.dumps(call.arguments)})
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": f"resp_{key}", "object": "response", "status": "completed", "model": "scripted", "output": output}
    return {**whole, "usage": {**usage, **details}}


def _response_events(turn: Turn, key: str) -> Iterator[bytes]:
    whole = _response(turn, key)
    yield _sse(
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}}
    )
    for index, item in enumerate(whole["output"]):
        is_text = item["type"] == "message"
        yield _sse(
            {
                "type": "response.output_item.added",
                "output_index": index,
                "item": {**item, **({"content": []} if is_text else {"arguments": ""})},
            }
        )
        if is_text:
            for piece in _pieces(item["content"][0]["text"]):
                yield _sse(
                    {
                        "type": "response.output_text.delta",
                        "item_id": item["id"],
                        "output_index": index,
                        "content_index": 0,
                        "delta": piece,
                    }
                )
        yield _sse({"type": "response.output_item.done", "output_index": index, "item": item})
    yield _sse({"type": "response.completed", "response": whole})


# ── OpenAI chat completions ──────────────────────────────────────────────────────────────────────────────────


def _read_completions(body: dict[str, Any]) -> Conversation:
    messages = body.get("messages", [])
    return Conversation(
        answered=sum(message["role"] == "assistant" for message in messages),
        user_text="\n".join(_texts(message.get("content")) for message in messages if message["role"] == "user"),
        has_tools=bool(body.get("tools")),
        streams=bool(body.get("stream")),
    )


def _tool_calls(turn: Turn, key: str) -> list[dict[str, Any]]:
    return [
        {
            "index": at,
            "id": f"call_{key}{at:02d}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for at, call in enumerate(turn.calls)
    ]


def _usage() -> dict[str, int]:
    total = INPUT_TOKENS + OUTPUT_TOKENS
    return {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": total}


def _completion(turn: Turn, key: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = _tool_calls(turn, key)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if turn.calls else "stop"}
    whole = {"id": f"chatcmpl-{key}", "object": "chat.completion", "created": 1, "model": "scripted"}
    return {**whole, "choices": [choice], "usage": _usage()}


def _completion_events(turn: Turn, key: str) -> Iterator[bytes]:
    head = {"id": f"chatcmpl-{key}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        return _sse({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}, named=False)

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(turn.text):
        yield chunk({"content": piece})
    for call in _tool_calls(turn, key):
        yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    yield _sse({**head, "choices": [], "usage": _usage()}, named=False)
    yield b"data: [DONE]\n\n"


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────────


def _read_contents(body: dict[str, Any]) -> Conversation:
    contents = body.get("contents", [])
    return Conversation(
        answered=sum(content.get("role") == "model" for content in contents),
        user_text="\n".join(_texts(content.get("parts")) for content in contents if content.get("role") == "user"),
        has_tools=bool(body.get("tools")),
    )


def _candidate(turn: Turn, key: str) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
    parts += [
        {"functionCall": {"name": call.name, "args": call.arguments, "id": f"{key}{at:02d}"}}
        for at, call in enumerate(turn.calls)
    ]
    total = INPUT_TOKENS + OUTPUT_TOKENS
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": INPUT_TOKENS,
            "candidatesTokenCount": OUTPUT_TOKENS,
            "totalTokenCount": total,
        },
        "modelVersion": "scripted",
        "responseId": key,
    }


def _candidate_events(turn: Turn, key: str) -> Iterator[bytes]:
    whole = _candidate(turn, key)
    candidate = whole["candidates"][0]
    for part in candidate["content"]["parts"][:-1]:
        shown = {"index": 0, "content": {"role": "model", "parts": [part]}}
        yield _sse({"candidates": [shown], "modelVersion": "scripted", "responseId": key}, named=False)
    last = {**candidate, "content": {"role": "model", "parts": candidate["content"]["parts"][-1:]}}
    yield _sse({**whole, "candidates": [last]}, named=False)


FORMS = {
    "messages": WireForm(read=_read_messages, events=_message_events, whole=_message),
    "responses": WireForm(read=_read_responses, events=_response_events, whole=_response),
    "completions": WireForm(read=_read_completions, events=_completion_events, whole=_completion),
    "contents": WireForm(read=_read_contents, events=_candidate_events, whole=_candidate),
}


def form_of(path: str) -> str | None:
    """Return the name of the form that a path belongs to; None for other paths."""
    path = path.partition("?")[0]
    if path.endswith("/messages"):
        return "messages"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/chat/completions"):
        return "completions"
    return "contents" if path.endswith((":streamGenerateContent", ":generateContent")) else None
