"""Runs the server of an organisation until a signal: its listener, and the sequencer of its logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from prowess.http_listener.listener import HttpListener, bound
from prowess.http_listener.stop_signals import stop_on_signal
from prowess.http_server.app import server_app
from prowess.http_server.faults import error_bytes
from prowess.http_server.release_dates import ReleaseDates
from prowess.http_server.sequencing import SequencerLoop
from prowess.http_server.server import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from prowess.http_server.server import OrganisationServer


async def serve(
    server: OrganisationServer, host: str, port: int, hosts: Collection[str], tell: Callable[[str], None]
) -> int | None:
    """Serve until SIGTERM or SIGINT, and return the signal. `tell` gets sentences for the operator.

    Raises:
        OSError: the address is not available.
    """
    to_thread.current_default_thread_limiter().total_tokens = MOST_THREADS
    stopped_by: list[int] = []
    with bound(host, port) as socket:
        listener = HttpListener(server_app(server, hosts), socket, error_body=error_bytes)

        def stop() -> None:
            server.is_ending = True
            listener.stop()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop_on_signal, stop, stopped_by)
            if server.signer is not None:
                tasks.start_soon(SequencerLoop(server, server.signer, tell).run)
                tasks.start_soon(ReleaseDates(server, server.signer, tell).run)
            tell(f"Serving at {listener.url(host, '/')}")
            await listener.run()
            tasks.cancel_scope.cancel()
    return stopped_by[0] if stopped_by else None
