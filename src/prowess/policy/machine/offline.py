"""The age of the bundle of an enrolled machine: when the organisation last confirmed it, and when it expires.

Both times are the times of change of files of root, so a call needs two `stat` and reads nothing.
"""

from __future__ import annotations

import os
import time

from prowess._internal.places import BUNDLE_FOLDER, CONFIRMED_FILE, EXPIRES_FILE
from prowess.policy.machine.machine_rules import DEFAULT_MAX_OFFLINE

_SKEW = 60.0  # seconds by which a clock may be behind
_ROOT = 0
_TWO_MINUTES, _TWO_HOURS = 120, 7200  # seconds


def confirmed_at() -> float | None:
    """Return when the organisation last confirmed the bundle (seconds since the epoch); None if unknown."""
    return _time_of(CONFIRMED_FILE)


def offline_fault(max_offline: int = DEFAULT_MAX_OFFLINE) -> str | None:
    """Return why the bundle is too old to be used; None if it can be used."""
    now, confirmed = time.time(), confirmed_at()
    expires = _time_of(os.path.join(BUNDLE_FOLDER, EXPIRES_FILE))
    if expires is None or now > expires:
        return f"the bundle of this machine has expired; {_NEXT}"
    if confirmed is None or confirmed > now + _SKEW:
        return f"it is not known when the bundle of this machine was confirmed, or the clock was set back; {_NEXT}"
    if now - confirmed > max_offline:
        since = duration(now - confirmed)
        return f"this machine was cut off from its organisation for {since}, longer than max_offline; {_NEXT}"
    return None


SEE_STATUS = "`prowess machine status` shows the state; "  # that command leaves it out of what it prints
_NEXT = f"{SEE_STATUS}while `prowess machine run` runs, the bundle is renewed as soon as the server answers"


def duration(seconds: float) -> str:
    """Return a duration in seconds below two minutes, in minutes below two hours, else in hours."""
    if seconds < _TWO_MINUTES:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < _TWO_HOURS else f"{seconds / 3600:.1f} h"


def _time_of(path: str) -> float | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime if found.st_uid == _ROOT else None
