"""The skills of one MCP server, through a connected client of the official SDK.

Listing transfers descriptions only. The files of a skill are read when the skill is requested, never earlier. A file is
kept only if its size, its digest and, for SKILL.md, its front matter match the server's entry.

Source: MCP Skills extension `io.modelcontextprotocol/skills`, duties of hosts.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from mcp import types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict, ValidationError

from prowess.catalog.sources.mirror import checked_label, keep, remote_skill, verify
from prowess.errors import RemoteSkillError

if TYPE_CHECKING:
    from mcp.client.client import Client

    from prowess.catalog.sources.mirror import MirrorSource, RemoteFile, RemoteSkill

EXTENSION = "io.modelcontextprotocol/skills"
MAX_SKILLS = 10_000
MAX_PAGES = 1000
SECONDS = 60.0  # timeout of one request


class _Anything(BaseModel):
    """Any JSON object. The SDK has no types for the extension, so this module checks the answers itself."""

    model_config = ConfigDict(extra="allow")


class RemoteSkills:
    """Client for the skills of one server.

        async with Client("https://skills.example/mcp") as client:
            remote = RemoteSkills("example", client)
            for skill in await remote.list():
                print(skill.name, skill.description)
            source = await remote.fetch(skill)

    `label` is this host's name for the server. The label must not come from the server, because approvals, copies and
    skill names are bound to it. `refused` holds an error for each entry that the last `list` left out.

    Raises:
        ValueError: `label` is not a valid label.
    """

    def __init__(self, label: str, client: Client, *, seconds: float = SECONDS) -> None:
        self.label = checked_label(label)
        self.refused: tuple[RemoteSkillError, ...] = ()
        self._client, self._seconds = client, seconds

    async def list(self) -> list[RemoteSkill]:
        """Return the skills that the server lists, in the server's order.

        The server may serve skills that it does not list.

        Raises:
            RemoteSkillError: the server does not declare the extension, answers with an error, or its list has no end.
        """
        self._require_extension()
        found: dict[str, RemoteSkill] = {}
        refused: list[RemoteSkillError] = []
        cursors: set[str] = set()
        cursor: str | None = None
        while True:
            page = await self._ask("skills/list", {} if cursor is None else {"cursor": cursor})
            entries = page.get("skills")
            if not isinstance(entries, list):
                raise RemoteSkillError(self.label, None, "its answer to skills/list contains no list of skills")
            for entry in entries:
                try:
                    skill = remote_skill(self.label, entry)
                except RemoteSkillError as error:
                    refused.append(error)
                else:
                    found.setdefault(skill.uri, skill)
            cursor = page.get("nextCursor")
            if cursor is None:
                self.refused = tuple(refused)
                return list(found.values())
            if not isinstance(cursor, str) or cursor in cursors or len(cursors) >= MAX_PAGES:
                raise RemoteSkillError(self.label, None, "its list of skills has no end")
            if len(found) + len(refused) > MAX_SKILLS:
                raise RemoteSkillError(self.label, None, f"it lists more than {MAX_SKILLS} skills")
            cursors.add(cursor)

    async def get(self, uri: str) -> RemoteSkill:
        """Return a skill by the URI of its SKILL.md. Raise RemoteSkillError if it does not exist or is invalid."""
        self._require_extension()
        skill = remote_skill(self.label, (await self._ask("skills/get", {"uri": uri})).get("skill"))
        if skill.uri != uri:
            raise RemoteSkillError(self.label, uri, f"the server answered with another skill, {skill.uri}")
        return skill

    async def read(self, skill: RemoteSkill, file: RemoteFile) -> bytes:
        """Return the verified bytes of one file of a skill of this server.

        Raise RemoteSkillError if the skill is of another server, or the file is unreadable or does not match its entry.
        """
        if skill.origin != self.label or file not in skill.files:
            raise RemoteSkillError(self.label, skill.uri, "the file does not belong to a skill of this server")
        result = await self._ask("resources/read", {"uri": file.uri})
        contents = result.get("contents")
        content = contents[0] if isinstance(contents, list) and len(contents) == 1 else None
        data = _bytes(content) if isinstance(content, dict) and content.get("uri") == file.uri else None
        if data is None:
            raise RemoteSkillError(self.label, skill.uri, f"reading {file.path} did not return that file")
        verify(skill, file, data)
        return data

    async def fetch(self, skill: RemoteSkill) -> MirrorSource:
        """Copy a whole skill to this machine and return the copy as a source for a catalog.

        The catalog does not offer the skill until a person trusts this copy (`prowess trust <source.project>`).

        Raises:
            RemoteSkillError: see `read`; no file is kept.
            OSError: the cache cannot be written.
        """
        contents = {file.path: await self.read(skill, file) for file in skill.files}
        return await to_thread.run_sync(keep, skill, contents)

    def _require_extension(self) -> None:
        extensions = self._client.server_capabilities.extensions or {}
        if EXTENSION not in extensions:
            raise RemoteSkillError(self.label, None, f"it does not declare the extension {EXTENSION}")

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        request = types.Request[dict[str, Any], str](method=method, params=params)
        try:
            with anyio.fail_after(self._seconds):
                answer = await self._client.session.send_request(request, _Anything)
        except MCPError as error:
            reason = f"{method} failed: {error.error.message[:500]}"
            raise RemoteSkillError(self.label, params.get("uri"), reason) from error
        except (ValidationError, TimeoutError) as error:
            reason = f"{method} got no usable answer ({type(error).__name__})"
            raise RemoteSkillError(self.label, params.get("uri"), reason) from error
        return answer.model_extra or {}


def _bytes(content: dict[str, Any]) -> bytes | None:
    text, blob = content.get("text"), content.get("blob")
    try:
        if isinstance(text, str) and blob is None:
            return text.encode()
        if isinstance(blob, str) and text is None:
            return base64.b64decode(blob, validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    return None
