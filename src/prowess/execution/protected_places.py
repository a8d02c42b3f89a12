"""What lies at the top of a workspace and is obeyed outside of every sandbox: settings and programs of other tools.

A script that may write to the workspace could put a program there and wait for somebody else to run it: a hook of the
version control system, a server or a skill that an agent loads, a task of an editor, a start-up file of a shell. Such
places stay read-only, whole and by their first component: below a directory that can be renamed nothing is protected.
"""

from __future__ import annotations

import os
import stat
from typing import Final

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
