"""Request for one run: a script of a staged skill or a command line, its arguments and its limits.

This module does not check the request against the machine. A sandbox does that before it starts a process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

StreamName = Literal["stdout", "stderr"]

MEBIBYTE = 1024 * 1024

# Limits of the kernel: one string has at most 32 pages, and all strings together at most a quarter of the stack.
LONGEST_STRING = 131_000
ALL_STRINGS = 1_500_000


class ExecLimits(Struct, frozen=True, kw_only=True):
    """Limits on one script run. `None` removes a limit. Sizes are in bytes.

    `Guarantees` states for each run which limits this machine enforces.
    """

    wall_seconds: float | None = 30.0
    cpu_seconds: int | None = None  # limit on each process; `wall_seconds` limits the whole run
    output_bytes: int = 1_000_000  # of each of the two streams
    tmp_bytes: int = 64 * MEBIBYTE  # /tmp, including HOME and the private working directory
    out_bytes: int = 32 * MEBIBYTE  # /out
    out_files: int = 64
    file_bytes: int | None = 32 * MEBIBYTE  # the largest file a script can write
    memory_bytes: int | None = 512 * MEBIBYTE  # of the whole run; needs a control group
    processes: int | None = 64  # processes and threads together
    open_files: int | None = 256


class ExecRequest(Struct, frozen=True, kw_only=True):
    """One run of `script` (relative to `skill_dir`) with `args`, which are passed unchanged.

    If `command` is set, bash runs that text instead, with `args` as $0, $1 and so on. Then the sandbox has no skill,
    and `skill_dir`, `script` and `interpreter` stay unset.

    `skill_dir` must hold trusted bytes, such as a directory made by `prowess.execution.staging.stage`. `interpreter` is
    a command inside the sandbox; if None, it is chosen by shebang and extension. `workdir` is relative to `workspace`;
    without a workspace the script runs in a private empty directory. If `stdin` is None, the input is empty. `out_dir`
    is the host directory for the files that the script leaves in /out; None discards them. With `skill_imports`, Python
    in the sandbox also imports modules from the root of the skill.

    `mounts` are additional directories of trusted bytes, as (path in the sandbox, below /skills or home; host
    directory).

    `on_output` is called with the bytes that the result will hold, in order, as they are read. It runs in the thread
    that supervises the run, so it must neither block nor raise. A sandbox may ignore `on_output`.
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
