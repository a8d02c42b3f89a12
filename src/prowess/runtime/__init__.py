"""Sessions: load, unload, read, run, and every text that a model sees of it."""

from __future__ import annotations

from prowess.runtime.disclosure import Disclosure
from prowess.runtime.fork import AgentType, ForkOutcome, ForkRequest, ForkRunner
from prowess.runtime.options import ReadOptions, RunOptions, SessionOptions
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
