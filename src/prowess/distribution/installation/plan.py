"""What a change of a lock would do to each skill. Pure: nothing is read or written here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from prowess.errors import DistributionError
from prowess.lockfile import LockedSkill, Lockfile, render_lock

if TYPE_CHECKING:
    from collections.abc import Iterable

Action = Literal["install", "update", "keep", "remove"]
Acceptance = Literal["major", "tools", "scripts", "permissions", "signer", "source"]  # see `consent`
ACCEPTANCES: tuple[Acceptance, ...] = get_args(Acceptance)


class PlannedSkill(Struct, frozen=True, kw_only=True):
    """What happens to one skill. `before` is None if it is new, `after` is None if it is removed."""

    action: Action
    before: LockedSkill | None
    after: LockedSkill | None

    @property
    def skill(self) -> LockedSkill:
        """The skill as it is after the change, or as it was if it is removed."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 -- a change has one of them
        return found


class InstallPlan(Struct, frozen=True, kw_only=True):
    """A change from the lock with the text `former` (None: there is none) to `lock`, whose text is `text`."""

    former: bytes | None
    lock: Lockfile
    text: bytes
    changes: tuple[PlannedSkill, ...]

    @property
    def changes_lock(self) -> bool:
        """Whether the text of the lock changes. A missing lock and an empty one are equal."""
        return self.text != (render_lock(Lockfile()) if self.former is None else self.former)


def plan_change(
    former: bytes | None, before: Lockfile, after: Lockfile, missing: Iterable[LockedSkill] = ()
) -> InstallPlan:
    """Compare two locks. `missing` are skills of `after` that are not in the store yet.

    Raises:
        DistributionError: `after` has a value that a lock cannot have, because a source states it.
    """
    absent = {skill.key for skill in missing}
    old = {skill.key: skill for skill in before.skills}
    new = {skill.key: skill for skill in after.skills}
    keys = sorted(old.keys() | new.keys())
    changes = tuple(_change(old.get(key), new.get(key), absent=key in absent) for key in keys)
    try:
        text = render_lock(after)
    except ValueError as fault:
        raise DistributionError(f"{fault}; nothing was changed") from None
    return InstallPlan(former=former, lock=after, text=text, changes=changes)


def _change(before: LockedSkill | None, after: LockedSkill | None, *, absent: bool) -> PlannedSkill:
    action: Action = "keep"
    if after is None:
        action = "remove"
    elif before is None:
        action = "install"
    elif before.tree != after.tree or before.version != after.version:
        action = "update"
    elif absent:
        action = "install"
    return PlannedSkill(action=action, before=before, after=after)
