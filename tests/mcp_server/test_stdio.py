"""The server as a host meets it: a process, its two streams, and the official client at the other end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema
import pytest

from prowess.audit import verify_log
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

GREETING: dict[str, object] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def _code(result: Any) -> str:  # noqa: ANN401 -- the client's model
    assert result.is_error
    return str(result.meta["prowess/error"]["code"])


@pytest.mark.proves("runtime.edge.mcp-tools-only")
async def test_a_client_with_tools_alone_can_list_load_read_run_and_unload(
    serving: Callable[..., Any], sandbox: None, skills: Path, own_home: Path
) -> None:
    async with serving() as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}

        async def call(name: str, **arguments: object) -> Any:  # noqa: ANN401 -- the client's model
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content[0].text
            jsonschema.validate(result.structured_content, schemas[name])
            return result

        listed = (await call("skills_list")).structured_content
        assert listed == {
            "skills": [
                {
                    "name": name,
                    "description": text,
                    "location": str(skills / name / "SKILL.md"),
                    "origin": None,
                    "active": False,
                }
                for name, text in (("alpha", "First. Use when A."), ("beta", "Second <b>. Use when B."))
            ],
            "next_cursor": None,
            "left_out": 0,
        }
        loaded = await call("skills_load", names=["alpha"])
        assert re.match(
            r'<skill_content name="alpha" mark="[0-9a-f]{16}">\n# alpha\n\nDo alpha\.\n', loaded.content[0].text
        )
        assert loaded.content[0].text.endswith("Loaded skills: alpha")
        assert loaded.structured_content["active_skills"][0]["content"] in loaded.content[0].text
        again = await call("skills_load", names=["alpha"])
        assert (
            again.content[0].text == "Loaded skills: alpha\nNotice: alpha is loaded already and unchanged; follow it."
        )
        assert [one["active"] for one in (await call("skills_list")).structured_content["skills"]] == [True, False]
        read = await call("skills_read", path="references/a.md")
        assert read.structured_content["text"] == "# A\n\nRead me.\n"
        assert json.loads(read.content[0].text) == read.structured_content
        ran = await call("skills_run_script", path="scripts/fail.sh")
        assert (ran.structured_content["exit_code"], ran.structured_content["stderr"]) == (7, "broken\n")
        assert _code(await client.call_tool("skills_read", {"path": "../beta/secret.md"})) == "unsafe_path"
        assert _code(await client.call_tool("skills_load", {"names": ["beta"], "x": 1})) == "invalid_arguments"
        unloaded = await call("skills_unload", all=True)
        assert unloaded.content[0].text == "Loaded skills: none"
    log = own_home / ".prowess" / "audit" / "audit.jsonl"
    assert verify_log(str(log)).ok
    kinds = [json.loads(line)["kind"] for line in log.read_text().splitlines()]
    assert (kinds.count("tool.started"), kinds.count("tool.finished"), kinds.count("tool.refused")) == (8, 8, 1)
    assert [kind for kind in kinds if not kind.startswith("tool.")] == [
        "skill.loaded",
        "script.finished",
        "skill.unloaded",
    ]


@pytest.mark.unmeasured
async def test_a_second_server_beside_the_first_is_a_session_of_its_own(
    serving: Callable[..., Any], own_home: Path
) -> None:
    async with serving() as one, serving() as other:
        async with anyio.create_task_group() as tasks:
            for client in (one, other):
                tasks.start_soon(client.call_tool, "skills_load", {"names": ["alpha"]})
        await other.call_tool("skills_unload", {"all": True})
        assert not (await one.call_tool("skills_read", {"path": "references/a.md"})).is_error
        assert _code(await other.call_tool("skills_read", {"path": "references/a.md"})) == "skill_not_active"
    verified = verify_log(str(own_home / ".prowess" / "audit" / "audit.jsonl"))
    assert (verified.ok, verified.records) == (True, 13)


def _naps(marker: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in environment:
                found.append(entry.name)
    return found


async def _until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110 -- another process has no event of ours
            await anyio.sleep(0.02)


def _nap(marker: str) -> dict[str, object]:
    return {"path": "scripts/nap.sh", "args": [marker], "env": {"NAP": marker}}


async def test_a_cancelled_call_ends_its_script_and_the_server_goes_on(
    serving: Callable[..., Any], sandbox: None, own_home: Path
) -> None:
    marker = f"nap-{os.getpid()}-cancelled"
    async with serving() as client:
        await client.call_tool("skills_load", {"names": ["alpha"]})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "skills_run_script", _nap(marker))
            await _until(lambda: bool(_naps(marker)))
            tasks.cancel_scope.cancel()
        await _until(lambda: not _naps(marker))
        assert not (await client.call_tool("skills_list", {})).is_error
    assert '"cancelled"' in (own_home / ".prowess" / "audit" / "audit.jsonl").read_text()


@pytest.mark.measured_once
@pytest.mark.parametrize("ending", ["the pipe is closed", "SIGTERM"])
def test_a_server_that_is_ended_takes_the_running_script_with_it(
    skills: Path, workspace: Path, own_home: Path, sandbox: None, ending: str
) -> None:
    marker = f"nap-{os.getpid()}-{ending[:3]}"
    with _raw(skills, workspace) as server:
        assert server.stdin is not None
        _say(server, 1, "initialize", GREETING)
        _say(server, None, "notifications/initialized", {})
        _say(server, 2, "tools/call", {"name": "skills_load", "arguments": {"names": ["alpha"]}})
        _hear(server, 1, 2)
        _say(server, 3, "tools/call", {"name": "skills_run_script", "arguments": _nap(marker)})
        _wait(lambda: bool(_naps(marker)))
        if ending == "SIGTERM":
            server.send_signal(signal.SIGTERM)
            assert server.wait(10) == 128 + signal.SIGTERM
        else:
            server.stdin.close()
            assert server.wait(10) == 0
        _wait(lambda: not _naps(marker))
    assert list((own_home / ".prowess" / "artifacts").iterdir()) == [], "closed in order"
    assert '"cancelled"' in (own_home / ".prowess" / "audit" / "audit.jsonl").read_text()


def test_standard_output_holds_the_protocol_and_nothing_else(skills: Path, workspace: Path) -> None:
    with _raw(skills, workspace) as server:
        assert server.stdin is not None
        _say(server, 1, "initialize", GREETING)
        _say(server, None, "notifications/initialized", {})
        server.stdin.write(b"this is not json\n\xff\xfe\n[]\n")
        _say(server, 2, "tools/list", {})
        _say(server, 3, "no/such", {})
        _hear(server, 1, 2, 3)
        server.stdin.close()
        assert server.stdout is not None
        for line in server.stdout:
            assert json.loads(line)["jsonrpc"] == "2.0"
        assert server.wait(10) == 0


PARSE, INVALID, METHOD, PARAMS = -32700, -32600, -32601, -32602
MALFORMED = [
    (b"this is not json", None, PARSE),
    (b"\xff\xfe", None, PARSE),
    (b"\xef\xbb\xbf{}", None, PARSE),
    (b"[" * 100_000, None, PARSE),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/list"', None, PARSE),
    (b"[]", None, INVALID),
    (b'[{"jsonrpc":"2.0","id":7,"method":"tools/list"}]', None, INVALID),
    (b"7", None, INVALID),
    (b"null", None, INVALID),
    (b"{}", None, INVALID),
    (b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}', 7, INVALID),
    (b'{"id":"seven","method":"tools/list"}', "seven", INVALID),
    (b'{"jsonrpc":"2.0","id":7}', 7, INVALID),
    (b'{"jsonrpc":"2.0","id":7,"method":8}', 7, INVALID),
    (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', None, INVALID),
    (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', None, INVALID),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', None, INVALID),
    (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', None, INVALID),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"tools/list"}', None, INVALID),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":"x"}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":[1]}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":8}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"skills_list","arguments":[]}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":{}}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"alpha","arguments":{"a":1}}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"skills/get","params":{"uri":7}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"skills/list","params":{"cursor":7}}', 7, PARAMS),
    (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', 7, METHOD),
    (b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}', 7, PARAMS),
    (b" " * (4 * 1024 * 1024) + b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}', None, INVALID),
    (b"x" * (9 * 1024 * 1024), None, INVALID),
]
UNANSWERED = [
    b"",
    b"   \t",
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":7}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b'{"jsonrpc":"2.0","method":"notifications/none"}',
    b'{"jsonrpc":"2.0","id":99,"result":{}}',
    b'{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}',
]


@pytest.mark.measured_once
@pytest.mark.proves("runtime.mcp.malformed")
@pytest.mark.parametrize("greeted", [True, False])
def test_malformed_lines_and_wrong_parameters_are_answered_by_errors_and_the_server_goes_on(
    skills: Path, workspace: Path, *, greeted: bool
) -> None:
    with _raw(skills, workspace) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        number = 100
        if greeted:
            _say(server, number, "initialize", GREETING)
            _say(server, None, "notifications/initialized", {})
            _hear(server, number)
        for line, known, code in MALFORMED:
            if not greeted and code not in {PARSE, INVALID}:
                continue
            server.stdin.write(line + b"\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            assert (answer["id"], answer["error"]["code"]) == (known, code), line[:80]
            assert len(json.dumps(answer)) < 500
            assert "Traceback" not in json.dumps(answer)
        server.stdin.write(b"\n".join(UNANSWERED) + b"\n")
        if not greeted:
            _say(server, number, "initialize", GREETING)
            _say(server, None, "notifications/initialized", {})
            _hear(server, number)
        _say(server, number + 1, "tools/list", {})
        answer = json.loads(server.stdout.readline())
        assert answer["id"] == number + 1, "what is not answered is passed over"
        assert answer["result"]["tools"]
        longest = b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}'
        server.stdin.write(b" " * (4 * 1024 * 1024 - len(longest) - 1) + longest + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]["tools"]
        server.stdin.close()
        assert server.wait(10) == 0


def _raw(skills: Path, workspace: Path) -> subprocess.Popen[bytes]:
    command = [prowess(), "serve", "--root", str(skills), "--workspace", str(workspace)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _say(server: subprocess.Popen[bytes], number: int | None, method: str, params: dict[str, object]) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def _hear(server: subprocess.Popen[bytes], *numbers: int) -> None:
    assert server.stdout is not None
    waiting = set(numbers)
    while waiting:
        message = json.loads(server.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        waiting.discard(message.get("id"))


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
