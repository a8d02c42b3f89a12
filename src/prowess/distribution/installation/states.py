"""Earlier states of a lock, numbered in the order in which they were present.

A lock is recorded just before it is replaced. So the newest state, the lock itself, is not recorded until something
replaces it. State 0 is the empty lock from before the first installation; it exists only if that was made here. A
rollback makes an earlier text the lock again, notes its number, and removes no state.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.places import ensure_private_directory
from prowess.errors import DistributionError
from prowess.lockfile import Lockfile, parse_lock, render_lock

if TYPE_CHECKING:
    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.scope import InstallScope

_NAME = re.compile(r"(0|[1-9][0-9]{0,8})\.lock")
_EMPTY_TEXT = render_lock(Lockfile())
_ROLLBACK = "rolled-back-to"


class LockState(Struct, frozen=True, kw_only=True):
    """One state of a lock. `is_present`: the lock has this text now. `is_recorded`: the history has this text."""

    number: int
    text: bytes
    is_present: bool = False
    is_recorded: bool = True

    @property
    def lockfile(self) -> Lockfile:
        """The content. Raises LockfileError: the recorded file was changed."""
        return parse_lock(self.text, f"state {self.number}")


def states_of(scope: InstallScope, present: bytes | None) -> tuple[LockState, ...]:
    """Return the recorded states and the present one, by number. `present` is the text of the lock, None without one.

    Raises:
        OSError: a state cannot be read.
    """
    recorded = _recorded(scope)
    now = _EMPTY_TEXT if present is None else present
    number = _number_of_rollback(scope)
    if recorded.get(number) != now:  # the last change was no rollback
        last = max(recorded, default=None)
        first = 0 if now == _EMPTY_TEXT else 1
        number = first if last is None else last if recorded[last] == now else last + 1
    texts = {**recorded, number: now}
    return tuple(
        LockState(number=one, text=texts[one], is_present=one == number, is_recorded=one in recorded)
        for one in sorted(texts)
    )


def earlier_state(states: tuple[LockState, ...], number: int | None) -> LockState:
    """Return the state to go back to: `number`, or the one before the present state.

    Raises:
        DistributionError: there is no such state.
    """
    if number is not None:
        if (found := next((state for state in states if state.number == number), None)) is not None:
            return found
        raise DistributionError(f"there is no state {number}; `prowess rollback --list` shows the states")
    present = next(place for place, state in enumerate(states) if state.is_present)
    if present == 0 and len(states) > 1:
        number = states[0].number
        raise DistributionError(f"state {number} is the first one; `prowess rollback --list` shows the later ones")
    if present == 0:
        raise DistributionError("there is no earlier state: nothing was changed here with this Prowess home")
    return states[present - 1]


def record_state(scope: InstallScope, former: bytes | None, stage: Stage, *, next_state: int | None) -> None:
    """Record the text of the lock that is about to be replaced. `next_state` is the state to which it is rolled back.

    Raises:
        OSError: the state was not recorded.
    """
    states = states_of(scope, former)
    present = next(state for state in states if state.is_present)
    last = states[-1].number
    ensure_private_directory(scope.history)
    # After a rollback, a change begins a new row of states, so the state that it replaces comes again.
    if not present.is_recorded or (next_state is None and present.number != last):
        number = last + 1 if present.is_recorded else present.number
        stage.replace_file(os.path.join(scope.history, f"{number}.lock"), present.text, 0o600)
    note = os.path.join(scope.history, _ROLLBACK)
    if next_state is not None:
        stage.replace_file(note, str(next_state).encode(), 0o600)
    elif os.path.lexists(note):
        os.unlink(note)


def is_registered(scope: InstallScope, lock: Lockfile) -> bool:
    """Whether `store prune` knows of the lock, or need not, because it names nothing."""
    return not lock.skills or os.path.lexists(scope.path_file)


def register(scope: InstallScope, stage: Stage) -> None:
    """Note the path of the lock in its history, so that `store prune` keeps what the lock names. Raises OSError."""
    if not os.path.lexists(scope.path_file):
        ensure_private_directory(scope.history)
        stage.replace_file(scope.path_file, os.fsencode(scope.lock), 0o600)


def forget_states(scope: InstallScope, keep: int, *, dry_run: bool) -> int:
    """Remove all recorded states but the latest `keep`. Return how many these are. Raises OSError."""
    numbers = sorted(_recorded(scope))
    old = numbers[: max(len(numbers) - keep, 0)]
    for number in () if dry_run else old:
        os.unlink(os.path.join(scope.history, f"{number}.lock"))
    return len(old)


def _recorded(scope: InstallScope) -> dict[int, bytes]:
    try:
        names = os.listdir(scope.history)
    except FileNotFoundError:
        return {}
    found: dict[int, bytes] = {}
    for name in names:
        if (match := _NAME.fullmatch(name)) is not None:
            with open(os.path.join(scope.history, name), "rb") as file:
                found[int(match[1])] = file.read()
    return found


def _number_of_rollback(scope: InstallScope) -> int:
    """Return the state to which the last change went back; -1 if it was no rollback."""
    try:
        with open(os.path.join(scope.history, _ROLLBACK), "rb") as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return -1
