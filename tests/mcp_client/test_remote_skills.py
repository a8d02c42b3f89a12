"""The client against our own server, and against servers that lie."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from mcp import types
from mcp.client.client import Client
from mcp.server.lowlevel import Server

from prowess import Catalog, Session
from prowess.catalog.sources.mirror import mirrored
from prowess.catalog.trust import TrustStore
from prowess.errors import RemoteSkillError
from prowess.mcp_client.remote_skills import EXTENSION, RemoteSkills
from prowess.mcp_server.server import build_server, open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

pytestmark = pytest.mark.anyio

DOCUMENT = "---\nname: pdf\ndescription: Fill forms.\nmetadata: {version: 1.10}\n---\nDo it.\n"
FRONT = {"name": "pdf", "description": "Fill forms.", "metadata": {"version": 1.1}}
URI = "skill://pdf/SKILL.md"


def _entry(uri: str = URI, **changes: object) -> dict[str, object]:
    digest = f"sha256:{hashlib.sha256(DOCUMENT.encode()).hexdigest()}"
    resources = [{"uri": uri, "digest": digest, "size": len(DOCUMENT)}]
    return {"uri": uri, "frontmatter": FRONT, "resources": resources, **changes}


class _Cursor(types.PaginatedRequestParams):
    pass


class _Uri(types.RequestParams):
    uri: str


def _server(
    pages: Callable[[str | None], Mapping[str, object]],
    contents: list[types.TextResourceContents | types.BlobResourceContents] | None = None,
    *,
    declares: bool = True,
) -> Server[Any]:
    async def list_skills(context: Any, params: _Cursor) -> dict[str, Any]:  # noqa: ANN401 -- the SDK's context
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **pages(params.cursor)}

    async def get_skill(context: Any, params: _Uri) -> dict[str, Any]:  # noqa: ANN401 -- as above
        return {"resultType": "complete", "skill": _entry()}

    async def read(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:  # noqa: ANN401 -- as above
        given = [types.TextResourceContents(uri=URI, text=DOCUMENT)] if contents is None else contents
        return types.ReadResourceResult(contents=list(given))

    server: Server[Any] = Server("liar", on_read_resource=read)
    server.add_request_handler("skills/list", _Cursor, list_skills)
    server.add_request_handler("skills/get", _Uri, get_skill)
    if declares:
        server.extensions[EXTENSION] = {}
    return server


async def test_skills_of_our_server_are_listed_without_reading_and_fetched_whole(tmp_path: Path) -> None:
    place = tmp_path / "skills" / "größe"
    (place / "scripts").mkdir(parents=True)
    (place / "SKILL.md").write_bytes("---\r\nname: größe\r\ndescription: Big.\r\n---\r\nDo $1.\r\n".encode())
    (place / "scripts" / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (place / "100% \u00fc.bin").write_bytes(b"\0\xff")
    session = open_session(Catalog(tmp_path / "skills"))
    async with Client(build_server(session)) as client:
        remote = RemoteSkills("ours", client)
        (skill,) = await remote.list()
        assert (skill.name, skill.description, skill.origin) == ("größe", "Big.", "ours")
        assert await remote.get(skill.uri) == skill
        assert mirrored() == [], "listing fetches nothing"
        source = await remote.fetch(skill)
        for file in skill.files:
            assert await remote.read(skill, file) == (place / file.path).read_bytes()
    await session.close()
    TrustStore().trust(source.project or "")
    catalog = Catalog(*mirrored("ours"))
    assert [(entry.name, entry.origin) for entry in catalog.entries()] == [("größe", "ours")]
    assert catalog.skill("größe").manifest.content_digest == Catalog(tmp_path / "skills").skill("größe").digest
    local = Session(catalog)
    await local.load(["größe"])
    assert "Do $1." in local.instructions()
    await local.close()


async def test_pages_are_followed_and_what_breaks_a_rule_is_left_out_with_its_reason() -> None:
    good, bad = _entry(), _entry("skill://b/pdf/SKILL.md", resources="dynamic")
    pages: dict[str | None, dict[str, object]] = {
        None: {"skills": [good, bad], "nextCursor": "2"},
        "2": {"skills": [_entry("skill://c/pdf/SKILL.md"), good, 5]},
    }
    async with Client(_server(lambda cursor: pages[cursor])) as client:
        remote = RemoteSkills("docs", client)
        assert [skill.uri for skill in await remote.list()] == [URI, "skill://c/pdf/SKILL.md"]
        assert [error.skill for error in remote.refused] == ["skill://b/pdf/SKILL.md", None]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ({"skills": [], "nextCursor": "again"}, "no end"),
        ({"skills": [], "nextCursor": 5}, "no end"),
        ({"skills": {}}, "contains no list"),
        ({}, "contains no list"),
        ({"skills": ["x"] * 10_001, "nextCursor": "2"}, "more than 10000"),
    ],
)
async def test_a_list_that_cannot_be_followed_is_the_servers_fault(page: dict[str, object], reason: str) -> None:
    async with Client(_server(lambda _: page)) as client:
        with pytest.raises(RemoteSkillError, match=reason):
            await RemoteSkills("docs", client).list()


def _text(text: str, uri: str = URI) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, text=text)


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ([_text(DOCUMENT.replace("Do", "Don't"))], "differs from the entry"),
        ([_text(DOCUMENT + " ")], "differs from the entry"),
        ([_text(DOCUMENT, "skill://other/SKILL.md")], "did not return that file"),
        ([_text(DOCUMENT), _text(DOCUMENT)], "did not return that file"),
        ([], "did not return that file"),
        ([types.BlobResourceContents(uri=URI, blob="not base64")], "did not return that file"),
    ],
)
async def test_a_file_that_is_not_what_was_promised_is_not_kept(contents: list[Any], reason: str) -> None:
    async with Client(_server(lambda _: {"skills": [_entry()]}, contents)) as client:
        remote = RemoteSkills("docs", client)
        (skill,) = await remote.list()
        with pytest.raises(RemoteSkillError, match=reason):
            await remote.fetch(skill)
    assert mirrored() == []


async def test_a_front_matter_that_differs_from_the_entry_is_refused() -> None:
    lie = {**FRONT, "description": "Harmless."}
    async with Client(_server(lambda _: {"skills": [_entry(frontmatter=lie)]})) as client:
        remote = RemoteSkills("docs", client)
        (skill,) = await remote.list()
        with pytest.raises(RemoteSkillError, match="front matter"):
            await remote.fetch(skill)
        honest = await remote.get(URI)
        assert (await remote.fetch(honest)).origin == "docs"
        with pytest.raises(RemoteSkillError, match="answered with"):
            await remote.get("skill://other/SKILL.md")


async def test_a_skill_of_one_server_causes_no_read_on_another() -> None:
    async with Client(_server(lambda _: {"skills": [_entry()]})) as client:
        (skill,) = await RemoteSkills("docs", client).list()
        with pytest.raises(RemoteSkillError, match="does not belong to a skill of this server"):
            await RemoteSkills("other", client).read(skill, skill.files[0])


async def test_a_server_without_the_extension_is_not_asked() -> None:
    async with Client(_server(lambda _: {"skills": []}, declares=False)) as client:
        with pytest.raises(RemoteSkillError, match="does not declare"):
            await RemoteSkills("docs", client).list()


async def test_an_error_of_the_server_is_told_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    session = open_session(Catalog(tmp_path / "skills"))
    async with Client(build_server(session)) as client:
        with pytest.raises(RemoteSkillError, match="no skill is called 'pdf'"):
            await RemoteSkills("ours", client).get(URI)
        with pytest.raises(RemoteSkillError, match="got no usable answer"):
            await RemoteSkills("ours", client, seconds=0).list()
    await session.close()
