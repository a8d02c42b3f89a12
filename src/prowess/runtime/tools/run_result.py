"""The result of `skills.run_script`."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from prowess.runtime.activation.load_result import Notice  # noqa: TC001 -- needed at run time: msgspec decodes it


class RunArtifact(Struct, frozen=True, kw_only=True):
    """A file that a script left in /out: `name` is relative, `size` is in bytes, `digest` covers its bytes.

    `path` is its path on this machine, valid until the session ends; None if the session shows no paths.
    """

    name: str
    size: int
    digest: str
    media_type: str
    path: str | None


class RunResult(Struct, frozen=True, kw_only=True):
    """Result of `skills.run_script`. A nonzero exit status is a result and not an error.

    `exit_code` is the script's own status, or 128 + N if signal N ended it. `stdout` and `stderr` are the kept output;
    `stdout_bytes` and `stderr_bytes` count the whole output. `guarantees` lists the restrictions of the sandbox during
    the run, as JSON (`prowess.execution.Guarantees`).
    """

    path: str
    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool
    duration_ms: int
    stdout_truncated: bool
    stderr_truncated: bool
    stdout_bytes: int
    stderr_bytes: int
    artifacts: tuple[RunArtifact, ...]
    guarantees: dict[str, object]
    notices: tuple[Notice, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the tool's JSON; `notices` is left out if there are none."""
        said = [notice.as_dict() for notice in self.notices]
        fields = {**asdict(self), "artifacts": [asdict(artifact) for artifact in self.artifacts], "notices": said}
        return {name: value for name, value in fields.items() if said or name != "notices"}
