"""Device nodes that a script cannot change: copies, if the current user owns the host's nodes.

A script runs with the user id of the user who started Prowess, and the owner of a node may change its mode. So scripts
started by root get copies that belong to another user. The host's nodes cannot be mounted read-only instead, because
bubblewrap then forbids their use as devices.
"""

from __future__ import annotations

import os
import stat

from prowess._internal.places import ensure_private_directory
from prowess.execution.backends.bubblewrap_options import DEVICES, NOBODY

_PLACE = "/dev/prowess"  # device nodes work below /dev, and no program reads all files there
_FOR_ALL = 0o666


def device_directory() -> str | None:
    """Return the directory of the nodes to mount; None if the script could change them. Checked for each run."""
    if all(os.stat(f"/dev/{name}").st_uid != os.geteuid() for name in DEVICES):
        return "/dev"
    try:
        ensure_private_directory(_PLACE)
        for name in DEVICES:
            if not _is_copy(f"{_PLACE}/{name}", name):
                _copy(name)
        return _PLACE if all(_is_copy(f"{_PLACE}/{name}", name) for name in DEVICES) else None
    except OSError:
        return None


def _is_copy(path: str, name: str) -> bool:
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    wanted = (stat.S_IFCHR | _FOR_ALL, os.stat(f"/dev/{name}").st_rdev, int(NOBODY))
    return (found.st_mode, found.st_rdev, found.st_uid) == wanted


def _copy(name: str) -> None:
    fresh = f"{_PLACE}/{name}-{os.getpid()}-{os.urandom(4).hex()}"
    os.mknod(fresh, stat.S_IFCHR | _FOR_ALL, os.stat(f"/dev/{name}").st_rdev)
    try:
        os.chmod(fresh, _FOR_ALL)  # regardless of the umask
        os.chown(fresh, int(NOBODY), int(NOBODY))
        os.rename(fresh, f"{_PLACE}/{name}")
    except OSError:
        os.unlink(fresh)
        raise
