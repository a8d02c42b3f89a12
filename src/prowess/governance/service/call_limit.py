"""The end of a long call: its deadline, or that its caller is gone."""

from __future__ import annotations

import threading
import time

from prowess.errors import LimitExceededError, UnavailableError


class CallLimit:
    """Ends a call that reads a whole log: after `seconds`, None for never, or when its client has gone.

    The call asks with `check` between two parts of its work; any thread may call `client_has_gone`.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds, self._begun = seconds, time.monotonic()
        self._gone = threading.Event()

    def client_has_gone(self) -> None:
        """End the call at its next check."""
        self._gone.set()

    def check(self) -> None:
        """Return if the call may go on.

        Raises:
            LimitExceededError: the time is over.
            UnavailableError: the client has gone.
        """
        if self._gone.is_set():
            raise UnavailableError("the client of this call", reason="it has gone")
        if self._seconds is not None and time.monotonic() - self._begun > self._seconds:
            advice = "choose fewer records with `since` and `until`, or run the command with --store URL"
            raise LimitExceededError("seconds for one request", self._seconds, None, advice)
