"""Which directory may be a script's workspace, and what in it stays read-only because programs outside obey it.

It is never one that would hand over the machine or what agents obey. A script that may write to the workspace could put
a program there and wait for somebody else to run it: a hook of the version control system, a server or a skill that an
agent loads, a task of an editor, a start-up file of a shell. Such places at the top of a workspace stay read-only,
whole and by their first component: below a directory that can be renamed nothing is protected.
"""

from __future__ import annotations

import os
import stat
from typing import Final

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
    """Return the component that makes the path `parts`, relative to a workspace, a protected one; None for others.

    The names count at the top of the workspace, those of version control systems at any depth; case does not count,
    for some file systems ignore it.
    """
    if parts and parts[0].casefold() in _FOLDED:
        return parts[0]
    return next((part for part in parts if part.casefold() in _FOLDED_VERSION_CONTROL), None)


def protected_entries(workspace: str) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Return the protected places that `workspace` has, and the first (name, reason) that cannot be protected.

    Only a directory, and a plain file with one name, can be kept as it is: a link could be exchanged, and a second
    name written to.

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
            return (), (name, "it is neither a directory nor a plain file with one name")
        present.append(name)
    return tuple(present), None
