"""What the server offers and answers, over the official client; no process of its own is needed for that."""

from __future__ import annotations

import base64
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio

NAMES = ["skills_load", "skills_unload", "skills_read", "skills_run_script", "skills_list"]


def _code(result: Any) -> str:  # noqa: ANN401 -- the client's model
    assert result.is_error
    return str(result.meta["prowess/error"]["code"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_tools_carry_closed_schemas_and_names_that_every_host_takes(
    in_process: Callable[..., Any], sandbox: None, mode: str
) -> None:
    async with in_process(mode=mode) as client:
        assert client.server_info.name == "prowess"
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        for tool in tools:
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", tool.name)
            for schema in (tool.input_schema, tool.output_schema):
                jsonschema.Draft202012Validator.check_schema(schema)
                assert (schema["type"], schema["additionalProperties"]) == ("object", False)
            assert "session" not in json.dumps(tool.input_schema)
        assert "MUST call skills_load" in client.instructions
        assert "skills." not in client.instructions.replace("skills. ", "").replace("skills.\n", "")
        assert "<name>beta</name>" in client.instructions
        assert "Second &lt;b&gt;." in client.instructions


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("skills_list", {"page": 2}, "invalid_arguments"),
        ("skills_load", {"names": ["alpha"], "session_id": "x"}, "invalid_arguments"),
        ("skills_load", {"names": "alpha"}, "invalid_arguments"),
        ("skills_load", {"names": ["alhpa"]}, "skill_not_found"),
        ("skills_read", {"path": "../beta/secret.md"}, "unsafe_path"),
        ("skills_read", {"path": "/etc/passwd"}, "unsafe_path"),
        ("skills_read", {"path": "secret.md", "skill": "beta"}, "skill_not_active"),
        ("skills_read", {"path": "none.md"}, "resource_not_found"),
        ("skills_run_script", {"path": "references/a.md"}, "script_unsupported"),
        ("skills_eat", {}, "tool_not_found"),
    ],
)
async def test_a_refusal_is_a_result_with_a_sentence_and_a_code(
    in_process: Callable[..., Any], tool: str, arguments: dict[str, object], code: str
) -> None:
    async with in_process() as client:
        await client.call_tool("skills_load", {"names": ["alpha"]})
        result = await client.call_tool(tool, arguments)
        assert _code(result) == code
        assert result.structured_content is None
        assert result.content[0].text == result.meta["prowess/error"]["message"]


async def test_artifacts_are_resources_whatever_their_names(
    in_process: Callable[..., Any], sandbox: None, own_home: Path
) -> None:
    async with in_process() as client:
        assert not [one for one in (await client.list_resources()).resources if one.uri.startswith("prowess:")]
        await client.call_tool("skills_load", {"names": ["alpha"]})
        for _ in range(2):
            ran = await client.call_tool("skills_run_script", {"path": "scripts/leave.sh"})
        links = [block for block in ran.content if block.type == "resource_link"]
        assert sorted(link.name for link in links) == ["b\u00fc n%.bin", "latin.txt", "long.txt", "note.txt"]
        resources = (await client.list_resources()).resources
        assert [one.uri.startswith("prowess:") for one in resources] == [True] * 8 + [False] * 3
        assert {one.uri for one in resources[:4]} == {link.uri for link in links}, "the newest run comes first"
        contents = {}
        for one in resources[:4]:
            assert one.uri.isascii()
            (contents[one.name],) = (await client.read_resource(one.uri)).contents
        assert base64.b64decode(contents["b\u00fc n%.bin"].blob) == b"\0\xff"
        assert (contents["note.txt"].text, contents["note.txt"].mime_type) == ("h\u00e9llo\n", "text/plain")
        assert base64.b64decode(contents["latin.txt"].blob) == b"\xff", "of a text type, but no text"
        assert contents["long.txt"].text == "a" * 2_200_000
        for wrong in ("prowess://artifacts/x/note.txt", resources[0].uri + "/../x"):
            with pytest.raises(MCPError, match="no script of this session left an artifact"):
                await client.read_resource(wrong)
        with pytest.raises(MCPError, match="not a skill URI"):
            await client.read_resource("file:///etc/passwd")
    assert list((own_home / ".prowess" / "artifacts").iterdir()) == [], "they go with the session"


async def test_results_are_those_of_the_same_calls_over_json_lines(
    in_process: Callable[..., Any], sandbox: None, skills: Path, workspace: Path
) -> None:
    calls = [
        ("skills_read", {"path": "references/a.md"}),
        ("skills_load", {"names": ["alpha", "beta"]}),
        ("skills_load", {"names": ["alpha"], "mode": "add"}),
        ("skills_read", {"path": "references/a.md", "skill": "alpha"}),
        ("skills_read", {"path": "references/a.md", "skill": "alpha", "encoding": "binary", "limit": 3}),
        ("skills_read", {"path": "scripts/fail.sh", "skill": "alpha"}),
        ("skills_run_script", {"path": "scripts/fail.sh", "skill": "alpha"}),
        ("skills_load", {"names": []}),
        ("skills_unload", {"names": ["gamma"]}),
        ("skills_unload", {"names": ["alpha"]}),
    ]
    lines = "".join(
        json.dumps({"id": number, "tool": name, "arguments": arguments}) + "\n"
        for number, (name, arguments) in enumerate(calls)
    )
    session = [sys.executable, "-m", "prowess", "session", "--body", "result", "--root", str(skills)]
    with anyio.fail_after(30):
        done = await anyio.run_process([*session, "--workspace", str(workspace)], input=lines.encode())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    async with in_process() as client:
        for (name, arguments), answer in zip(calls, answers, strict=True):
            result = await client.call_tool(name, arguments)
            assert result.is_error is not answer["success"]
            assert _steady(result.structured_content) == _steady(answer["result"])
            if result.is_error:
                assert result.meta["prowess/error"] == answer["error_detail"]


def _steady(result: dict[str, object] | None) -> dict[str, object] | None:
    """Return a result without what differs from session to session: times, and the marks of bodies."""
    if result is None:
        return None
    steady: dict[str, object] = json.loads(re.sub(r' mark=\\"[0-9a-f]{16}\\"', "", json.dumps(result)))
    return {**steady, "duration_ms": 0}


async def test_artifacts_can_be_read_where_places_are_hidden(in_process: Callable[..., Any], sandbox: None) -> None:
    async with in_process(expose_location=False) as client:
        await client.call_tool("skills_load", {"names": ["alpha"]})
        ran = await client.call_tool("skills_run_script", {"path": "scripts/leave.sh"})
        assert {artifact["path"] for artifact in ran.structured_content["artifacts"]} == {None}
        (content,) = (await client.read_resource("prowess://artifacts/note.txt")).contents
        assert content.text == "h\u00e9llo\n"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_asks_for_progress_reads_what_a_script_prints_while_it_runs(
    in_process: Callable[..., Any], sandbox: None, mode: str, skills: Path, workspace: Path
) -> None:
    (skills / "alpha" / "scripts" / "wait.sh").write_text(
        "echo first\nwhile [ ! -e $WORKSPACE/go ]; do sleep 0.02; done\necho last >&2\n"
    )
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        told.append((progress, message))
        (workspace / "go").touch()  # the script waits for this

    async with in_process(mode=mode) as client:
        await client.call_tool("skills_load", {"names": ["alpha"]})
        run = {"path": "scripts/wait.sh", "timeout": 20}
        followed = await client.call_tool("skills_run_script", run, progress_callback=hear)
        await anyio.wait_all_tasks_blocked()
        plain = await client.call_tool("skills_run_script", run)
    assert "".join(message or "" for _, message in told) == "first\nlast\n"
    assert [progress for progress, _ in told] == [6.0, 11.0]
    for result in (followed, plain):
        result.structured_content.pop("duration_ms")
        assert not result.structured_content["timed_out"]
    assert followed.structured_content == plain.structured_content
