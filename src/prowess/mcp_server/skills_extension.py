"""The MCP Skills extension: `skills/list`, `skills/get` and `resources/directory/read`.

Three methods and one capability; files themselves are read with `resources/read`. The SDK has no types for them, so the
parameters are declared here and results are plain dictionaries.

Source: MCP Skills extension `io.modelcontextprotocol/skills`, stable text against protocol revision 2026-07-28.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp import types
from pydantic import Field

from prowess.mcp_server.cursors import cursor_after, last_before
from prowess.mcp_server.elicitation import elicitation_from
from prowess.mcp_server.failures import protocol_error

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from prowess.mcp_server.served_session import Sessions
    from prowess.mcp_server.skill_resources import Child

IDENTIFIER = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
PAGE = 50
DIRECTORY_PAGE = 200
CACHING = {"ttlMs": 5000, "cacheScope": "private"}  # skills on disk change without notice, and belong to one user


class ListParams(types.PaginatedRequestParams):
    """Parameters of `skills/list`."""


class GetParams(types.RequestParams):
    """Parameters of `skills/get`."""

    uri: str = Field(max_length=8192)


class DirectoryParams(types.PaginatedRequestParams):
    """Parameters of `resources/directory/read`."""

    uri: str = Field(max_length=8192)


class SkillsExtension:
    """The three methods, over the sessions of a server."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def install(self, server: Server[Any]) -> None:
        """Declare the extension and register its methods."""
        server.extensions[IDENTIFIER] = dict(SETTINGS)
        server.add_request_handler("skills/list", ListParams, self.list)
        server.add_request_handler("skills/get", GetParams, self.get)
        server.add_request_handler("resources/directory/read", DirectoryParams, self.read_directory)

    async def list(self, context: ServerRequestContext[Any, Any], params: ListParams) -> dict[str, Any]:
        """Return one page of entries; a page ends at a name, so a later page is right whatever came or went."""
        session = await self._sessions.of(context)
        with protocol_error(), elicitation_from(context):
            skills, after = await session.reads.page(last_before(params.cursor), PAGE, str(context.request_id))
        result = {"resultType": "complete", "skills": [skill.as_entry() for skill in skills], **CACHING}
        return result if after is None else {**result, "nextCursor": cursor_after(after)}

    async def get(self, context: ServerRequestContext[Any, Any], params: GetParams) -> dict[str, Any]:
        """Return the entry of one skill, listed or not."""
        session = await self._sessions.of(context)
        with protocol_error(), elicitation_from(context):
            skill = await session.reads.describe(params.uri, str(context.request_id))
        return {"resultType": "complete", "skill": skill.as_entry(), **CACHING}

    async def read_directory(self, context: ServerRequestContext[Any, Any], params: DirectoryParams) -> dict[str, Any]:
        """Return the direct children of a directory."""
        session = await self._sessions.of(context)
        with protocol_error(), elicitation_from(context):
            last = last_before(params.cursor)
            children = await session.reads.children(params.uri, str(context.request_id))
        rest = [child for child in children if child.name > last]
        result = {"resultType": "complete", "resources": [_resource(child) for child in rest[:DIRECTORY_PAGE]]}
        if len(rest) <= DIRECTORY_PAGE:
            return result
        return {**result, "nextCursor": cursor_after(rest[DIRECTORY_PAGE - 1].name)}


def _resource(child: Child) -> dict[str, Any]:
    facts = {"uri": child.uri, "name": child.name, "mimeType": child.media_type}
    return facts if child.size is None else {**facts, "size": child.size}
