"""How a command in the body of a skill begins; whoever looks for one looks for this first."""

from __future__ import annotations

COMMAND_MARK = "!`"  # a body without it has no commands
