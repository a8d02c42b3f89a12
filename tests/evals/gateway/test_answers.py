"""What the gateway reads from answers: the usage that they report, and pieces of texts that belong together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.gateway.joined_deltas import with_joined_deltas
from prowess.evals.gateway.paid_requests import read_paid_request
from prowess.evals.gateway.reported_usage import usage_of_answer

if TYPE_CHECKING:
    from prowess.evals.gateway.paid_requests import WireFormat

PATH = '{"path": "/home/user/project/notes.txt"}'


def stream(*records: dict[str, Any]) -> bytes:
    return b"".join(f"data: {json.dumps(record)}\n\n".encode() for record in records) + b"data: [DONE]\n\n"


def block(index: int, piece: str) -> dict[str, Any]:
    delta = {"type": "input_json_delta", "partial_json": piece}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def arguments(index: int, piece: str) -> dict[str, Any]:
    call = {"index": index, "function": {"arguments": piece}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}


def event(item: str, piece: str, number: int) -> dict[str, Any]:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "item_id": item, "delta": piece, "sequence_number": number}


@pytest.mark.parametrize(
    ("wire", "pieces", "others"),
    [
        ("messages", [block(0, piece) for piece in (PATH[:15], PATH[15:30], PATH[30:])], [block(1, "{}")]),
        ("completions", [arguments(0, piece) for piece in (PATH[:15], PATH[15:])], [arguments(1, "{}")]),
        (
            "responses",
            [event("a", piece, at) for at, piece in enumerate((PATH[:15], PATH[15:]))],
            [event("b", "{}", 9)],
        ),
    ],
)
def test_neighbouring_pieces_of_one_text_are_joined_and_those_of_another_are_not(
    wire: WireFormat, pieces: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    joined = with_joined_deltas(wire, stream(*pieces, *others))
    records = [json.loads(line[5:]) for line in joined.decode().splitlines() if line.startswith("data: {")]
    assert len(records) == 2
    assert PATH in texts(records[0])
    assert records[1] == others[0]
    assert joined.endswith(b"data: [DONE]\n\n")


def texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts(part)]


@pytest.mark.parametrize("content", [b'{"answer": 1}', b"", b"data: no json\n\n", b"\xff\xfe data: {}\n\n"])
def test_answers_of_other_kinds_stay_as_they_are(content: bytes) -> None:
    assert with_joined_deltas("messages", content) == content


@pytest.mark.parametrize(
    ("wire", "document", "tokens"),
    [
        ("messages", {"usage": {"input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 5}}, (43, 5)),
        ("responses", {"usage": {"input_tokens": 3, "output_tokens": 5}}, (3, 5)),
        ("completions", {"usage": {"prompt_tokens": 3, "completion_tokens": 5}}, (3, 5)),
        (
            "contents",
            [
                {"usageMetadata": {"promptTokenCount": 3}},
                {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5, "thoughtsTokenCount": 7}},
            ],
            (3, 12),
        ),
    ],
)
def test_the_usage_of_a_whole_answer_is_read(wire: WireFormat, document: object, tokens: tuple[int, int]) -> None:
    usage = usage_of_answer(wire, json.dumps(document).encode())
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == tokens


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b'{"usage": 7}', b'{"usage": {"input_tokens": "many"}}', b"[" * 100_000]
)
def test_an_answer_without_usage_has_none(content: bytes) -> None:
    assert [usage_of_answer(wire, content) for wire in ("messages", "responses", "completions", "contents")] == [
        None
    ] * 4


def test_several_answers_to_one_request_are_bounded_together() -> None:
    body = json.dumps({"model": "m", "messages": [], "n": 3, "max_tokens": 100}).encode()
    request = read_paid_request("/v1/chat/completions", body, None, 16)
    assert request is not None
    assert request.bound.output_tokens == 300


@pytest.mark.parametrize("body", [b"", b"[]", b"no json", b'"text"', b"[" * 100_000])
def test_a_body_that_is_no_object_is_not_forwarded(body: bytes) -> None:
    assert read_paid_request("/v1/messages", body, None, 16) is None


def test_half_a_surrogate_pair_reaches_the_provider_as_the_host_wrote_it() -> None:
    request = read_paid_request("/v1/messages", rb'{"model": "m", "system": "a\ud800b"}', None, 16)
    assert request is not None
    assert rb"a\ud800b" in request.content
    json.loads(request.kept)


def test_the_own_bound_holds_if_the_run_has_none_and_a_default_if_there_is_neither() -> None:
    bounds = []
    for body in ({"max_tokens": 128_000}, {}, {"max_tokens": "much"}, {"max_tokens": -1}):
        request = read_paid_request("/v1/messages", json.dumps({"model": "m", **body}).encode(), None, 16_384)
        assert request is not None
        bounds.append(request.bound.output_tokens)
    assert bounds == [128_000, 16_384, 16_384, 16_384]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"n": 8.0}),
        ("/v1/chat/completions", {"n": "8"}),
        ("/v1/chat/completions", {"n": True}),
        ("/v1beta/models/m:generateContent", {"generationConfig": {"candidateCount": 8.0}}),
        ("/v1beta/models/m:generateContent", {"generation_config": {"candidate_count": "8"}}),
        ("/v1beta/models/m:generateContent", {"cachedContent": "cachedContents/1"}),
        ("/v1/responses", {"previous_response_id": "resp_1"}),
        ("/v1/responses", {"conversation": "conv_1"}),
        ("/v1/responses", {"prompt": {"id": "pmpt_1"}}),
    ],
)
def test_a_request_whose_cost_has_no_bound_is_not_forwarded(path: str, body: dict[str, Any]) -> None:
    assert read_paid_request(path, json.dumps(body).encode(), 100, 100) is None


def test_other_spellings_of_bounds_are_seen() -> None:
    body = {"generation_config": {"candidate_count": 8, "max_output_tokens": 9000}}
    request = read_paid_request("/v1beta/models/m:generateContent", json.dumps(body).encode(), 100, 100)
    assert request is not None
    assert request.bound.output_tokens == 800
    assert json.loads(request.content) == {"generationConfig": {"candidateCount": 8, "maxOutputTokens": 100}}


@pytest.mark.parametrize("tokens", [-(10**9), -1, 10**13, True, 1.5, "7"])
def test_an_answer_with_a_number_of_tokens_that_cannot_be_reports_none(tokens: object) -> None:
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
    for name in ("input_tokens", "cache_read_input_tokens", "output_tokens"):
        ended = {"type": "message_delta", "usage": {"output_tokens": 2, name: tokens}}
        assert usage_of_answer("messages", stream(begun, ended)) is None
