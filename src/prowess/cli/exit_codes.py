"""Exit codes of all commands. They are a public interface."""

from __future__ import annotations

OK = 0
FAILED = 1  # errors were found, or the command failed
USAGE = 2  # the command line or the configuration is wrong
DENIED = 3  # the policy denied the call, or a person had to approve it and did not
UNAVAILABLE = 4  # no sandbox, no store, no source, or an audit log that cannot be written
CAPPED = 5  # a cap on cost, tokens or calls ended the run of evals before it was decided
SIGNALLED = 128  # plus the number of the signal that ended the command, as shells do
INTERRUPTED = 130
