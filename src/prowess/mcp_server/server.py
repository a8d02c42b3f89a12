"""The MCP server over sessions: tools, resources, prompts, and the Skills extension.

This module only translates between MCP and sessions. The session's executor decides about tool calls. A failed call is
a result (`isError` with the error in `_meta`), never a protocol error.
"""

from __future__ import annotations

import base64
from bisect import bisect_right
from contextlib import asynccontextmanager, contextmanager
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, cast

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from prowess import __version__
from prowess._internal.text.invisible import visible
from prowess.catalog.skill_uri import DOCUMENT, INDEX, skill_uri
from prowess.errors import ApprovalRequiredError, InvalidArgumentsError, SkillError
from prowess.mcp_server.elicitation import elicitation_from, questions, settle
from prowess.mcp_server.prompts import prompt_of
from prowess.mcp_server.result_text import reading
from prowess.mcp_server.served_session import Changes, OnlySession, ServedSession
from prowess.mcp_server.skill_resources import JSON_TYPE, MANIFEST
from prowess.runtime.script_output import output_to
from prowess.runtime.tools.list import NO_CURSOR, PAGE, cursor_after, last_before
from prowess.tools import ToolResult
from prowess.tools.shapes import mcp as shapes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.models import InitializationOptions

    from prowess.catalog import Catalog, SkillEntry
    from prowess.mcp_server.host_reads import ArtifactResource
    from prowess.mcp_server.prompts import SkillPrompt
    from prowess.mcp_server.served_session import Sessions
    from prowess.mcp_server.skill_resources import Child
    from prowess.runtime import OutputChunk, SessionOptions
    from prowess.runtime.options import ListeningKeywords

RESOURCES_PAGE = 200
IDENTIFIER = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
DIRECTORY_PAGE = 200
CACHING = {
    "ttlMs": 5000,
    "cacheScope": "private",
}  # a client may not listen for changes; skills belong to one user
_ASKED_WRONGLY = (ValueError, LookupError)
_CHANGES = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)


def open_session(
    catalog: Catalog | str | PathLike[str],
    options: SessionOptions | None = None,
    **keywords: Unpack[ListeningKeywords],
) -> ServedSession:
    """Return a session for MCP: bodies are in results, and `skills.list` is offered with the four tools."""
    return ServedSession(catalog, options, **keywords)


def build_server(sessions: ServedSession | Sessions) -> SkillsServer:
    """Return the server for one or several sessions."""
    chosen = OnlySession(sessions) if isinstance(sessions, ServedSession) else sessions
    return SkillsServer(chosen)


class SkillsServer(Server[dict[str, Any]]):
    """The SDK's server with Prowess handlers. A running server watches the catalog for changes."""

    def __init__(self, sessions: Sessions) -> None:
        changes = Changes(sessions)
        handlers = _Handlers(sessions, changes)

        @asynccontextmanager
        async def watched(server: Server[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
            del server
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(changes.watch)
                yield {}
                changes.listen.close()
                tasks.cancel_scope.cancel()

        super().__init__(
            "prowess",
            version=__version__,
            title="Prowess: Agent Skills",
            instructions=sessions.instructions,
            lifespan=watched,
            on_list_tools=handlers.list_tools,
            on_call_tool=handlers.call_tool,
            on_list_resources=handlers.list_resources,
            on_list_resource_templates=handlers.list_resource_templates,
            on_read_resource=handlers.read_resource,
            on_list_prompts=handlers.list_prompts,
            on_get_prompt=handlers.get_prompt,
            on_subscriptions_listen=changes.listen,
        )
        SkillsExtension(sessions).install(self)
        self.add_notification_handler("notifications/initialized", types.NotificationParams, handlers.greeted)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Like the SDK's method, but declare that the server's lists may change."""
        return super().create_initialization_options(
            notification_options or _CHANGES, experimental_capabilities, extensions
        )


class _Handlers:
    """Handlers of the protocol's methods."""

    def __init__(self, sessions: Sessions, changes: Changes) -> None:
        self._sessions, self._changes = sessions, changes

    async def greeted(self, context: ServerRequestContext[Any], params: types.NotificationParams | None) -> None:
        del params
        (await self._sessions.of(context)).peer = context.session

    async def list_tools(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del params
        session = await self._sessions.of(context)
        tools = [types.Tool.model_validate(shapes.tool(spec), by_name=False) for spec in session.tools()]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        session = await self._sessions.of(context)
        await settle(session, params.input_responses, context, session.shared_requests)
        with elicitation_from(context, params.input_responses or ()) as waiting, output_to(_progress(context)):
            result = await session.call(params.name, params.arguments or {}, _call_id(context))
        if waiting and (result.error_detail or {}).get("code") == ApprovalRequiredError.code:
            return questions(waiting)
        await self._changes.look()
        left = session.artifacts.add(result.result) if result.success and result.result else []
        shape = shapes.call_result(result, reading(result.result) if result.result else None)
        content = [*cast("Iterable[object]", shape["content"]), *map(_link, left)]
        return types.CallToolResult.model_validate({**shape, "content": content}, by_name=False)

    async def list_resources(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        session = await self._sessions.of(context)
        entries = session.skills.listed()
        left = [types.Resource(**_facts(one)) for one in session.artifacts.listed()]
        page, more = _page([*left, *([_INDEX] if entries else [])], entries, params)
        resources = [one if isinstance(one, types.Resource) else _document(one) for one in page]
        return types.ListResourcesResult(resources=resources, next_cursor=more)

    async def list_resource_templates(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        del context, params
        return types.ListResourceTemplatesResult(resource_templates=[_FILES])

    async def read_resource(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        uri = str(params.uri)
        session = await self._sessions.of(context)
        await settle(session, params.input_responses, context, session.shared_requests)
        with protocol_error(uri), elicitation_from(context, params.input_responses or ()) as waiting:
            try:
                content = await session.reads.read(uri, _call_id(context))
            except ApprovalRequiredError:
                if not waiting:
                    raise
                return questions(waiting)
        contents: types.TextResourceContents | types.BlobResourceContents
        if content.text is None:
            blob = base64.b64encode(content.data).decode("ascii")
            contents = types.BlobResourceContents(uri=uri, mime_type=content.media_type, blob=blob)
        else:
            contents = types.TextResourceContents(uri=uri, mime_type=content.media_type, text=content.text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        session = await self._sessions.of(context)
        page, more = _page((), session.prompts.listed(), params)
        prompts = [_prompt(prompt_of(entry)) for entry in page if not isinstance(entry, types.Resource)]
        return types.ListPromptsResult(prompts=prompts, next_cursor=more)

    async def get_prompt(
        self, context: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        session = await self._sessions.of(context)
        with protocol_error():
            prompt, text = await session.prompts.get(params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


_INDEX = types.Resource(
    uri=INDEX,
    name="index.json",
    description="The skills of this server, for clients without the Skills extension.",
    mime_type=JSON_TYPE,
)
_FILES = types.ResourceTemplate(
    uri_template="skill://{skill}/{+path}",
    name="skill-file",
    title="A file of a skill",
    description=f"{DOCUMENT} is the instructions; {MANIFEST} lists every file with size and digest.",
)


def _call_id(context: ServerRequestContext[Any]) -> str:
    return str(context.request_id)


def _progress(context: ServerRequestContext[Any]) -> Callable[[OutputChunk], Awaitable[None]]:
    """Return a callback that reports script output. The SDK drops reports if the client requested no progress."""
    written = 0

    async def report(chunk: OutputChunk) -> None:
        nonlocal written
        written += len(chunk.text)
        await context.session.report_progress(float(written), message=chunk.text)

    return report


def _page(
    first: Sequence[types.Resource], entries: Sequence[SkillEntry], params: types.PaginatedRequestParams | None
) -> tuple[list[types.Resource | SkillEntry], str | None]:
    """Return a page of `first`, which never lose one, and the skills after them, and the cursor of the next page.

    A cursor is the last URI or name of the page before, so no later page skips or repeats one if others come or go.
    """
    every: list[types.Resource | SkillEntry] = [*first, *entries]
    with protocol_error():
        start = _start(last_before(None if params is None else params.cursor), first, entries)
    page = every[start : start + RESOURCES_PAGE]
    if len(every) <= start + len(page):
        return page, None
    return page, cursor_after(str(last.uri) if isinstance(last := page[-1], types.Resource) else last.name)


def _start(last: str, first: Sequence[types.Resource], entries: Sequence[SkillEntry]) -> int:
    """Return the position after `last`, a URI of `first` or a name. Raise InvalidArgumentsError for another URI."""
    if "://" not in last:  # which no name has
        return len(first) + bisect_right(entries, last, key=attrgetter("name")) if last else 0
    places = [str(one.uri) for one in first]
    if last not in places:
        raise InvalidArgumentsError((NO_CURSOR,))
    return places.index(last) + 1


def _document(entry: SkillEntry) -> types.Resource:
    return types.Resource(
        uri=skill_uri(entry.name, DOCUMENT), name=entry.name, description=entry.description, mime_type="text/markdown"
    )


def _prompt(prompt: SkillPrompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(
            name=argument.name,
            description=visible(argument.description or prompt.hint or "") or None,
            required=argument.required,
        )
        for argument in prompt.arguments
    ]
    return types.Prompt(name=prompt.name, description=prompt.description, arguments=arguments)


def _facts(artifact: ArtifactResource) -> dict[str, Any]:
    return {"uri": artifact.uri, "name": artifact.name, "mime_type": artifact.media_type, "size": artifact.size}


def _link(artifact: ArtifactResource) -> dict[str, object]:
    return types.ResourceLink(**_facts(artifact)).model_dump(mode="json", by_alias=True, exclude_none=True)


class GetParams(types.RequestParams):
    """Parameters of `skills/get`."""

    uri: str = Field(max_length=8192)


class DirectoryParams(types.PaginatedRequestParams):
    """Parameters of `resources/directory/read`."""

    uri: str = Field(max_length=8192)


class SkillsExtension:
    """The MCP Skills extension: `skills/list`, `skills/get` and `resources/directory/read`.

    The extension has three methods and one capability; files are read with `resources/read`. The SDK has no types for
    the extension, so the parameters are declared in this module and results are plain dictionaries.

    Source: MCP Skills extension `io.modelcontextprotocol/skills`, stable text against protocol revision 2026-07-28.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def install(self, server: Server[Any]) -> None:
        """Declare the extension in all revisions, and register its methods."""
        server.extensions[IDENTIFIER] = dict(SETTINGS)
        server.middleware.append(_announced)
        server.add_request_handler("skills/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("skills/get", GetParams, self.get)
        server.add_request_handler("resources/directory/read", DirectoryParams, self.read_directory)

    async def list(
        self, context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        """Return one page of entries. The cursor is a name, so later pages stay correct if skills come or go."""
        session = await self._sessions.of(context)
        with protocol_error(), elicitation_from(context):
            skills, after = await session.reads.page(last_before(params.cursor), PAGE, str(context.request_id))
        result = {"skills": [skill.as_entry() for skill in skills], **_envelope(context, CACHING)}
        return result if after is None else {**result, "nextCursor": cursor_after(after)}

    async def get(self, context: ServerRequestContext[Any, Any], params: GetParams) -> dict[str, Any]:
        """Return the entry of one skill, even if `skills/list` does not list the skill."""
        session = await self._sessions.of(context)
        with protocol_error(), elicitation_from(context):
            skill = await session.reads.describe(params.uri, str(context.request_id))
        return {"skill": skill.as_entry(), **_envelope(context, CACHING)}

    async def read_directory(self, context: ServerRequestContext[Any, Any], params: DirectoryParams) -> dict[str, Any]:
        """Return the direct children of a directory."""
        session = await self._sessions.of(context)
        with protocol_error(), elicitation_from(context):
            last = last_before(params.cursor)
            children = await session.reads.children(params.uri, str(context.request_id))
        rest = [child for child in children if child.name > last]
        result = {"resources": [_child(child) for child in rest[:DIRECTORY_PAGE]], **_envelope(context)}
        if len(rest) <= DIRECTORY_PAGE:
            return result
        return {**result, "nextCursor": cursor_after(rest[DIRECTORY_PAGE - 1].name)}


async def _announced(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that adds `extensions` to the result of `initialize`.

    The SDK's types for the handshake revisions lack the field `extensions`, so the SDK drops it. Clients of these
    revisions must accept unknown capabilities, and they read this field.
    """
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        capabilities = {**result["capabilities"], "extensions": {IDENTIFIER: dict(SETTINGS)}}
        return {**result, "capabilities": capabilities}
    return result


def _envelope(
    context: ServerRequestContext[Any, Any], caching: Mapping[str, object] = MappingProxyType({})
) -> Mapping[str, object]:
    """Return fields of results that exist since 2026-07-28: `resultType` and the caching hints."""
    return {"resultType": "complete", **caching} if context.protocol_version in MODERN_PROTOCOL_VERSIONS else {}


def _child(child: Child) -> dict[str, Any]:
    facts = {"uri": child.uri, "name": child.name, "mimeType": child.media_type}
    return facts if child.size is None else {**facts, "size": child.size}


@contextmanager
def protocol_error(uri: str | None = None) -> Iterator[None]:
    """Context manager: turn a `SkillError` into a protocol error, for requests that are not tool calls.

    A wrong or unknown argument is `invalid params` (-32602), as the Skills extension and revision 2026-07-28 demand.
    Any other fault is an internal error. `data` contains code, message and suggestions, and the `uri` if given. If the
    resource of `uri` does not exist, `data` contains only the URI: clients recognize a missing resource by this form.

    Raises:
        MCPError: instead of the `SkillError`.
    """
    try:
        yield
    except SkillError as error:
        failed = ToolResult.failed(error)  # for its texts, which are safe to show to a model
        if uri is not None and isinstance(error, LookupError):
            raise MCPError(INVALID_PARAMS, failed.error or "", {"uri": uri}) from error
        code = INVALID_PARAMS if isinstance(error, _ASKED_WRONGLY) else INTERNAL_ERROR
        asked = {} if uri is None else {"uri": uri}
        raise MCPError(code, failed.error or "", {**asked, **(failed.error_detail or {})}) from error
