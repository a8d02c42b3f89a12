"""Interface of a sandbox: it runs a request with stated guarantees, or raises an error. A sandbox fails closed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from prowess.execution.request import ExecRequest
    from prowess.execution.result import ExecResult


class SandboxReport(Struct, frozen=True, kw_only=True):
    """Whether this machine can run scripts. If it cannot, `hint` is the remedy; otherwise `hint` is empty.

    `tier` is 1 for kernel namespaces with their own file system, and 0 if scripts cannot run.
    """

    available: bool
    backend: str
    tier: int
    version: str | None
    program: str | None
    hint: str


class Sandbox(Protocol):
    """Runs one request. A non-zero exit status is a result; a run that cannot start raises an error.

    `run` raises `SandboxUnavailableError` if the sandbox cannot start, `ScriptUnsupportedError` if no interpreter fits,
    and `InvalidArgumentsError` if the request is not valid. If `run` is cancelled, it ends every process of the run
    before it returns.
    """

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run the script until it ends or reaches a limit."""
        ...

    def probe(self) -> SandboxReport:
        """Return whether scripts can run on this machine. The sandbox object caches the answer."""
        ...


@cache  # the machine is probed once per process, not once per session
def default_sandbox() -> Sandbox:
    """Return the strongest sandbox for this platform. Its `probe` reports whether the sandbox can start."""
    # Imported here, not at the top: the backend imports this module, and listing skills needs no backend.
    from prowess.execution.backends.bubblewrap import BubblewrapSandbox

    return BubblewrapSandbox()
