"""Tells clients when the lists they hold are out of date.

The catalog is scanned again at intervals, and it is looked at after every call, because calls may have scanned it. What
a person or another program changes on disk is so noticed within one interval. A scan reads the stat of each skill file
and nothing else where nothing changed; the wait after it is at least a hundred times as long as it took.

Clients of the handshake revisions are sent a notification on their connection, those of 2026-07-28 get it on the stream
they listen to.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)

if TYPE_CHECKING:
    from prowess.mcp_server.served_session import Sessions

INTERVAL_SECONDS = 5.0
_REST = 100  # the scan may take at most this part of the time
_SENDING_SECONDS = 1.0  # a client that does not read must not hold up the others
_MAX_STREAMS = 256


class Changes:
    """Watches the catalog of some sessions."""

    def __init__(self, sessions: Sessions, *, interval: float = INTERVAL_SECONDS) -> None:
        self._sessions, self._interval = sessions, interval
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=_MAX_STREAMS)
        self._seen = sessions.catalog.generation

    async def watch(self) -> None:
        """Scan again and again, until cancelled."""
        while True:
            begun = time.monotonic()
            await to_thread.run_sync(self._sessions.catalog.refresh)
            await self.look()
            took = time.monotonic() - begun
            await anyio.sleep(max(self._interval, took * _REST))

    async def look(self) -> None:
        """Tell everybody if the catalog has changed since the last look."""
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
