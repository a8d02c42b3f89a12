"""The protocol of a host: it carries out one task with some skills, and returns the run.

A host keeps no state between runs. Each run has a workspace and a directory of its own, so that nothing of another run
is visible to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from prowess.errors import InvalidArgumentsError
from prowess.evals.ledger.caps import CapReachedError
from prowess.evals.ledger.journal import JournalError
from prowess.evals.recordings.drift import DriftError

if TYPE_CHECKING:
    from prowess.evals.transcripts.transcript import RunTranscript

# Errors of the calls of a run that end a campaign. Any other failure is the result of its run.
ENDS_CAMPAIGN = (CapReachedError, DriftError, JournalError, InvalidArgumentsError)
TRANSCRIPT = "transcript.jsonl"  # in the directory of a run, if the host has no name of its own for it


class HostLimits(Struct, frozen=True, kw_only=True):
    """Limits on one run. `None` leaves a limit to the host. Caps on money are the ledger's."""

    seconds: float = 600.0
    turns: int | None = None
    max_output_tokens: int | None = None


class HostRequest(Struct, frozen=True, kw_only=True):
    """One task.

    - `unit` is the id of the unit, under which the ledger books the calls.
    - `skills` are directories of skills that the host may choose from; the same names are installed in every host.
    - `workspace` is the directory that the agent works in. It exists, and the agent may change it.
    - `directory` is an existing directory for the transcript and the host's own files. The agent must not see it.
    - `seed` is passed on to a model that takes one.
    """

    unit: str
    prompt: str
    skills: tuple[str, ...]
    workspace: str
    directory: str
    limits: HostLimits = HostLimits()
    seed: int | None = None


class HostRun(Struct, frozen=True, kw_only=True):
    """A run that ended.

    `transcript_path` is the file or folder that the transcript was read from, None if the host left none. `answer` is
    the last text of the agent. `error` is one sentence if the run says nothing about the skill: the host crashed, the
    provider failed, the transcript cannot be read. Reaching a limit of turns is no error.
    """

    transcript: RunTranscript
    transcript_path: str | None
    answer: str
    seconds: float
    error: str | None = None


class Host(Protocol):
    """Runs tasks. If it is an async context manager, a campaign enters it once."""

    @property
    def name(self) -> str:
        """The name, as `--host` takes it; `prowess` is our own agent."""
        ...

    async def run(self, request: HostRequest) -> HostRun:
        """Carry out one task. A failed task is a result with `error`, and raises nothing.

        Raises:
            CapReachedError: a call was not made, because it could pass a cap.
            InvalidArgumentsError: the host is not installed, or cannot be used as it is configured.
        """
        ...
