"""Which directory may be a script's workspace: never one that would hand over the machine or Prowess's own files."""

from __future__ import annotations

import os

from prowess._internal.places import prowess_home, user_home
from prowess.execution.result import ExecNotice


def usable_workspace(path: str) -> tuple[str | None, ExecNotice | None]:
    """Return (real path, None) where `path` may be a workspace, else (None, why not).

    Refused are the root directory, the home directory and everything above it, the Prowess home, everything above it
    and everything below it, and what is no directory.
    """
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        return None, _notice(path, "it is no directory")
    if real == os.path.sep:
        return None, _notice(path, "it is the root of the file system")
    home = os.path.realpath(user_home())
    if _is_within(home, real):
        return None, _notice(path, "it is the home directory or holds it")
    own = os.path.realpath(prowess_home())
    if _is_within(own, real) or _is_within(real, own):
        return None, _notice(path, "it holds files of Prowess itself")
    return real, None


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.path.sep) + os.path.sep)


def _notice(path: str, why: str) -> ExecNotice:
    message = f"{path} is not used as the workspace: {why}; scripts run without one. Name another with --workspace"
    return ExecNotice(code="workspace_refused", message=message)
