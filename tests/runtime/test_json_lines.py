from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.catalog import Catalog
from prowess.runtime import SyncSession
from prowess.runtime.json_lines import MAX_LINE_BYTES, answer, serve_json_lines
from tests.test_errors import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYS = ["id", "success", "result", "error", "duration_ms"]
_KEYS += ["tokens_used", "cost_usd", "cached", "retry_count", "error_detail"]


@pytest.fixture
def hosted(skills: Path) -> Iterator[SyncSession]:
    with SyncSession(Catalog(skills)) as session:
        yield session


def _serve(session: SyncSession, data: bytes) -> list[dict[str, Any]]:
    lines: list[bytes] = []
    serve_json_lines(session, io.BytesIO(data).readline, lines.append)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


def _one(session: SyncSession, request: object) -> dict[str, Any]:
    (found,) = _serve(session, json.dumps(request).encode() + b"\n")
    return found


def test_requests_are_answered_in_order_each_with_its_id_and_all_keys(hosted: SyncSession) -> None:
    requests = [
        {"id": 1, "tool": "skills.load", "arguments": {"names": ["alpha"]}},
        {"id": "two", "tool": "skills_read", "arguments": {"path": "references/deep/note.txt"}},
        {"id": None, "tool": "skills.read", "arguments": {"path": "none"}},
        {"id": 1, "tool": "skills.unload", "arguments": {"all": True}},
        {"tool": "skills.unload", "arguments": {}},
        {"id": 2.5, "tool": "nonsense"},
    ]

    found = _serve(hosted, b"".join(json.dumps(request).encode() + b"\n" for request in requests))

    assert [line["id"] for line in found] == [1, "two", None, 1, None, 2.5]
    assert all(list(line) == _KEYS for line in found)
    assert [line["success"] for line in found] == [True, True, False, True, False, False]
    assert found[1]["result"]["text"] == "note\n"
    assert found[2]["result"] is None
    assert found[2]["error_detail"]["code"] == "resource_not_found"
    assert found[2]["error"] == found[2]["error_detail"]["message"]
    assert found[0]["error_detail"] is None
    assert found[5]["error_detail"]["code"] == "tool_not_found"


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"{",
        b"[1]",
        b'"text"',
        b"1",
        b"null",
        b'{"id":1',
        b"\xff\xfe{}",
        b"\0",
        b'{"id":NaN}',
        b"[" * 100_000,
        b'{"id":' + b"9" * 5000 + b"}",
        b'{"a":1}{"b":2}',
    ],
)
def test_a_line_that_is_no_request_is_answered_without_an_id_and_the_next_one_works(
    hosted: SyncSession, line: bytes
) -> None:
    bad, good = _serve(hosted, line + b'\n{"id":7,"tool":"skills.load","arguments":{"names":["beta"]}}')

    assert bad["id"] is None
    assert list(bad) == _KEYS
    assert bad["error_detail"]["code"] == "invalid_request"
    assert (good["id"], good["success"]) == (7, True)


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({}, "exactly one"),
        ({"tool": "skills.load", "method": "tools"}, "exactly one"),
        ({"tool": 3}, "tool must be"),
        ({"tool": "skills.load", "arguments": []}, "arguments must be"),
        ({"tool": "skills.load", "args": {}}, "'args'"),
        ({"method": "dance"}, "instructions, tools, invoke, approve, events, close"),
        ({"method": ["tools"]}, "unknown method"),
        ({"method": "skills.list"}, 'send a tool as "tool"'),
    ],
)
def test_a_request_that_is_incomplete_keeps_its_id_and_is_told_what_to_send(
    hosted: SyncSession, request_: dict[str, object], word: str
) -> None:
    found = _one(hosted, {"id": 9, **request_})

    assert found["id"] == 9
    assert found["error_detail"]["code"] == "invalid_request"
    assert word in found["error"]


@pytest.mark.parametrize("request_id", [True, [], {}])
def test_an_id_must_be_a_text_a_number_or_null(hosted: SyncSession, request_id: object) -> None:
    found = _one(hosted, {"id": request_id, "tool": "skills.load"})

    assert (found["id"], found["error_detail"]["code"]) == (None, "invalid_request")


def test_a_line_that_is_too_long_is_skipped_to_its_end(hosted: SyncSession) -> None:
    long = b'{"id":1,"tool":"' + b"x" * (2 * MAX_LINE_BYTES) + b'"}\n'

    bad, good = _serve(hosted, long + b'{"id":2,"method":"tools"}\n')

    assert (bad["id"], bad["error_detail"]["code"]) == (None, "invalid_request")
    assert str(MAX_LINE_BYTES) in bad["error"]
    assert (good["id"], good["success"]) == (2, True)
    assert _serve(hosted, b"x" * (MAX_LINE_BYTES + 5))[0]["id"] is None


def test_blank_lines_are_passed_over_and_a_byte_order_mark_is_no_fault(hosted: SyncSession) -> None:
    assert [line["id"] for line in _serve(hosted, b'\n  \r\n\xef\xbb\xbf{"id":1,"method":"tools"}\r\n\n')] == [1]


def test_the_methods_give_instructions_and_tools(hosted: SyncSession) -> None:
    _one(hosted, {"id": 1, "tool": "skills.load", "arguments": {"names": ["gamma"]}})

    text = _one(hosted, {"id": 2, "method": "instructions"})["result"]
    short = _one(hosted, {"id": 3, "method": "instructions", "arguments": {"budget": 30}})["result"]
    tools = _one(hosted, {"id": 4, "method": "tools"})["result"]["tools"]

    assert text["instructions"] == hosted.instructions()
    assert "Body of gamma." in text["instructions"]
    assert text["tokens"]["total"] > 100
    assert (text["shortened"], text["over_budget"]) == ([], False)
    assert short["over_budget"]
    assert [tool["name"] for tool in tools] == [
        *("skills.load", "skills.unload", "skills.read", "skills.run_script"),
        "skills.list",
    ]
    assert set(tools[0]) == {"name", "description", "input_schema", "output_schema"}


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("tools", {"shape": "x"}),
        ("close", {"x": 1}),
        ("instructions", {"budget": -1}),
        ("instructions", {"budget": True}),
        ("instructions", {"budget": "9"}),
    ],
)
def test_arguments_of_methods_are_checked(hosted: SyncSession, method: str, arguments: dict[str, object]) -> None:
    assert (
        _one(hosted, {"id": 1, "method": method, "arguments": arguments})["error_detail"]["code"] == "invalid_arguments"
    )


def test_after_close_every_request_says_that_the_session_is_gone(hosted: SyncSession) -> None:
    assert _one(hosted, {"id": 1, "method": "close"})["result"] == {"closed": True}

    for request in (
        {"tool": "skills.load", "arguments": {"names": ["alpha"]}},
        {"tool": "skills.unload", "arguments": {"all": True}},
        {"tool": "skills.read", "arguments": {"path": "SKILL.md"}},
        {"tool": "skills.run_script", "arguments": {"path": "scripts/run.py"}},
        {"method": "instructions"},
    ):
        assert _one(hosted, {"id": 2, **request})["error_detail"]["code"] == "session_not_found"


def test_texts_that_are_not_unicode_come_back_as_escapes(hosted: SyncSession) -> None:
    found = answer(hosted, b'{"id":"\\ud800","tool":"skills.read","arguments":{"path":"\\ud800","skill":"a\\u0000"}}')

    assert json.loads(found)["id"] == "\ud800"
    assert not json.loads(found)["success"]


@given(st.binary(max_size=40))
def test_no_line_of_bytes_breaks_the_conversation(line: bytes) -> None:
    _never_breaks(line.replace(b"\n", b""))


_NAMES = st.sampled_from(["id", "tool", "method", "arguments", "names", "path"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=10,
)


@given(_JSON)
def test_no_json_value_breaks_the_conversation(value: object) -> None:
    _never_breaks(json.dumps(value).encode())


_SHARED: list[SyncSession] = []


def _never_breaks(line: bytes) -> None:
    if not _SHARED:
        _SHARED.append(SyncSession(Catalog()))
    found = json.loads(answer(_SHARED[0], line))
    assert list(found) == _KEYS
    assert not found["success"] or found["result"] is not None


@pytest.fixture(scope="module", autouse=True)
def _closing() -> Iterator[None]:
    yield
    for session in _SHARED:
        session.close()


def test_the_page_lists_exactly_the_closed_codes() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "json-lines.md").read_text(encoding="utf-8")
    page = " ".join(text.split())
    listed = page.partition("closed list:")[2].partition("[What each means]")[0]

    assert set(re.findall(r"`(\w+)`", listed)) == set(CODES)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"id":1e400,"method":"tools"}', "too large"),
        (b'{"id":1,"method":"instructions","arguments":{"budget":-1e999}}', "too large"),
        (b'{"id":NaN,"method":"tools"}', "NaN"),
        (b'{"id":1,"tool":"skills.load","tool":"skills.unload"}', "the key 'tool' occurs twice"),
        (b'{"id":1,"tool":"skills.load","arguments":{"names":["a"],"names":["b"]}}', "the key 'names' occurs twice"),
    ],
)
def test_what_json_readers_would_understand_differently_is_refused(hosted: SyncSession, line: bytes, said: str) -> None:
    (found,) = _serve(hosted, line + b"\n")
    assert found["id"] is None
    assert found["error_detail"]["code"] == "invalid_request"
    assert said in found["error"]


def test_an_answer_is_one_line_for_every_reader_of_lines(hosted: SyncSession) -> None:
    line = answer(hosted, '{"id":"\u2028\u0085\x9b","method":"none"}'.encode())
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line)["id"] == "\u2028\u0085\x9b"
