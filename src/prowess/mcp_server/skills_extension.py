"""The MCP Skills extension: `skills/list`, `skills/get` and `resources/directory/read`.

Three methods and one capability; files themselves are read with `resources/read`. The SDK has no types for them, so the
parameters are declared here and results are plain dictionaries.

Source: MCP Skills extension `io.modelcontextprotocol/skills`, stable text against protocol revision 2026-07-28.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import Field

from prowess.errors import SkillError
from prowess.mcp_server.elicitation import elicitation_from
from prowess.mcp_server.skills_list import PAGE, cursor_after, last_before
from prowess.tools import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from prowess.mcp_server.served_session import Sessions
    from prowess.mcp_server.skill_resources import Child

IDENTIFIER = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
DIRECTORY_PAGE = 200
CACHING = {"ttlMs": 5000, "cacheScope": "private"}  # skills on disk change without notice, and belong to one user
_ASKED_WRONGLY = (ValueError, LookupError)


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
        server.add_request_handler("skills/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("skills/get", GetParams, self.get)
        server.add_request_handler("resources/directory/read", DirectoryParams, self.read_directory)

    async def list(
        self, context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
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


@contextmanager
def protocol_error(uri: str | None = None) -> Iterator[None]:
    """Turn a SkillError that is raised inside into the protocol's error, for requests that are no tool calls.

    What was asked for wrongly, or is not there, is `invalid params` (-32602), as the Skills extension and the revision
    2026-07-28 demand; whatever else goes wrong is an internal error. `data` holds code, message and suggestions. Of a
    resource `uri` that is not there it holds the URI and nothing else: by that clients tell absence from other faults.

    Raises:
        MCPError: instead.
    """
    try:
        yield
    except SkillError as error:
        failed = ToolResult.failed(error)  # for its texts: a model may be shown them
        if uri is not None and isinstance(error, LookupError):
            raise MCPError(INVALID_PARAMS, failed.error or "", {"uri": uri}) from error
        code = INVALID_PARAMS if isinstance(error, _ASKED_WRONGLY) else INTERNAL_ERROR
        raise MCPError(code, failed.error or "", dict(failed.error_detail or {})) from error
