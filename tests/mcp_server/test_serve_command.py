from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from prowess.cli.commands import serve
from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_without_the_mcp_package_one_sentence_says_what_to_install(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == "mcp" else importlib.util.find_spec(name))
    assert run(["serve"]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == "error: the MCP server needs the mcp package: pip install 'prowess[mcp]'\n"


def test_help_and_snippets_do_not_import_the_sdk(tmp_path: Path) -> None:
    program = (
        "import sys; from prowess.cli.dispatch import run\n"
        "assert run(['serve', '--help']) == 0 and run(['serve', '--print-config', 'zed']) == 0\n"
        "assert not {'mcp', 'anyio', 'pydantic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True, timeout=30)


def _project(place: Path) -> None:
    skill = place / ".prowess" / "skills" / "mine"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: mine\ndescription: Mine. Use when mine.\n---\nMine.\n")
    (place / ".git").mkdir()


def test_notices_go_to_standard_error_and_flags_reach_the_catalog(tmp_path: Path, own_home: Path) -> None:
    _project(tmp_path)
    (own_home / "blocked").write_text("a file where a directory should be")
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "skills_list", "arguments": {}}},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "prowess", "serve", "--trust-project"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "PROWESS_HOME": str(own_home / "blocked")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
        server.stdin.flush()
        answers = {answer["id"]: answer for answer in (json.loads(server.stdout.readline()) for _ in range(2))}
        server.stdin.close()
        said = server.stderr.read()
        assert server.wait(20) == 0
    assert "leaves no audit record" in said
    assert f"{tmp_path} is not used as the workspace" in said
    assert "<name>mine</name>" in answers[1]["result"]["instructions"]
    (listed,) = answers[2]["result"]["structuredContent"]["skills"]
    assert (listed["name"], listed["active"]) == ("mine", False)


def test_a_person_at_a_terminal_is_told_what_is_held_back_and_what_this_waits_for(tmp_path: Path) -> None:
    _project(tmp_path)
    ours, theirs = os.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "prowess", "serve"],
            cwd=tmp_path,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stderr is not None
            assert "prowess trust" in server.stderr.readline()
            assert server.stderr.readline().startswith("Waiting for an MCP client on standard input; Ctrl-C stops it.")
            _until_it_minds_signals(server.pid)
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == 128 + signal.SIGINT
            assert (server.stderr.read(), server.stdout.read() if server.stdout else None) == ("", "")
    finally:
        os.close(ours)
        os.close(theirs)


def _until_it_minds_signals(pid: int) -> None:
    """Wait until the server has a handler of its own: asyncio catches SIGTERM only then."""
    end = time.monotonic() + 20
    caught = 0
    while not caught & (1 << (signal.SIGTERM - 1)):
        assert time.monotonic() < end
        time.sleep(0.02)
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt:"))
