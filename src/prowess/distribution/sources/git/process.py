"""Runs git: bounded in time and output, in a process group that is ended with it, with errors that state a reason."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from contextlib import suppress
from threading import Event, Timer
from typing import IO, TYPE_CHECKING

from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.text.terminal_text import printable
from prowess.errors import DistributionError, LimitExceededError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 600  # for one command; a fetch of a large repository takes minutes
MAX_OUTPUT = 64 * 1024 * 1024  # bytes of a list of tags or of paths
MAX_PACK = 2 * 1024 * 1024 * 1024  # bytes of a fetched repository

_CHUNK = 1 << 16
_PIPE = 1 << 20  # bytes; a larger pipe needs fewer switches between the processes

_MISSING = re.compile(
    r"not found|does not exist|does not appear to be a git repository|no such ref|couldn't find remote ref|"
    r"not our ref|not a tree object|not a valid object name|bad object|returned error: 404|redirect|returned error: 30",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"could not read (?:username|password)|authentication failed|permission denied|terminal prompts disabled|"
    r"returned error: 40[13]|access denied|host key verification failed",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(r"(?<=://)[^/@\s]*@")


def run_git(arguments: Sequence[str], environ: Mapping[str, str], what: str, *, cwd: str) -> bytes:
    """Run git and return its output. `what` is the repository's name in messages.

    Raises:
        UnavailableError: the repository cannot be reached in time.
        DistributionError: it does not exist, refuses access, or git is not installed.
        LimitExceededError: the output is too large.
    """
    with tempfile.TemporaryFile(dir=cwd) as messages:
        child = start_git(arguments, environ, cwd=cwd, messages=messages)
        assert child.stdout is not None, "it was started with a pipe"  # noqa: S101 -- proves it to mypy
        late = Event()
        timer = Timer(SECONDS, _end_late, (child, late))
        timer.start()
        try:
            out = read_at_most(child.stdout.fileno(), MAX_OUTPUT + 1, _CHUNK)
            if len(out) > MAX_OUTPUT:
                raise LimitExceededError(f"bytes of git's answer about {what}", MAX_OUTPUT, None)
            status = child.wait()
        finally:
            timer.cancel()
            end_git(child)
        if late.is_set():
            raise UnavailableError(what, None, f"git took longer than {SECONDS} s")
        if status != 0:
            messages.seek(0)
            raise git_fault(messages.read(_CHUNK).decode(errors="replace"), what)
    return out


def _end_late(child: subprocess.Popen[bytes], late: Event) -> None:
    late.set()
    _kill(child)


def start_git(
    arguments: Sequence[str], environ: Mapping[str, str], *, cwd: str, messages: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Start git with pipes, in its own process group. End it with `end_git`. Its messages go to the file `messages`."""
    try:
        child = subprocess.Popen(
            ["git", *arguments],  # noqa: S607 -- git is found on PATH, as the user finds it
            env=dict(environ),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if messages is None else messages,
            start_new_session=True,
            pipesize=_PIPE,
        )
    except FileNotFoundError:
        raise DistributionError("git is not installed, and this source needs it; install git") from None
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource  # Imported here, not at the top: Windows has no such module.

        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (MAX_PACK, MAX_PACK))  # Linux; its children inherit it
    return child


def end_git(child: subprocess.Popen[bytes]) -> None:
    """End git and all processes that it started."""
    if child.poll() is None:
        _kill(child)
        child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()


def git_fault(messages: str, what: str) -> UnavailableError | DistributionError:
    """Return the error for git's messages, which are shown without credentials and control characters."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    chosen = next(
        (line for line in lines if line.startswith(("fatal:", "error:", "remote:"))), lines[0] if lines else ""
    )
    shown = printable(_CREDENTIAL.sub("***@", re.sub(r"^(?:fatal|error|remote): *", "", chosen)))[:300]
    if _REFUSED.search(messages):
        advice = "check the address, and git's credential helper or ssh key for this host"
        return DistributionError(f"{what} refused access ({shown}); {advice}")
    if "detected dubious ownership" in messages:
        return DistributionError(
            f"{what} belongs to another user, so git does not read it; copy it, or change its owner"
        )
    if _MISSING.search(messages):
        advice = "; name the address that it redirects to" if "30" in shown or "redirect" in shown else ""
        return DistributionError(f"{what} cannot be read ({shown or 'git gave no reason'}){advice}")
    return UnavailableError(what, None, shown or "git gave no reason")
