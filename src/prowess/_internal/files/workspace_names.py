"""The names of a workspace: what an absolute path into it means, to tools and to policies alike."""

from __future__ import annotations

import os

SANDBOX_NAME = "/workspace"  # what scripts and models call it, whatever it is called on this machine


def relative_to_workspace(path: str, *roots: str) -> str | None:
    """Return what an absolute path means relative to the workspace; None if it names a place outside.

    `roots` are the names of the workspace on this machine. They come before `SANDBOX_NAME`: a workspace may lie below
    a directory of that name. The rest of the path may still climb out with `..`.
    """
    for name in (*roots, SANDBOX_NAME):
        prefix = name.rstrip("/") + "/"
        if path == name or path.startswith(prefix):
            return path[len(prefix) :].lstrip("/") or "."
    return None


def ignores_case(directory: str) -> bool:
    """Tell whether names below this directory mean the same in capitals, as they do by default on macOS and Windows.

    It is found out by naming the directory itself in the other case; a directory whose name has no letters counts as
    its parent does.
    """
    above, name = os.path.split(os.path.abspath(directory))
    if not name:
        return os.path.normcase("A") == "a"
    if (other := name.swapcase()) == name:
        return ignores_case(above)
    try:
        return os.path.samefile(directory, os.path.join(above, other))
    except (OSError, ValueError):
        return False
