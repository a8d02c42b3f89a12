"""One run as it is asked for: a script of a staged skill or a command line, with what, and within which bounds.

Nothing here is checked against the machine; a sandbox does that before it starts anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

StreamName = Literal["stdout", "stderr"]

MEBIBYTE = 1024 * 1024

# What the kernel takes: one string of at most 32 pages, and all of them together in a quarter of the stack.
LONGEST_STRING = 131_000
ALL_STRINGS = 1_500_000


class ExecLimits(Struct, frozen=True, kw_only=True):
    """Bounds on one script run; `None` lifts a bound. Sizes are in bytes.

    Which of them hold on this machine is said by `Guarantees`, run by run.
    """

    wall_seconds: float | None = 30.0
    cpu_seconds: int | None = None  # one process; the wall time bounds all of them
    output_bytes: int = 1_000_000  # each of the two streams
    tmp_bytes: int = 64 * MEBIBYTE  # /tmp with HOME and the private working directory
    out_bytes: int = 32 * MEBIBYTE  # /out
    out_files: int = 64
    file_bytes: int | None = 32 * MEBIBYTE  # the largest file a script can write
    memory_bytes: int | None = 512 * MEBIBYTE  # the whole run; needs a control group
    processes: int | None = 64  # processes and threads together
    open_files: int | None = 256


class ExecRequest(Struct, frozen=True, kw_only=True):
    """One run of `script` (relative to `skill_dir`) with `args` exactly as they are.

    With `command` it is a run of that text by bash instead, with `args` as $0, $1 ...; then there is no skill in the
    sandbox, and `skill_dir`, `script` and `interpreter` stay unset.

    `skill_dir` must hold trusted bytes, as `prowess.execution.staging.stage` makes them. `interpreter` is a command
    inside the sandbox, or None to choose by shebang and extension. `workdir` is relative to `workspace`; without a
    workspace the script has a private empty directory. `stdin` of None is the empty input. `out_dir` is the host
    directory that receives what the script leaves in /out; None drops it. With `skill_imports`, Python in the sandbox
    imports modules from the root of the skill too.

    `mounts` are further directories of trusted bytes: (place in the sandbox, below /skills or home; host directory).

    `on_output` is given the bytes that the result will hold, in order, as they are read. It is called in the thread
    that watches the run, so it must neither wait nor raise. A sandbox may ignore it.
    """

    skill_dir: str = ""
    script: str = ""
    command: str | None = None
    interpreter: tuple[str, ...] | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "."
    stdin: bytes | None = None
    workspace: str | None = None
    write: bool = False
    out_dir: str | None = None
    limits: ExecLimits = field(default_factory=ExecLimits)
    session_id: str = ""
    skill_imports: bool = True
    mounts: tuple[tuple[str, str], ...] = ()
    on_output: Callable[[StreamName, bytes], None] | None = None
