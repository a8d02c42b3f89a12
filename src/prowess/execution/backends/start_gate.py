"""The start gate: a shell in the sandbox that starts the script only after it has read a line from Prowess.

bubblewrap's own `--block-fd` treats end of file as permission to go on, and a killed Prowess leaves an end of file. The
gate reads standard input instead, and ends if it does not get a whole line. The line is random. If the program does not
exist, the gate repeats the line on standard error. A script does not know the line, so it cannot pretend that it was
never started.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
from typing import TYPE_CHECKING

from msgspec import structs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.execution.request import ExecLimits

# POSIX `read` reads a pipe byte by byte, so the bytes after the line are left for the script. `$0` is the program that
# must exist. dash changes no variables except those in `_SHELL_VARIABLES`; bash as sh adds two.
_GATE = (
    'read -r go && [ "$go" ] || exit 125; '
    'case $0 in /*) [ -x "$0" ] || { echo "$go" >&2; exit 127; };; esac; '
    '[ -z "$BASH_VERSION" ] || set -- /usr/bin/env -u SHLVL -u _ "$@"; '
)
_OPEN_FILES_OF_SHELL = 16  # a redirection of dash needs descriptor 10
# Variables that some shell replaces or refuses. `env` sets them for the script after the shell.
_SHELL_VARIABLES = frozenset(
    (
        *("BASH", "BASHPID", "COMP_WORDBREAKS", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "HISTCMD", "LINENO", "OPTERR"),
        *("OPTIND", "POSIXLY_CORRECT", "PPID", "PS1", "PS2", "RANDOM", "SECONDS", "SHLVL", "SRANDOM", "UID", "_"),
    )
)


def new_line() -> bytes:
    """Return a new random line that opens one gate."""
    return os.urandom(8).hex().encode() + b"\n"


def gated(
    command: Sequence[str], env: Mapping[str, str], limits: ExecLimits, *, stdin: bool
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the gate command, which waits for its line and then becomes `command`, and the gate's variables.

    Without `stdin` the script's standard input is empty.
    """
    past = [f"{name}={value}" for name, value in env.items() if name in _SHELL_VARIABLES]
    if past:
        command = ("/usr/bin/env", *past, *command)
    source = _GATE if stdin else f"{_GATE}exec </dev/null; "
    if limits.open_files is not None and limits.open_files < _OPEN_FILES_OF_SHELL:
        source += f"ulimit -n {limits.open_files}; "
    variables = {name: value for name, value in env.items() if name not in _SHELL_VARIABLES}
    return ("/bin/sh", "-c", f'{source}exec "$@"', command[0], *command), variables


def limits_of_gate(limits: ExecLimits) -> ExecLimits:
    """Return limits with enough open files for the gate's shell.

    Before the script, the gate sets the script's own limit.
    """
    if limits.open_files is None or limits.open_files >= _OPEN_FILES_OF_SHELL:
        return limits
    return structs.replace(limits, open_files=_OPEN_FILES_OF_SHELL)


@functools.cache
def end_orphans() -> None:
    """Kill, once per process, the first processes of sandboxes whose Prowess was killed during the set-up.

    bubblewrap's first process waits for its monitor without a timeout. If the monitor dies at that moment, the first
    process waits forever. Such a process runs no script, but it uses resources.
    """
    for name in os.listdir("/proc"):
        if name.isdigit() and _waits_at_a_gate(name):
            with contextlib.suppress(OSError):
                pidfd = os.pidfd_open(int(name))
                try:
                    if _is_orphan(name):
                        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                finally:
                    os.close(pidfd)


def _is_orphan(process: str) -> bool:
    """Return whether the process is the first of its namespace, and its parent is not a monitor."""
    with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
        status = file.read()
    parent = re.search(r"^PPid:\t(\d+)$", status, re.MULTILINE)
    first = re.search(r"^NSpid:.*\t1$", status, re.MULTILINE)
    return parent is not None and first is not None and not _waits_at_a_gate(parent[1])


def _waits_at_a_gate(process: str) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:
        return b"\0--\0/bin/sh\0-c\0" + _GATE.encode() in file.read(2 * len(_GATE))
    return False
