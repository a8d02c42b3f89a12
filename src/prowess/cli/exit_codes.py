"""The exit codes of every command; they are part of the interface."""

from __future__ import annotations

OK = 0
FAILED = 1  # errors were found, or the thing asked for failed
USAGE = 2  # the command line or the configuration is wrong
DENIED = 3  # policy denies it, or asks a person and nobody approved
UNAVAILABLE = 4  # no sandbox, no store, or an audit log that cannot be written
SIGNALLED = 128  # and the number of the signal that ended the command, as a shell counts
INTERRUPTED = 130
