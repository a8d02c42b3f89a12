"""A sandbox runs one request with stated guarantees, or refuses to: it is closed by default and fails closed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from prowess.execution.request import ExecRequest
    from prowess.execution.result import ExecResult


class SandboxReport(Struct, frozen=True, kw_only=True):
    """Whether this machine can run scripts; `hint` says what to do where it cannot, and is empty where it can.

    `tier` is 1 for kernel namespaces with a file system of its own, 0 where nothing can be run.
    """

    available: bool
    backend: str
    tier: int
    version: str | None
    program: str | None
    hint: str


class Sandbox(Protocol):
    """Runs one request. A non-zero exit is a result; failing to start raises.

    `run` raises `SandboxUnavailableError` where nothing was run for want of a sandbox, `ScriptUnsupportedError` where
    no interpreter fits, `InvalidArgumentsError` where the request cannot be carried out as it stands. Cancelling it
    ends every process of the run before it returns.
    """

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run the script to its end or to a limit."""
        ...

    def probe(self) -> SandboxReport:
        """Say whether scripts can be run here; the answer is kept for the life of this object."""
        ...


@cache  # what a machine can do is asked once, not once a session
def default_sandbox() -> Sandbox:
    """Return the strongest sandbox that Prowess has for this platform; `probe` says whether it can start."""
    # Imported here, not at the top: a backend knows this module's report, and listing skills needs no backend.
    from prowess.execution.backends.bubblewrap import BubblewrapSandbox

    return BubblewrapSandbox()
