"""Sessions: load, unload, read and run skills, and all texts that a model receives about them.

The public names are imported on first use, so importing a submodule that needs no session does not load `Session`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.runtime.activation.load_result import LoadedSkill, LoadResult, Notice
    from prowess.runtime.call_options import ReadOptions, RunOptions
    from prowess.runtime.disclosure.model_texts import Disclosure
    from prowess.runtime.disclosure.skill_tool import InvokeResult
    from prowess.runtime.forks import AgentType, ForkOutcome, ForkRequest, ForkRunner
    from prowess.runtime.identity import Identity
    from prowess.runtime.options import SessionOptions
    from prowess.runtime.script_output import OutputChunk
    from prowess.runtime.session import Session
    from prowess.runtime.state import ActiveSkill, SessionState
    from prowess.runtime.sync import SyncSession
    from prowess.runtime.tools.read_result import ReadResult
    from prowess.runtime.tools.run_result import RunArtifact, RunResult

__all__ = [
    "ActiveSkill",
    "AgentType",
    "Disclosure",
    "ForkOutcome",
    "ForkRequest",
    "ForkRunner",
    "Identity",
    "InvokeResult",
    "LoadResult",
    "LoadedSkill",
    "Notice",
    "OutputChunk",
    "ReadOptions",
    "ReadResult",
    "RunArtifact",
    "RunOptions",
    "RunResult",
    "Session",
    "SessionOptions",
    "SessionState",
    "SyncSession",
]

_HOMES = {
    "state": ("ActiveSkill", "SessionState"),
    "forks": ("AgentType", "ForkOutcome", "ForkRequest", "ForkRunner"),
    "activation.load_result": ("LoadResult", "LoadedSkill", "Notice"),
    "disclosure.model_texts": ("Disclosure",),
    "disclosure.skill_tool": ("InvokeResult",),
    "call_options": ("ReadOptions", "RunOptions"),
    "script_output": ("OutputChunk",),
    "session": ("Session",),
    "identity": ("Identity",),
    "options": ("SessionOptions",),
    "sync": ("SyncSession",),
    "tools.read_result": ("ReadResult",),
    "tools.run_result": ("RunArtifact", "RunResult"),
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ accepts every name
    __getattr__ = lazy_names(__name__, _HOMES)
