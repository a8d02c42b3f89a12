"""The result of `skills.run_script`."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from prowess.runtime.activation.load_result import Notice  # noqa: TC001 -- msgspec decodes it


class RunArtifact(Struct, frozen=True, kw_only=True):
    """A file that a script left in /out: `name` is relative, `size` in bytes, `digest` over its bytes.

    `path` is where it lies on this machine until the session ends, None if the session shows no paths.
    """

    name: str
    size: int
    digest: str
    media_type: str
    path: str | None


class RunResult(Struct, frozen=True, kw_only=True):
    """What `skills.run_script` returns. A status other than zero is a result and no error.

    `exit_code` is the script's own status, 128 + N if signal N ended it. `stdout` and `stderr` are what was kept of its
    output, `stdout_bytes` and `stderr_bytes` count all of it. `guarantees` is what held during the run
    (`prowess.execution.Guarantees`), as JSON.
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
        """Return the JSON of the tool; `notices` are left out if there are none."""
        said = [notice.as_dict() for notice in self.notices]
        fields = {**asdict(self), "artifacts": [asdict(artifact) for artifact in self.artifacts], "notices": said}
        return {name: value for name, value in fields.items() if said or name != "notices"}
