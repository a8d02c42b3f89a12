"""Decides which directory may be a script's workspace, and which of the workspace's entries stay read-only.

A workspace is never a directory that gives control of the machine or of agents. A script that may write to the
workspace could leave a program there that another program runs later: a hook of the version control system, a server or
a skill that an agent loads, an editor task, a start-up file of a shell. So such entries at the top of a workspace stay
read-only. The first component of a protected path is protected as a whole, because a protected file in a directory that
can be renamed would not be safe.
"""

from __future__ import annotations

import os
import stat
from typing import Final

from prowess._internal.places import cache_home, prowess_home, user_home
from prowess.execution.result import ExecNotice

# Refused with everything below them: programs and settings of the system, special file systems.
_SYSTEM = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/usr/bin", "/usr/lib", "/usr/sbin")
# System directories that are refused themselves. A directory below them may be a project, such as /usr/src/app or
# /var/lib/build/job.
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
    """Return (real path, None) if `path` may be a workspace, else (None, notice with the reason).

    These are refused, even if they were named explicitly:

    - The root directory and system directories.
    - The home directory and its parents.
    - The Prowess home, its cache and the homes of personal skills (`~/.agents`, `~/.claude`), with every directory
      above and below them.
    - A path that is not a directory.
    """
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        return None, _notice(path, "it is not a directory")
    if real == os.path.sep:
        return None, _notice(path, "it is the root of the file system")
    if real in _TREES or any(_is_within(real, directory) for directory in _SYSTEM):
        return None, _notice(path, "it belongs to the system")
    home = user_home()
    if _is_within(os.path.realpath(home), real):
        return None, _notice(path, "it is the home directory or contains it")
    for own in (prowess_home(), cache_home()):
        if _touches(real, own):
            return None, _notice(path, "it overlaps with the files of Prowess itself")
    for name in _SKILL_HOMES:
        if _touches(real, os.path.join(home, name)):
            return None, _notice(path, "agents load personal skills from there")
    return real, None


def _touches(real: str, place: str) -> bool:
    """Return whether `real` and `place` are one directory or one contains the other.

    The directory `place/skills` is compared too, because it is often a symbolic link.
    """
    place = os.path.realpath(place)
    skills = os.path.realpath(os.path.join(place, "skills"))
    return any(_is_within(one, real) or _is_within(real, one) for one in {place, skills})


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.path.sep) + os.path.sep)


def _notice(path: str, why: str) -> ExecNotice:
    message = (
        f"{path} is not used as the workspace: {why}; scripts run without a workspace. "
        "Choose another one with --workspace"
    )
    return ExecNotice(code="workspace_refused", message=message)


VERSION_CONTROL: Final = (".git", ".hg", ".svn", ".jj", ".bzr", "_darcs")

_AGENTS = (
    *(".agents", ".claude", ".codex", ".continue", ".cursor", ".gemini", ".kiro", ".prowess", ".windsurf"),
    *(".mcp.json", "prowess.toml"),
)
_TOOLS = (
    *(".devcontainer", ".idea", ".vscode", ".zed"),
    *(".direnv", ".envrc", ".gitconfig", ".gitmodules", ".husky", ".mise.toml", ".npmrc", ".pre-commit-config.yaml"),
    *(".ripgreprc", ".ssh", ".tool-versions", ".yarn", ".yarnrc", ".yarnrc.yml"),
)
_SHELLS = (
    *(".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".inputrc", ".profile"),
    *(".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc"),
)

PROTECTED_PLACES: Final = (*VERSION_CONTROL, *_AGENTS, *_TOOLS, *_SHELLS)
_FOLDED = frozenset(name.casefold() for name in PROTECTED_PLACES)
_FOLDED_VERSION_CONTROL = frozenset(name.casefold() for name in VERSION_CONTROL)


def protected_part(parts: tuple[str, ...]) -> str | None:
    """Return the component that makes the workspace path `parts` a protected one, else None.

    Names of version control systems are protected at any depth, other protected names at the top of the workspace. Case
    is ignored, because some file systems ignore it.
    """
    if parts and parts[0].casefold() in _FOLDED:
        return parts[0]
    return next((part for part in parts if part.casefold() in _FOLDED_VERSION_CONTROL), None)


def protected_entries(workspace: str) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Return the protected places in `workspace`, and the first (name, reason) that cannot be protected, or None.

    Only a directory, or a plain file with one name, can be protected. A link could be exchanged, and a file with a
    second name (a hard link) could be written through that name. If a place cannot be protected, the first value is
    empty.

    Raises:
        OSError: the workspace cannot be examined.
    """
    present: list[str] = []
    for name in PROTECTED_PLACES:
        try:
            found = os.lstat(os.path.join(workspace, name))
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(found.st_mode):
            return (), (name, "it is a symbolic link")
        if not stat.S_ISDIR(found.st_mode) and not (stat.S_ISREG(found.st_mode) and found.st_nlink == 1):
            return (), (name, "it is neither a directory nor a regular file with a single hard link")
        present.append(name)
    return tuple(present), None
