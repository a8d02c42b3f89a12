"""Result of one script run. A non-zero exit status and a run ended by its time limit are results, not errors."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict


class Artifact(Struct, frozen=True, kw_only=True):
    """A file that the script left in /out, checked and copied to the host.

    `name` is relative and uses `/`; `path` is on the host. `size` is in bytes. `digest` is `sha256:` and 64 hexadecimal
    digits over the bytes at `path`.
    """

    name: str
    size: int
    digest: str
    media_type: str
    path: str

    def as_dict(self) -> dict[str, object]:
        """Return the entry of a result's `artifacts`."""
        return asdict(self)


class ExecNotice(Struct, frozen=True, kw_only=True):
    """A fact about the run that a caller should know. `code` is for programs, `message` is one sentence for people."""

    code: str
    message: str


class Guarantees(Struct, frozen=True, kw_only=True):
    """Limits of the run: each name is either in `enforced` or, with the reason, in `not_enforced`."""

    backend: str
    version: str
    tier: int
    network: str
    filesystem: str
    enforced: tuple[str, ...]
    not_enforced: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, object]:
        """Return the `guarantees` of a result as plain JSON, keys in a fixed order."""
        return {**asdict(self), "enforced": list(self.enforced), "not_enforced": dict(self.not_enforced)}


class ExecResult(Struct, frozen=True, kw_only=True):
    """Result of one run.

    `exit_code` is the script's own exit status, or 128 + N if signal N ended it (so 137 at the time limit). `stdout`
    and `stderr` are cut at the output limit; `stdout_bytes` and `stderr_bytes` count all bytes written. `duration_ms`
    is the time from the script's start to its end, without the set-up of the sandbox.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    timed_out: bool
    duration_ms: int
    artifacts: tuple[Artifact, ...] = ()
    notices: tuple[ExecNotice, ...] = ()
    guarantees: Guarantees

    @property
    def stdout_truncated(self) -> bool:
        """Whether the script wrote more to standard output than `stdout` holds."""
        return self.stdout_bytes > len(self.stdout)

    @property
    def stderr_truncated(self) -> bool:
        """Whether the script wrote more to standard error than `stderr` holds."""
        return self.stderr_bytes > len(self.stderr)
