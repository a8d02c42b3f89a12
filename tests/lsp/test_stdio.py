"""What reaches the pipe, what ends the process, and what does not."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from prowess.lsp.server import _next_message
from tests.lsp.editor import COMMAND, WAIT, document, editing

if TYPE_CHECKING:
    from pathlib import Path

_PLANTED = """
import prowess.lsp.analysis as open_skills, prowess.lsp.server as server
from prowess.config import Configuration
from prowess.lsp.server import serve_stdio
judge = open_skills.analyse
def analyse(uri, path, text, **rest):
    if "boom" in text:
        raise RecursionError("planted")
    return judge(uri, path, text, **rest)
open_skills.analyse = analyse
server.hover = lambda analysis, position: 1 / 0
print("a stray print")
raise SystemExit(serve_stdio(lambda folder: (Configuration(()), lambda document, judgement, found: found)))
"""


def framed(*messages: object) -> bytes:
    parts = []
    for message in messages:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        parts.append(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    return b"".join(parts)


def call(method: str, params: object = None, number: int | None = None) -> dict[str, object]:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if number is None else {**message, "id": number}


def next_frame(source: IO[bytes]) -> dict[str, Any] | None:
    """Read one message; whatever else stands there makes this fail."""
    header = source.readline()
    if not header:
        return None
    length = int(header.removeprefix(b"Content-Length: "))
    while source.readline() != b"\r\n":
        pass
    message: dict[str, Any] = json.loads(source.read(length))
    return message


def talk(data: bytes, last: int, *end: object) -> tuple[int, dict[object, dict[str, Any]], bytes]:
    """Send, wait for the answer to the call `last`, send the end; return the exit code, the answers and the errors."""
    answers: dict[object, dict[str, Any]] = {}
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        late = threading.Timer(WAIT, server.kill)
        late.start()
        server.stdin.write(data)
        server.stdin.flush()
        while last not in answers and (message := next_frame(server.stdout)) is not None:
            answers[message.get("id")] = message
        server.stdin.write(framed(*end))
        server.stdin.close()
        while (message := next_frame(server.stdout)) is not None:
            answers[message.get("id")] = message
        errors = server.stderr.read()
        code = server.wait(WAIT)
        late.cancel()
    return code, answers, errors


START = call("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
END = (call("shutdown", None, 99), call("exit"))


def test_messages_that_nobody_should_send_are_survived_and_standard_output_stays_clean() -> None:
    nowhere = {"line": -1, "character": 0}
    far = {"line": 2**31 - 1, "character": 2**31 - 1}
    unknown = {"textDocument": {"uri": "file:///nowhere/SKILL.md", "version": 1}}
    opened = [
        {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": "---\n"}}
        for uri in (
            "file:///a%00b/SKILL.md",
            "file://[/SKILL.md",
            "untitled:SKILL.md",
            "SKILL.md",
            "",
            "git:/x/SKILL.md",
        )
    ]
    code, answered, errors = talk(
        b"Garbage: yes\r\n"
        + framed(
            call("textDocument/hover", {}, 2),
            START,
            b"{not json",
            b"[]",
            b"7",
            b'{"jsonrpc": "1.0"}',
            b"[" * 100_000,
            call("no/such", {}, 3),
            call("textDocument/didChange", {**unknown, "contentChanges": [{"text": "x"}]}),
            call("textDocument/didChange", {"textDocument": 7}),
            call("textDocument/hover", {**unknown, "position": nowhere}, 4),
            call("textDocument/rename", {**unknown, "position": far, "newName": "x"}, 5),
            call("workspace/willRenameFiles", {"files": [{"oldUri": "file:///%00", "newUri": "\ud800"}]}, 6),
            call("workspace/executeCommand", {"command": "rm", "arguments": ["-rf"]}, 7),
            *(call("textDocument/didOpen", one) for one in opened),
            call("textDocument/documentSymbol", unknown, 8),
        ),
        8,
        *END,
    )
    assert answered.keys() >= {1, 3, 4, 5, 6, 7, 8, 99}
    assert "error" in answered[4]
    assert answered[5]["result"] is None
    assert answered[8]["result"] == []
    assert "error" in answered[3]
    assert "error" in answered[7]
    assert (code, errors) == (0, b"")


@pytest.mark.parametrize(("messages", "code"), [(END, 0), (END[1:], 1), ((), 1)], ids=["end", "exit", "pipe"])
def test_the_exit_code_says_whether_the_client_asked_for_the_end(messages: tuple[object, ...], code: int) -> None:
    assert talk(framed(START), 1, *messages)[0] == code


def test_a_signal_ends_the_server_at_once() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(framed(START))
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length: ")
        server.send_signal(signal.SIGINT)
        assert server.wait(WAIT) == -signal.SIGINT


def test_a_message_that_is_too_long_is_dropped_and_the_next_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.lsp.server.MAX_MESSAGE_BYTES", 100)
    monkeypatch.setattr("prowess.lsp.server._PIECE", 7)
    source = io.BytesIO(framed(b"x" * 101, b"{}") + b"Content-Length: 99999999999999999999\r\n\r\n" + framed(b"[1]"))
    told: list[int] = []
    assert [_next_message(source, told.append) for _ in range(4)] == [b"null", b"{}", b"[1]", None]
    assert told == [101]
    assert _next_message(io.BytesIO(b"content-length: 5\r\n\r\nab"), told.append) is None


def _no_traceback(message: object) -> bool:
    text = json.dumps(message)
    return "Traceback" not in text and "traceback" not in text and ".py" not in text and "\\n" not in text


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 999999999999999\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n{}\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: x\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 2\n\n{}",
        b"\r\n\r\n\0\xff\xfe" + b"x" * 10_000 + b"\r\n",
        framed(b"\xff\xfe", b"nul", b"NaN", b"{" * 50_000, b'"\\ud800"', b"[[]]", b"true"),
        framed(b'{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}', b'{"jsonrpc": "2.0", "id": 1, "method": 7}'),
        framed(b'{"jsonrpc": "2.0", "id": 5, "result": {}}', b'{"jsonrpc": "2.0", "id": 6, "error": {}}'),
        framed(call("textDocument/hover", 7, 2), call("textDocument/hover", [], 3), call("initialize", "x", 4)),
        framed(call("textDocument/hover", None, 2), call("$/cancelRequest", {"id": 2}), call("$/cancelRequest", 1)),
        framed(call("textDocument/didOpen", {"textDocument": None}), call("textDocument/didClose", {})),
        framed(call("initialize", {"processId": "x", "rootUri": 7, "capabilities": []}, 2)),
        framed(call("workspace/didChangeWorkspaceFolders", {"event": 7}), call("workspace/willRenameFiles", {}, 2)),
        framed(call("textDocument/codeAction", {"textDocument": {"uri": 1}, "range": {}, "context": {}}, 2)),
    ],
)
def test_malformed_frames_and_wrong_params_are_told_in_a_sentence_and_never_by_a_traceback(data: bytes) -> None:
    huge = b"9999" in data
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        late = threading.Timer(WAIT, server.kill)
        late.start()
        output, errors = server.communicate(framed(START) + data + (b"" if huge else framed(*END)), timeout=WAIT)
        late.cancel()
    source, messages = io.BytesIO(output), []
    while (message := next_frame(source)) is not None:
        messages.append(message)
    assert 1 in {message.get("id") for message in messages}
    assert all(map(_no_traceback, (one for one in messages if one.get("id") != 1))), messages
    assert errors == b""
    if not huge:
        assert server.returncode == 0


@pytest.mark.anyio
async def test_a_handler_that_crashes_is_logged_in_the_editor_and_the_server_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "table" / "SKILL.md"
    at = types.HoverParams(text_document=document(path), position=types.Position(line=1, character=1))
    async with editing(tmp_path, command=(sys.executable, "-c", _PLANTED), quiet=False) as editor:
        assert "description.required" in [one.code for one in await editor.open(path, "---\nname: table\n---\n")]
        for _ in range(2):
            with pytest.raises(JsonRpcException) as raised:
                await editor.client.text_document_hover_async(at)
        await editor.until(lambda: editor.logged)
        assert editor.logged[0].startswith("ZeroDivisionError: ")
        assert _no_traceback(editor.logged)
        assert _no_traceback([raised.value.message, raised.value.data])
        editor.type(path, "boom")
        await editor.until(lambda: editor.shown)
        assert "RecursionError: planted" in editor.shown[0]
        with pytest.raises(JsonRpcException):
            await editor.complete(path, 0, 0)
        assert "frontmatter.missing" in [one.code for one in await editor.change(path, "")]


@pytest.mark.unmeasured
@pytest.mark.anyio
async def test_hostile_documents_are_judged_in_bounded_time_and_every_request_on_them_answers(tmp_path: Path) -> None:
    texts = {
        "long": "---\nname: t\ndescription: d\n---\n" + "x" * (3 * 1024 * 1024),
        "deep": "---\nname: " + "[" * 60_000 + "\n---\n",
        "keys": "---\n" + "".join(f"k{at}: v\n" for at in range(4000)) + "---\n",
        "links": "---\nname: t\n---\n" + "[a](/b) " * 20_000,
        "unclosed": "---\n" + "a: [\n" * 100_000,
        "odd": "---\nname: \ud800\0\u202e\x1b[31m\n---\n\x85\u2028\r\r\n\x0b# \ud83d",
        "fences": "---\n" * 100_000,
    }
    async with editing(tmp_path) as editor:
        for name, text in texts.items():
            path = tmp_path / name / "SKILL.md"
            found = await editor.open(path, text)
            assert len(found) <= 500
            assert not any(char in one.message for one in found for char in "\x1b\u202e\n")
            await editor.actions(path)
            for line in (0, 1, 5):
                await editor.complete(path, line, 6)
                await editor.hover(path, line, 2)
            await editor.client.text_document_document_symbol_async(
                types.DocumentSymbolParams(text_document=document(path))
            )
            editor.close(path)
        assert editor.logged == []
