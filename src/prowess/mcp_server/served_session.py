"""Sessions of MCP servers, with their resources, prompts and the clients to notify of changes.

A server over standard input and output has one session, a server over HTTP has a table of sessions.

Clients are notified if their lists are out of date. While the server runs, the catalog is watched
(`prowess.catalog.watching`). After every call the lists are compared too, because the call may have refreshed the
catalog.

Clients of protocol revisions with a handshake (all before 2026-07-28) receive notifications on their connection.
Clients of 2026-07-28 receive notifications on a stream that they open for this purpose.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import anyio
from anyio import to_thread
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR
from msgspec.structs import replace

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess._internal.text.terminal_text import printable_line
from prowess.catalog.given_catalog import catalog_of
from prowess.catalog.watching.catalog_watch import CatalogWatch
from prowess.errors import PolicyError
from prowess.http_listener.request_guard import BEARER
from prowess.mcp_server.elicitation import ClientApprover
from prowess.mcp_server.host_reads import ArtifactResources, HostReads
from prowess.mcp_server.prompts import SkillPrompts
from prowess.mcp_server.skill_resources import SkillResources
from prowess.policy.policy_in_force import policy_of
from prowess.runtime import Session, SessionOptions
from prowess.runtime.catalog_changes import handle_changes
from prowess.runtime.disclosure import model_texts
from prowess.runtime.organisation import organisation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from os import PathLike

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from prowess.catalog import Catalog
    from prowess.runtime.options import ListeningKeywords

MAX_SESSIONS = 64
IDLE_SECONDS = 1800.0
_MOST_NAMED = 200  # limit on the characters of a client's name and version in a record
SESSION_HEADER = "mcp-session-id"
CLIENT_HEADER = "prowess-client"  # set in a host's configuration to tell apart two clients of the same program
_CLOSING_SECONDS = 2.0
_DIGITS = 32  # of the name of a session in a shared store: 128 bits
INSTRUCTIONS_BUDGET = model_texts.DEFAULT_BUDGET  # tokens of the list
_AGAIN = "- This list is as of the start of the server. skills_list shows it as it is now, and searches it.\n"


class ServedSession(Session):
    """A session for MCP: bodies are in results, `skills.list` is offered, and the client is asked for approval.

    `peer` is the connection for notifications of changes, None if the client listens to a stream instead.
    """

    def __init__(
        self,
        catalog: Catalog | str | PathLike[str],
        options: SessionOptions | None = None,
        **keywords: Unpack[ListeningKeywords],
    ) -> None:
        chosen = SessionOptions.of(options, keywords)
        self.shared_requests = organisation_of(chosen.store).requests
        approver = ClientApprover(shared=self.shared_requests) if chosen.approver is None else chosen.approver
        super().__init__(catalog, chosen, body="result", approver=approver)
        self.offer_list()
        self.artifacts = ArtifactResources(self)
        self.skills = SkillResources(self.catalog, self._parts.offered)
        self.reads = HostReads(
            self.skills,
            self.artifacts,
            audit=self._parts.audit,
            session_id=self.session_id,
            gates=self._parts.guard.gates,
            complete=self._parts.completed,
            policy=self._parts.policy,
        )
        self.prompts = SkillPrompts(self, self._parts.offered)
        self.peer: ServerSession | None = None
        self.told: tuple[str, ...] = self.tool_names()

    def is_called_by(self, client: str | None, user: str | None = None) -> None:
        """Set the client's program for decisions and records, and the user if the client's token has a name."""
        known = {} if user is None else {"user": user, "identified_by": "token"}
        self._parts.is_called_by(replace(self._parts.caller, client=client, **known))

    def tool_names(self) -> tuple[str, ...]:
        """Return the names of the offered tools."""
        return tuple(spec.name for spec in self.tools())

    def host_instructions(self) -> str | None:
        """Return the server instructions for a new connection: base rules and list of skills; None without skills."""
        disclosed = self.disclose(INSTRUCTIONS_BUDGET)
        rules, tag, rest = disclosed.text.partition(model_texts.AVAILABLE)
        if line := model_texts.more(disclosed.left_out):  # the last line of the list
            rest = rest.replace(f"\n{line}", f"\n{model_texts.under_wire_names(line)}")
        return f"{model_texts.under_wire_names(rules)}{tag}{rest}{_AGAIN}" if disclosed.text else None


class OnlySession:
    """The session of a server with one connection. `instructions` are the server instructions for the host."""

    def __init__(self, session: ServedSession) -> None:
        self._session, self.catalog, self.instructions = session, session.catalog, session.host_instructions()

    async def of(self, context: ServerRequestContext[Any, Any]) -> ServedSession:
        """Set the client's program for audit records, and return the session."""
        self._session.is_called_by(_program(context))
        return self._session

    def open(self) -> Iterable[ServedSession]:
        """Return the single session, as a collection."""
        return (self._session,)


class SessionTable:
    """One session for each client of an HTTP server, opened by its first request and closed when the client has gone.

    In the handshake revisions, the protocol itself has sessions, and each protocol session has one session in this
    table. Revision 2026-07-28 has no sessions over HTTP. A client of this revision is identified by its requests: the
    token, its address, the configured name (header `Prowess-Client`), and the name and version of its program. Clients
    that are equal in all of these share a session.

    A session ends when its client ends it, or after `idle_seconds` without use and without an open request. With the
    store of an organisation, its name follows from the client, so all servers with this store have the same session. An
    idle one is then only forgotten, because another server may use it; it ends when its time to live is over.

    `options` are those of `ServedSession`; `catalog` is shared by all sessions. `instructions` are the server
    instructions for new connections, created when the server starts. `users` maps hex digests of tokens to names of
    users.
    """

    def __init__(
        self,
        catalog: Catalog | str | PathLike[str],
        options: SessionOptions | None = None,
        *,
        users: Mapping[str, str] = MappingProxyType({}),
        most: int = MAX_SESSIONS,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most, self.idle_seconds, self._users = most, idle_seconds, users
        self.catalog = catalog_of(catalog) if options is None else options.view_of(catalog_of(catalog))
        self._options, self._clock = options, clock
        self._sessions: dict[tuple[str, ...], ServedSession] = {}
        self._used: dict[tuple[str, ...], float] = {}
        self._open_requests: dict[tuple[str, ...], int] = {}
        self.instructions = ServedSession(self.catalog, options).host_instructions()
        organisation = organisation_of(None if options is None else options.store)
        self._is_shared = organisation.source is not None
        given = None if options is None else options.policy
        self._policy = policy_of(given, organisation=organisation.source)
        self._closing = False

    async def of(self, context: ServerRequestContext[Any, Any]) -> ServedSession:
        """Return the session of a request, opening one for a new client. Raise MCPError if too many are open."""
        key = _key(context)
        if (session := self._sessions.get(key)) is None:
            if len(self._sessions) >= self.most:
                message = f"{len(self._sessions)} sessions are open, the maximum of this server; try again later"
                raise MCPError(INTERNAL_ERROR, message)
            # No await since the lookup, so two requests of one client cannot open two sessions.
            named: ListeningKeywords = {"session_id": _shared_id(key)} if self._is_shared else {}
            session = self._sessions[key] = ServedSession(self.catalog, self._options, **named)
            session.is_called_by(_program(context), self._users.get(_bearer(context)))
        self._used[key] = self._clock()
        return session

    def open(self) -> Iterable[ServedSession]:
        """Return all open sessions."""
        return tuple(self._sessions.values())

    def hindrance(self) -> str | None:
        """Return the reason why no call can be served now, in one word; None if calls can be served."""
        if self._closing:
            return "stopping"
        policy = self._policy.now()
        if policy.store_fault is not None:
            return policy.store_fault.code
        return None if policy.fault is None else PolicyError.code

    @contextmanager
    def request(self, key: tuple[str, ...] | None) -> Iterator[None]:
        """Context manager: a protocol session is not idle while one of its requests or its stream is open.

        `key` is the `session_key` of the protocol session, or None if the request names no session.
        """
        if key is None:
            yield
            return
        self._open_requests[key] = self._open_requests.get(key, 0) + 1
        try:
            yield
        finally:
            self._open_requests[key] -= 1
            if not self._open_requests[key]:
                del self._open_requests[key]
            if key in self._used:
                self._used[key] = self._clock()

    async def end(self, key: tuple[str, ...], *, by_client: bool = True) -> None:
        """Close and remove the session with this `session_key`. Does nothing if no session has this key.

        If the client did not end it, a session in the store of an organisation is kept there.
        """
        self._used.pop(key, None)
        session = self._sessions.pop(key, None)
        if session is not None and (by_client or not self._is_shared):
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await session.close()

    async def sweep(self) -> None:
        """Close idle sessions periodically, until cancelled."""
        while True:
            await anyio.sleep(max(0.05, min(self.idle_seconds / 4, 30.0)))
            await self.close_idle()

    async def close_idle(self) -> None:
        """Close the sessions that have been unused for `idle_seconds` and have no open request."""
        limit = self._clock() - self.idle_seconds
        for key, used in tuple(self._used.items()):
            if used <= limit and key not in self._open_requests:
                await self.end(key, by_client=False)

    async def close(self) -> None:
        """Close all sessions."""
        self._closing = True
        for key in tuple(self._sessions):
            await self.end(key, by_client=False)


Sessions = OnlySession | SessionTable
"""Sessions of a server. Both classes return the session of a request, all open sessions, and server instructions."""


def session_key(session_id: str, bearer: str) -> tuple[str, ...]:
    """Return the key of a protocol session. The key includes the token, so another token gives another key."""
    return ("session", bearer, session_id)


def _shared_id(key: tuple[str, ...]) -> str:
    """Return the name of a client's session in a shared store. The key has a digest of its token, not the token."""
    return f"mcp-{sha256_of(canonical_json(list(key))).removeprefix('sha256:')[:_DIGITS]}"


def _key(context: ServerRequestContext[Any, Any]) -> tuple[str, ...]:
    request = context.request
    headers = getattr(request, "headers", {})
    if (session_id := headers.get(SESSION_HEADER)) is not None:
        return session_key(session_id, _bearer(context))
    shown = (_bearer(context), getattr(getattr(request, "client", None), "host", ""), headers.get(CLIENT_HEADER, ""))
    greeting = context.session.client_params
    program = () if greeting is None else (greeting.client_info.name, greeting.client_info.version)
    return ("client", *shown, *program)


def _program(context: ServerRequestContext[Any, Any]) -> str | None:
    """Return the name and version that the client's program declared."""
    greeting = context.session.client_params
    if greeting is None:
        return None
    return printable_line(f"{greeting.client_info.name} {greeting.client_info.version}"[:_MOST_NAMED])


def _bearer(context: ServerRequestContext[Any, Any]) -> str:
    shown: str = getattr(context.request, "scope", {}).get(BEARER, "")
    return shown


_SENDING_SECONDS = 1.0  # a client that does not read must not delay the others
_MAX_STREAMS = 256


class Changes:
    """Watches the catalog and notifies the clients of all open sessions."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=_MAX_STREAMS)
        self._seen = sessions.catalog.generation

    async def watch(self) -> None:
        """Watch the catalog and notify all clients of changes, until cancelled."""

        async def looked(value: None) -> None:
            del value
            await self.look()

        await handle_changes(CatalogWatch(self._sessions.catalog).looks, looked)

    async def look(self) -> None:
        """Notify all clients if the catalog has changed since the last call."""
        if (generation := self._sessions.catalog.generation) == self._seen:
            return
        self._seen = generation
        tools_differ = False
        for session in tuple(self._sessions.open()):
            names = await to_thread.run_sync(session.tool_names)
            differ, session.told = names != session.told, names
            tools_differ = tools_differ or differ
            if session.peer is not None:
                with anyio.move_on_after(_SENDING_SECONDS):
                    await session.peer.send_resource_list_changed()
                    await session.peer.send_prompt_list_changed()
                    if differ:
                        await session.peer.send_tool_list_changed()
        await self._bus.publish(ResourcesListChanged())
        await self._bus.publish(PromptsListChanged())
        if tools_differ:
            await self._bus.publish(ToolsListChanged())
