"""The exit codes of every command; they are part of the interface."""

from __future__ import annotations

OK = 0
FAILED = 1  # errors were found, or the thing asked for failed
USAGE = 2  # the command line or the configuration is wrong
DENIED = 3  # policy says no
UNAVAILABLE = 4  # no sandbox or no store
INTERRUPTED = 130
