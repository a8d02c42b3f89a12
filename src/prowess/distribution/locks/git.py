"""Calls of git for merges: the three stages of a conflict, and settings of a repository."""

from __future__ import annotations

import os
import subprocess

from msgspec import Struct

from prowess.errors import UnavailableError

_SECONDS = 60.0
_BASE, _OURS, _THEIRS = "1", "2", "3"  # the stages of git's index


class Stages(Struct, frozen=True, kw_only=True):
    """The three versions of a file in an unfinished merge. `base` is None if both sides added the file."""

    base: bytes | None
    ours: bytes
    theirs: bytes


def conflict_stages(path: str) -> Stages | None:
    """Return the stages of a file that git could not merge; None without git, a conflict, or one of both sides."""
    directory, name = os.path.split(os.path.abspath(path))
    listed = run_git(directory, "ls-files", "--unmerged", "-z", "--", f":(literal){name}")
    stages: dict[str, bytes] = {}
    for entry in (listed or b"").split(b"\0"):
        words = entry.partition(b"\t")[0].decode("ascii", "replace").split()
        if len(words) == 3 and (blob := run_git(directory, "cat-file", "blob", words[1])) is not None:  # noqa: PLR2004 -- mode, object and stage
            stages[words[2]] = blob
    if _OURS not in stages or _THEIRS not in stages:
        return None
    return Stages(base=stages.get(_BASE), ours=stages[_OURS], theirs=stages[_THEIRS])


def repository_root(directory: str) -> str | None:
    """Return the root of the working tree that contains `directory`; None without git or outside of one."""
    answer = run_git(directory, "rev-parse", "--show-toplevel")
    return None if answer is None else os.fsdecode(answer.rstrip(b"\n"))


def set_config(directory: str, name: str, value: str) -> bool:
    """Set a value in the configuration of the repository. Return whether it is new.

    Raises:
        UnavailableError: git refused.
    """
    if (run_git(directory, "config", "--local", "--get", name) or b"").rstrip(b"\n") == os.fsencode(value):
        return False
    if run_git(directory, "config", "--local", name, value) is None:
        raise UnavailableError("the configuration of git", None, f"git refused to set {name} in {directory}")
    return True


def run_git(directory: str, *arguments: str) -> bytes | None:
    """Run git in `directory` and return its output; None if it fails, or is missing. It asks for nothing."""
    environment = {
        **os.environ,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }
    words = ["git", "-C", directory, "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(
            words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
