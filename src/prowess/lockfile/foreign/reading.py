"""Reads a lock of another tool. Its file name tells the tool; a file of another name is not guessed."""

from __future__ import annotations

import os

from prowess.lockfile.foreign import apm_lock, harness_lock, oci_lock, toolhive_lock
from prowess.lockfile.foreign.entries import ForeignLock, refuse
from prowess.lockfile.foreign.skills_locks import PROJECT_LOCK, USER_LOCK, read_skills_lock

FORMATS = (PROJECT_LOCK, USER_LOCK, apm_lock.LOCK, oci_lock.LOCK, toolhive_lock.LOCK, harness_lock.LOCK)


def read_foreign_lock(data: bytes, path: str) -> ForeignLock:
    """Read the lock of another tool, whose format is known by the name of `path`.

    Raises:
        LockfileError: the name is not known, or the file is not in that format.
    """
    name = os.path.basename(path)
    match name:
        case "skills-lock.json" | ".skill-lock.json":
            return read_skills_lock(data, path, name)
        case apm_lock.LOCK:
            return apm_lock.read_apm_lock(data, path)
        case oci_lock.LOCK:
            return oci_lock.read_oci_lock(data, path)
        case toolhive_lock.LOCK:
            return toolhive_lock.read_toolhive_lock(data, path)
        case harness_lock.LOCK:
            return harness_lock.read_harness_lock(data, path)
        case _:
            return refuse(
                path, f"the name of the file tells no tool; name it {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
            )
