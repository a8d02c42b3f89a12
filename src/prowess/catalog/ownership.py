"""Ownership checks: skills of a project are used only if no other user could have created them.

A user who can create `.git` in a parent directory, for example a shared one, makes every directory below it part of
their own project (CVE-2022-24765 in git). So a project and its folders of skills must belong to this user or to root,
and must not be writable by everybody. These directories may be writable by a group, because a group is set up on
purpose.
"""

from __future__ import annotations

import os
import stat

# The client's own directory, the neutral one, and the one that most existing skills use.
SKILL_FOLDERS = (".prowess/skills", ".agents/skills", ".claude/skills")
_ROOT = 0


def stranger(path: str) -> str | None:
    """Return why another user could change `path` or its target; None if no other user can or `path` is missing."""
    if not hasattr(os, "geteuid"):
        return None  # Windows uses access lists, which modes do not show
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
    """Return the result of `stranger` for a project: its directory, its `.git`, and its folders of skills."""
    return (
        stranger(root)
        or stranger(f"{root}/.git")
        or next((why for folder in SKILL_FOLDERS if (why := stranger_in_folder(f"{root}/{folder}"))), None)
    )


def stranger_in_folder(folder: str) -> str | None:
    """Return the result of `stranger` for a folder of skills, the directory above it and its entries, or None."""
    if not os.path.isdir(folder):
        return None
    if (why := stranger(os.path.dirname(folder)) or stranger(folder)) is not None:
        return why
    try:
        names = sorted(os.listdir(folder))
    except OSError as fault:
        return f"{folder} cannot be read ({os.strerror(fault.errno or 0)})"
    return next((why for name in names if (why := stranger(f"{folder}/{name}"))), None)
