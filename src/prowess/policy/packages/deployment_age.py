"""The age of a host's deployment, for `max_age` and `too_old` of a policy: how long ago it was last verified.

`prowess sync` writes `ROOT/deployment/state.json` after each verification. It counts only if nobody but the owner of
ROOT could have written it. A deployment whose state cannot be used is too old, whatever `max_age` is.
"""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct, json

if TYPE_CHECKING:
    from prowess.policy.facts.skill_identity import SkillIdentity

OWN_FOLDER, STATE_FILE = "deployment", "state.json"  # ROOT/deployment/state.json
_RELEASES = "releases"
_MOST_SKEW = 300.0  # seconds that a time may be in the future, after the clock was set back


class _Verified(Struct, frozen=True, kw_only=True):
    verified: str


def seconds_since(verified: str) -> float:
    """Return the age of a time (ISO 8601); infinite if it is no time or is in the future."""
    try:
        age = (datetime.now(UTC) - datetime.fromisoformat(verified)).total_seconds()
    except (ValueError, TypeError):  # no time, or one without a time zone
        return inf
    return age if age >= -_MOST_SKEW else inf


def deployment_of(skill: SkillIdentity) -> str | None:
    """Return the directory ROOT of the deployment that a skill belongs to, by its place `ROOT/releases/N`, or None.

    In other layers than the enterprise layer, ROOT must also have the folder of `prowess sync`.
    """
    for path in skill.sources or ():
        above, number = os.path.split(path)
        if number.isdecimal() and os.path.basename(above) == _RELEASES:
            root = os.path.dirname(above)
            if skill.layer == "enterprise" or os.path.lexists(os.path.join(root, OWN_FOLDER)):
                return root
    return None


def too_old(root: str, max_age: int) -> str | None:
    """Return why the deployment in ROOT is too old, None if it was verified at most `max_age` seconds ago."""
    folder = os.path.join(root, OWN_FOLDER)
    path = os.path.join(folder, STATE_FILE)
    try:
        owner = os.stat(root).st_uid
        found = [os.lstat(folder), os.lstat(path)]
        if [stat.S_IFMT(each.st_mode) for each in found] != [stat.S_IFDIR, stat.S_IFREG]:
            return f"{path} is not the file of `prowess sync`"
        if any(each.st_uid != owner or each.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for each in found):
            return f"{path} could be written by others than the owner of {root}"
        verified = _verified(path, found[1].st_mtime_ns, found[1].st_ino)
    except (OSError, DecodeError) as fault:
        return f"it is not known when the deployment in {root} was last verified ({path}: {fault})"
    if seconds_since(verified) <= max_age:
        return None
    return f"the deployment in {root} was last verified {verified}, longer ago than max_age"


@lru_cache(maxsize=16)
def _verified(path: str, modified: int, inode: int) -> str:
    """Return the time in a state file. The further arguments are its version."""
    del modified, inode
    with open(path, "rb") as file:
        return json.decode(file.read(), type=_Verified).verified
