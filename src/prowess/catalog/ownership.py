"""Whose a project is. Nobody trusts by mistake what a stranger laid in the way.

Whoever may create `.git` in a directory above, as in a shared one, makes everything below part of a project of theirs
(git learned it as CVE-2022-24765). So a project and its folders of skills belong to this user or to root, and not
everybody can write to them. A group that may write is one that somebody chose.
"""

from __future__ import annotations

import os
import stat

# The client's own directory, the neutral one, and the one that most existing skills are kept in.
SKILL_FOLDERS = (".prowess/skills", ".agents/skills", ".claude/skills")
_ROOT = 0


def stranger(path: str) -> str | None:
    """Say why `path`, and what it leads to, is not this user's or root's own; None where it is, or is not there."""
    if not hasattr(os, "geteuid"):
        return None  # Windows has access lists, which the modes do not show
    for look in (os.lstat, os.stat):
        try:
            found = look(path)
        except OSError:
            return None
        if found.st_uid not in {os.geteuid(), _ROOT}:
            return f"{path} belongs to another user (number {found.st_uid})"
        if found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode):
            return f"everybody can write to {path}; run `chmod o-w {path}`"
    return None


def stranger_in_project(root: str) -> str | None:
    """Say the same of a project: of its directory, its `.git`, and its folders of skills with what lies in them."""
    return (
        stranger(root)
        or stranger(f"{root}/.git")
        or next((why for folder in SKILL_FOLDERS if (why := stranger_in_folder(f"{root}/{folder}"))), None)
    )


def stranger_in_folder(folder: str) -> str | None:
    """Say the same of one folder of skills: of the directory above it, of itself, and of each entry."""
    if not os.path.isdir(folder):
        return None
    if (why := stranger(os.path.dirname(folder)) or stranger(folder)) is not None:
        return why
    try:
        names = sorted(os.listdir(folder))
    except OSError as fault:
        return f"{folder} cannot be read ({os.strerror(fault.errno or 0)})"
    return next((why for name in names if (why := stranger(f"{folder}/{name}"))), None)
