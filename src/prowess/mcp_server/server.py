"""The MCP server over one session: tools, instructions, and artifacts as resources.

Only translation happens here. What a call may do is decided behind the session's door, and a failed call is a result
(`isError` with the error in `_meta`), never a protocol error.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, cast

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from prowess import __version__
from prowess.errors import SkillError
from prowess.mcp_server.artifact_resources import ArtifactShelf, as_text
from prowess.mcp_server.skills_list import SkillsListTool
from prowess.runtime import Session
from prowess.tools.shapes import mcp as shapes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcp.server.context import ServerRequestContext

    from prowess.catalog import Catalog
    from prowess.mcp_server.artifact_resources import ArtifactResource

INSTRUCTIONS_BUDGET = 4000  # tokens for the list of skills; names stay, descriptions give way
RESOURCE_NOT_FOUND = -32002  # MCP specification, resources, error handling
_AGAIN = "- This list is as of the start of the server. skills.list shows it as it is now, and searches it.\n"


def open_session(catalog: Catalog, **options: Any) -> Session:  # noqa: ANN401 -- handed on to Session
    """Return a session as MCP needs it: bodies in results, and `skills.list` beside the four tools."""

    def active() -> set[tuple[str, str]]:
        return {(skill.key, skill.location) for skill in session.active_skills}

    listing = SkillsListTool(catalog, active, expose_location=options.get("expose_location", True))
    session = Session(catalog, body="result", extra_tools=(listing,), **options)
    return session


def build_server(session: Session) -> Server[dict[str, Any]]:
    """Return the server for a session of `open_session`."""
    handlers = _Handlers(session)
    return Server(
        "prowess",
        version=__version__,
        title="Prowess: Agent Skills",
        instructions=instructions(session),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )


def instructions(session: Session) -> str | None:
    """Return what a host shows its model once: the base rules and the skills there are; None without skills."""
    text = session.instructions(INSTRUCTIONS_BUDGET)
    return text + _AGAIN if text else None


class _Handlers:
    """One method of the protocol each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._shelf = ArtifactShelf(session)

    async def list_tools(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context, params
        tools = [types.Tool.model_validate(shapes.tool(spec), by_name=False) for spec in self._session.tools()]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        call_id = None if context.request_id is None else str(context.request_id)
        result = await self._session.call(params.name, params.arguments or {}, call_id)
        left = self._shelf.add(result.result) if result.success and result.result else []
        shape = shapes.call_result(result, _reading(result.result) if result.result else None)
        content = [*cast("Iterable[object]", shape["content"]), *map(_link, left)]
        return types.CallToolResult.model_validate({**shape, "content": content}, by_name=False)

    async def list_resources(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        del context, params
        return types.ListResourcesResult(resources=[types.Resource(**_facts(one)) for one in self._shelf.listed()])

    async def read_resource(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        del context
        uri = str(params.uri)
        try:
            artifact, data = await self._shelf.read(uri)
        except SkillError as error:
            detail = {"code": error.code, "message": str(error), "suggestions": list(error.suggestions)}
            raise MCPError(RESOURCE_NOT_FOUND, str(error), detail) from error
        text = as_text(artifact, data)
        contents: types.TextResourceContents | types.BlobResourceContents
        if text is None:
            blob = base64.b64encode(data).decode("ascii")
            contents = types.BlobResourceContents(uri=uri, mime_type=artifact.media_type, blob=blob)
        else:
            contents = types.TextResourceContents(uri=uri, mime_type=artifact.media_type, text=text)
        return types.ReadResourceResult(contents=[contents])


def _reading(result: Mapping[str, object]) -> str | None:
    """Return the better text for a load: the wrapped bodies and the notices. None: the result as JSON says it best."""
    if "active_skills" not in result:
        return None
    active = cast("list[Mapping[str, object]]", result["active_skills"])
    notices = cast("list[Mapping[str, object]]", result["notices"])
    bodies = [cast("str", skill["content"]) for skill in active if skill.get("content")]
    names = ", ".join(cast("str", skill["name"]) for skill in active) or "none"
    remarks = [f"Notice: {notice['message']}" for notice in notices]
    return "\n".join([*bodies, f"Loaded skills: {names}", *remarks])


def _facts(artifact: ArtifactResource) -> dict[str, Any]:
    return {"uri": artifact.uri, "name": artifact.name, "mime_type": artifact.media_type, "size": artifact.size}


def _link(artifact: ArtifactResource) -> dict[str, object]:
    return types.ResourceLink(**_facts(artifact)).model_dump(mode="json", by_alias=True, exclude_none=True)
