"""Which directory may be a script's workspace: never one that would hand over the machine or what agents obey."""

from __future__ import annotations

import os

from prowess._internal.places import cache_home, prowess_home, user_home
from prowess.execution.result import ExecNotice

# Neither they nor anything below them is work of a person: settings of the machine, and files that are no files.
_SYSTEM = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/usr/bin", "/usr/lib", "/usr/sbin")
# Whole trees of the system; what lies in a directory below (/usr/src/app, /var/lib/build/job) can be work.
_TREES = (
    "/bin",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/sbin",
    "/srv",
    "/usr",
    "/usr/local",
    "/var",
    "/var/lib",
)
_SKILL_HOMES = (".agents", ".claude")


def usable_workspace(path: str) -> tuple[str | None, ExecNotice | None]:
    """Return (real path, None) where `path` may be a workspace, else (None, why not).

    Refused, whether it was named or is the working directory: the root directory and the trees and settings of the
    system; the home directory and everything above it; the Prowess home, its cache and the homes of personal skills
    (`~/.agents`, `~/.claude`), with everything above and below them; and what is no directory.
    """
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        return None, _notice(path, "it is no directory")
    if real == os.path.sep:
        return None, _notice(path, "it is the root of the file system")
    if real in _TREES or any(_is_within(real, directory) for directory in _SYSTEM):
        return None, _notice(path, "it belongs to the system")
    home = user_home()
    if _is_within(os.path.realpath(home), real):
        return None, _notice(path, "it is the home directory or holds it")
    for own in (prowess_home(), cache_home()):
        if _touches(real, own):
            return None, _notice(path, "it holds files of Prowess itself")
    for name in _SKILL_HOMES:
        if _touches(real, os.path.join(home, name)):
            return None, _notice(path, "personal skills are kept there, and what lies there is obeyed")
    return real, None


def _touches(real: str, place: str) -> bool:
    """Whether one of the two lies in the other; `skills` below `place` counts as well, for it is often a link."""
    place = os.path.realpath(place)
    skills = os.path.realpath(os.path.join(place, "skills"))
    return any(_is_within(one, real) or _is_within(real, one) for one in {place, skills})


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.path.sep) + os.path.sep)


def _notice(path: str, why: str) -> ExecNotice:
    message = f"{path} is not used as the workspace: {why}; scripts run without one. Name another with --workspace"
    return ExecNotice(code="workspace_refused", message=message)
