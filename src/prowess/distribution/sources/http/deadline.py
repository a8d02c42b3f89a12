"""One deadline for a whole request: connecting, TLS, headers and body.

The library has a time limit for each read only, so a server that sends one byte now and then would never be left. Its
connections are therefore made by a backend that checks the deadline before each read and write.
"""

from __future__ import annotations

import time
from typing import Any


class Deadline:
    """The time at which the present request must have ended."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at = float("inf")

    def set(self, seconds: float) -> None:
        """Begin a request that may take this many seconds."""
        self._at = time.monotonic() + seconds

    @property
    def has_passed(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self._at

    def bounded(self, timeout: float | None) -> float:
        """Return the given seconds, or those that are left if they are fewer. Raises TimeoutError if none are left."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left if timeout is None else min(timeout, left)


class DeadlineBackend:
    """The library's network backend, with a deadline. Parameters are those of `httpcore2.NetworkBackend`."""

    def __init__(self, backend: Any, deadline: Deadline) -> None:  # noqa: ANN401 -- types of the library
        self._backend, self._deadline = backend, deadline

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **rest: Any) -> DeadlineStream:  # noqa: ANN401 -- as above
        """Connect to a host."""
        seconds = self._deadline.bounded(timeout)
        return DeadlineStream(self._backend.connect_tcp(host, port, timeout=seconds, **rest), self._deadline)


class DeadlineStream:
    """A connection of the library, with a deadline. Parameters are those of `httpcore2.NetworkStream`."""

    def __init__(self, stream: Any, deadline: Deadline) -> None:  # noqa: ANN401 -- types of the library
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read some bytes."""
        data: bytes = self._stream.read(max_bytes, timeout=self._deadline.bounded(timeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all bytes."""
        self._stream.write(buffer, timeout=self._deadline.bounded(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:  # noqa: ANN401 -- as above
        """Return the connection with TLS on top."""
        seconds = self._deadline.bounded(timeout)
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, timeout=seconds), self._deadline)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 -- as above
        """Return a fact about the connection."""
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
