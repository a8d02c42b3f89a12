"""The Skills extension, older forms and skill resources, over the official client."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.types.version import KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from prowess import Catalog
from prowess.audit import verify_log
from prowess.audit.log import JsonlAuditLog
from prowess.catalog.skill_uri import skill_uri
from prowess.mcp_server.server import DIRECTORY_PAGE, IDENTIFIER, build_server, open_session
from prowess.runtime.tools.list import PAGE
from tests.mcp_server.conftest import MessageChannel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio
ANYTHING: TypeAdapter[Any] = TypeAdapter(dict[str, Any])


async def _ask(client: Any, method: str, **params: object) -> dict[str, Any]:  # noqa: ANN401 -- the SDK's client
    request = types.Request[dict[str, Any], str](method=method, params=params)
    answer: dict[str, Any] = await client.session.send_request(request, ANYTHING)
    return answer


async def _every(client: Any, method: str, key: str, **params: object) -> list[dict[str, Any]]:  # noqa: ANN401 -- as _ask
    found: list[dict[str, Any]] = []
    while True:
        page = await _ask(client, method, **params)
        assert page.get("resultType", "complete") == "complete"
        found += page[key]
        if "nextCursor" not in page:
            return found
        params["cursor"] = page["nextCursor"]


async def _bytes(client: Any, uri: str) -> bytes:  # noqa: ANN401 -- as _ask
    (content,) = (await client.read_resource(uri)).contents
    return content.text.encode() if hasattr(content, "text") else base64.b64decode(content.blob)


def _skill(skills: Path, name: str, front: str = "", body: str = "Do it.\n") -> Path:
    (skills / name).mkdir()
    (skills / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n{front}---\n{body}")
    return skills / name


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_entry_is_complete_and_every_file_is_what_it_says(
    in_process: Callable[..., Any], skills: Path, mode: str
) -> None:
    odd = _skill(skills, "größe", "metadata:\n  version: 1.5\n  tags: [a, 2]\n")
    (odd / "100% ü#?.md").write_bytes(b"\xef\xbb\xbftext\r\n")
    (odd / "bin").write_bytes(b"\0\xff")
    (odd / "deep" / "er").mkdir(parents=True)
    (odd / "deep" / "er" / ".hidden").write_text("x")
    async with in_process(mode=mode) as client:
        assert client.server_capabilities.extensions[IDENTIFIER] == {"directoryRead": True}
        assert client.server_capabilities.resources is not None
        page = await _ask(client, "skills/list")
        entries = {entry["frontmatter"]["name"]: entry for entry in page["skills"]}
        assert sorted(entries) == ["alpha", "beta", "größe"]
        for name, entry in entries.items():
            assert entry["uri"] == skill_uri(name, "SKILL.md")
            got = await _ask(client, "skills/get", uri=entry["uri"])
            assert got["skill"] == entry
            on_disk = [path for path in (skills / name).rglob("*") if path.is_file()]
            assert len(entry["resources"]) == len(on_disk)
            for resource in entry["resources"]:
                data = await _bytes(client, resource["uri"])
                assert len(data) == resource["size"]
                assert resource["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert entries["größe"]["frontmatter"] == {
            "name": "größe",
            "description": "About größe.",
            "metadata": {"version": 1.5, "tags": ["a", 2]},
        }
        scripts = [one["uri"] for one in entries["alpha"]["resources"] if "/scripts/" in one["uri"]]
        assert len(scripts) == 3, "scripts are files of a skill; a host verifies them like any other"


SINCE_2026 = {"resultType", "ttlMs", "cacheScope"}


@pytest.mark.proves("runtime.mcp.announced")
@pytest.mark.parametrize("revision", KNOWN_PROTOCOL_VERSIONS)
async def test_the_extension_is_announced_in_every_revision_and_answers_have_what_that_revision_knows(
    skills: Path, revision: str
) -> None:
    modern = revision in MODERN_PROTOCOL_VERSIONS
    session = open_session(Catalog(skills))
    messages, number = MessageChannel(build_server(session)), 0

    async def ask(method: str, **params: object) -> dict[str, Any]:
        nonlocal number
        number += 1
        envelope = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params |= {"_meta": envelope} if modern else {}
        answer = await messages.ask({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return cast("dict[str, Any]", answer["result"])

    async with messages:
        greeting = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        greeted = await (ask("server/discover") if modern else ask("initialize", **greeting))
        assert greeted["capabilities"]["extensions"] == {IDENTIFIER: {"directoryRead": True}}
        assert {"tools", "resources", "prompts"} <= greeted["capabilities"].keys()
        listed = await ask("skills/list")
        described = await ask("skills/get", uri="skill://alpha/SKILL.md")
        children = await ask("resources/directory/read", uri="skill://alpha")
        assert [skill["frontmatter"]["name"] for skill in listed["skills"]] == ["alpha", "beta"]
        assert described["skill"] == listed["skills"][0]
        for answer in (listed, described):
            assert answer.keys() & SINCE_2026 == (SINCE_2026 if modern else set())
        assert children.keys() & SINCE_2026 == ({"resultType"} if modern else set())
        read = await ask("resources/read", uri="skill://alpha/SKILL.md")
        assert ("ttlMs" in read) == modern
    await session.close()


async def test_a_uri_of_no_skill_is_named_in_the_error(in_process: Callable[..., Any]) -> None:
    async with in_process() as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource("test://nowhere/at-all")
    assert raised.value.error.code == types.INVALID_PARAMS
    assert raised.value.error.data["uri"] == "test://nowhere/at-all"


@pytest.mark.parametrize(
    "uri",
    [
        "skill://gamma/SKILL.md",
        "skill://alpha/references/none.md",
        "skill://alpha/references",
        "skill://alpha",
        "skill://alpha/../beta/secret.md",
        "skill://alpha/%2e%2e/beta/secret.md",
        "skill://alpha/..%2Fbeta/secret.md",
        "skill://alpha/link.md",
        "skill://alpha/hard.md",
        "skill://alpha/.git/config",
        "skill://alpha/SKILL.md?x",
    ],
)
async def test_what_is_not_served_is_an_invalid_parameter(
    in_process: Callable[..., Any], skills: Path, uri: str
) -> None:
    (skills / "alpha" / "link.md").symlink_to(skills / "beta" / "secret.md")
    os.link(skills / "beta" / "secret.md", skills / "alpha" / "hard.md")
    (skills / "alpha" / ".git").mkdir()
    (skills / "alpha" / ".git" / "config").write_text("x")
    async with in_process() as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert raised.value.error.code == types.INVALID_PARAMS
        assert "secret\n" not in raised.value.error.message
        if uri in {"skill://gamma/SKILL.md", "skill://alpha/references/none.md", "skill://alpha/references"}:
            assert raised.value.error.data == {"uri": uri}, "clients know absence by this"


@pytest.mark.parametrize("uri", ["skill://gamma/SKILL.md", "skill://alpha", "skill://alpha/references/a.md", "x"])
async def test_get_of_anything_but_a_served_document_is_an_invalid_parameter(
    in_process: Callable[..., Any], uri: str
) -> None:
    async with in_process() as client:
        with pytest.raises(MCPError) as raised:
            await _ask(client, "skills/get", uri=uri)
        assert raised.value.error.code == types.INVALID_PARAMS


async def test_directories_list_their_direct_children_and_nothing_else_is_one(
    in_process: Callable[..., Any], skills: Path
) -> None:
    many = _skill(skills, "many") / "sub"
    many.mkdir()
    for number in range(DIRECTORY_PAGE + 1):
        (many / f"{number:04}.txt").write_text("x")
    async with in_process(mode="auto") as client:
        root = await _every(client, "resources/directory/read", "resources", uri="skill://alpha")
        assert [(one["name"], one["mimeType"]) for one in root] == [
            ("SKILL.md", "text/markdown"),
            ("references", "inode/directory"),
            ("scripts", "inode/directory"),
        ]
        below = await _every(client, "resources/directory/read", "resources", uri=root[1]["uri"])
        assert below == [
            {"uri": "skill://alpha/references/a.md", "name": "a.md", "mimeType": "text/markdown", "size": 14}
        ]
        found = await _every(client, "resources/directory/read", "resources", uri="skill://many/sub")
        assert [one["name"] for one in found] == [f"{number:04}.txt" for number in range(DIRECTORY_PAGE + 1)]
        for wrong in ("skill://alpha/SKILL.md", "skill://alpha/none", "skill://none", "skill://alpha/../beta"):
            with pytest.raises(MCPError) as raised:
                await _ask(client, "resources/directory/read", uri=wrong)
            assert raised.value.error.code == types.INVALID_PARAMS


async def test_pages_hold_every_skill_once_and_broken_ones_take_nothing_away(
    in_process: Callable[..., Any], skills: Path
) -> None:
    names = [f"skill-{number:03}" for number in range(PAGE + 5)]
    for name in names:
        _skill(skills, name)
    _skill(skills, "too-many")
    for number in range(512):
        (skills / "too-many" / f"{number}.txt").touch()
    (_skill(skills, "too-large") / "large").write_bytes(b"x" * (16 * 1024 * 1024))
    _skill(skills, "Loud Name")
    (_skill(skills, "slash") / "back\\slash").write_text("x")
    (skills / "lower").mkdir()
    (skills / "lower" / "skill.md").write_text("---\nname: lower\ndescription: Lower.\n---\n")
    (skills / "number").mkdir()
    (skills / "number" / "SKILL.md").write_text("---\nname: 123\ndescription: Number.\n---\n")
    async with in_process() as client:
        listed = await _every(client, "skills/list", "skills")
        assert [entry["frontmatter"]["name"] for entry in listed] == ["alpha", "beta", *names]
        for name, reason in [
            ("too-many", "513 files"),
            ("too-large", "bytes in total"),
            ("slash", "backslash"),
            ("lower", "SKILL.md"),
            ("123", "both strings"),
        ]:
            with pytest.raises(MCPError, match=reason):
                await _ask(client, "skills/get", uri=f"skill://{name}/SKILL.md")
        tools = await client.call_tool("skills_list", {"query": "too-many"})
        assert tools.structured_content["skills"][0]["name"] == "too-many", "the tools still offer it"


async def test_the_older_forms_say_the_same(in_process: Callable[..., Any], skills: Path) -> None:
    (_skill(skills, "own") / "_manifest").write_text("mine")
    async with in_process() as client:
        (found,) = (await client.read_resource("skill://index.json")).contents
        index = json.loads(found.text)
        assert index["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
        entries = (await _ask(client, "skills/list"))["skills"]
        assert [one["url"] for one in index["skills"]] == [entry["uri"] for entry in entries]
        for one, entry in zip(index["skills"], entries, strict=True):
            assert (one["name"], one["type"]) == (entry["frontmatter"]["name"], "skill-md")
            assert one["digest"] == {file["uri"]: file["digest"] for file in entry["resources"]}[one["url"]]
        (found,) = (await client.read_resource("skill://alpha/_manifest")).contents
        manifest = json.loads(found.text)
        assert manifest["skill"] == "alpha"
        assert [(file["hash"], file["size"]) for file in manifest["files"]] == [
            (file["digest"], file["size"]) for file in entries[0]["resources"]
        ]
        assert await _bytes(client, "skill://own/_manifest") == b"mine"
        listed = (await client.list_resources()).resources
        assert [one.uri for one in listed] == ["skill://index.json", *(entry["uri"] for entry in entries)]
        assert (listed[1].name, listed[1].description, listed[1].mime_type) == (
            "alpha",
            "First. Use when A.",
            "text/markdown",
        )
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "skill://{skill}/{+path}"


async def test_a_skill_that_is_kept_from_models_is_in_no_list_and_still_served(
    in_process: Callable[..., Any], skills: Path
) -> None:
    _skill(skills, "deploy", "disable-model-invocation: true\n")
    async with in_process() as client:
        assert len((await _ask(client, "skills/list"))["skills"]) == 2
        assert len((await client.list_resources()).resources) == 3
        assert b"deploy" not in await _bytes(client, "skill://index.json")
        names = (await client.call_tool("skills_list", {})).structured_content["skills"]
        assert [one["name"] for one in names] == ["alpha", "beta"]
        got = await _ask(client, "skills/get", uri="skill://deploy/SKILL.md")
        assert got["skill"]["frontmatter"]["disable-model-invocation"] is True


async def test_an_edit_shows_in_the_next_entry_with_a_digest_that_fits(
    in_process: Callable[..., Any], skills: Path
) -> None:
    async with in_process() as client:
        before = (await _ask(client, "skills/get", uri="skill://beta/SKILL.md"))["skill"]
        (skills / "beta" / "secret.md").write_text("new secret\n")
        (skills / "beta" / "more.md").write_text("more\n")
        after = (await _ask(client, "skills/get", uri="skill://beta/SKILL.md"))["skill"]
        assert [len(entry["resources"]) for entry in (before, after)] == [2, 3]
        assert await _bytes(client, "skill://beta/secret.md") == b"new secret\n"
        assert before["resources"][1]["digest"] != after["resources"][-1]["digest"]


async def test_reads_are_recorded_and_refused_where_they_cannot_be(
    in_process: Callable[..., Any], tmp_path: Path
) -> None:
    log = tmp_path / "audit" / "audit.jsonl"
    async with in_process(audit=JsonlAuditLog(log)) as client:
        await client.read_resource("skill://alpha/scripts/fail.sh")
        with pytest.raises(MCPError):
            await client.read_resource("skill://alpha/none")
        assert verify_log(str(log)).ok
        records = [json.loads(line) for line in log.read_text().splitlines()]
        assert [record["kind"] for record in records] == [
            "tool.started",
            "resource.read",
            "tool.finished",
            "tool.started",
            "tool.finished",
        ]
        assert records[1]["data"]["uri"] == "skill://alpha/scripts/fail.sh"
        assert records[4]["data"]["code"] == "resource_not_found"
        log.unlink()
        with pytest.raises(MCPError, match="audit log") as raised:
            await client.read_resource("skill://alpha/SKILL.md")
        assert raised.value.error.code == types.INTERNAL_ERROR


async def test_no_model_can_call_what_hosts_read_with(in_process: Callable[..., Any]) -> None:
    async with in_process() as client:
        assert not [tool.name for tool in (await client.list_tools()).tools if "resource" in tool.name]
        result = await client.call_tool("resources_read", {"uri": "skill://alpha/scripts/fail.sh"})
        assert result.meta["prowess/error"]["code"] == "tool_not_found"
