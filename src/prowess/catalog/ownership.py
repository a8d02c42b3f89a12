"""Ownership checks: who else than the user, or an administrator, could have created or changed skills.

A user who can create `.git` in a parent directory, for example a shared one, makes every directory below it part of
their own project (CVE-2022-24765 in git). So a project and its folders of skills must belong to this user or to root,
and must not be writable by everybody. These directories may be writable by a group, because a group is set up on
purpose. The rule for enterprise skills is stricter (`places.weakness_above`, `weakness_below`).
"""

from __future__ import annotations

import os
import stat

from prowess._internal.places import LOCK_FILE, OTHERS_WRITE, owned

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


def project_root(directory: str) -> str:
    """Return the real path of the project of `directory`: the nearest directory, itself or above, that contains `.git`.

    `.git` may be a directory or, in a worktree or submodule, a file. If there is none, `directory` is its own project.
    A `.git` that another user could have made does not count.
    """
    here = start = os.path.realpath(directory)
    while not _is_project(here):
        above = os.path.dirname(here)
        if above == here:
            return start
        here = above
    return here


def _is_project(directory: str) -> bool:
    mark = os.path.join(directory, ".git")
    return os.path.lexists(mark) and stranger(directory) is None and stranger(mark) is None


def stranger_in_project(root: str) -> str | None:
    """Return the result of `stranger` for a project: its directory, its `.git`, its lock and its folders of skills."""
    return (
        stranger(root)
        or stranger(f"{root}/.git")
        or stranger(f"{root}/{LOCK_FILE}")
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


def weakness_below(directory: str, owner: int) -> str | None:
    """Return why someone other than `owner` could change a skill's files, or None. Symbolic links are not followed."""
    for parent, directories, files in os.walk(directory):
        for name in (*directories, *files):
            path = f"{parent}/{name}"
            if isinstance(found := owned(path, owner), str):
                return found
            if found.st_mode & OTHERS_WRITE and not stat.S_ISLNK(found.st_mode):
                return f"{path} can be written by its group or by others"
    return None
