"""Sessions: load, unload, read, run, and every text that a model sees of it.

The public names are resolved when first used: a module of this room that needs no session does not pay for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.runtime.call_options import ReadOptions, RunOptions
    from prowess.runtime.disclosure import Disclosure
    from prowess.runtime.fork import AgentType, ForkOutcome, ForkRequest, ForkRunner
    from prowess.runtime.options import SessionOptions
    from prowess.runtime.session import Session
    from prowess.runtime.state import ActiveSkill, SessionState
    from prowess.runtime.sync import SyncSession

__all__ = [
    "ActiveSkill",
    "AgentType",
    "Disclosure",
    "ForkOutcome",
    "ForkRequest",
    "ForkRunner",
    "ReadOptions",
    "RunOptions",
    "Session",
    "SessionOptions",
    "SessionState",
    "SyncSession",
]

_HOMES = {
    "ActiveSkill": "state",
    "AgentType": "fork",
    "Disclosure": "disclosure",
    "ForkOutcome": "fork",
    "ForkRequest": "fork",
    "ForkRunner": "fork",
    "ReadOptions": "call_options",
    "RunOptions": "call_options",
    "Session": "session",
    "SessionOptions": "options",
    "SessionState": "state",
    "SyncSession": "sync",
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module 'prowess.runtime' has no attribute {name!r}"
            raise AttributeError(message)
        # Imported here, not at the top: see the docstring of this module.
        from importlib import import_module

        value = getattr(import_module(f"prowess.runtime.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
