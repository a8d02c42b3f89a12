"""`SkillChange`: one difference between two states of a catalog, and the comparison that finds them."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.file_mark import last_change, settled_before
from prowess._internal.files.open_flags import READ

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog.entry import SkillEntry

Event = Literal["removed", "changed", "added"]
_ORDER: tuple[Event, ...] = ("removed", "changed", "added")


class SkillChange(Struct, frozen=True, kw_only=True):
    """One skill in use that was added, changed or removed.

    `location` is the absolute path of its SKILL.md. `digest` (`sha256:…`) is that of SKILL.md: of the new contents, or,
    for a removed skill, of the last contents that were seen. It is None if the contents of a removed skill were never
    read. A skill is changed if the digest of its SKILL.md changed; other files of a skill do not count.
    """

    event: Event
    name: str
    location: str
    digest: str | None


class SkillStates:
    """The skills in use and the digests of their files, as of the last comparison.

    The digests of `entries` are read at once. A file that was changed since it was listed has no digest yet, so that
    the next comparison finds the change.
    """

    def __init__(self, entries: Sequence[SkillEntry]) -> None:
        self._digests: dict[SkillEntry, str | None] = {}
        self._unsettled: set[SkillEntry] = set()
        for entry in entries:
            digest, found = self._read(entry)
            self._digests[entry] = digest if found is not None and entry.lists(found) else None

    @property
    def are_settled(self) -> bool:
        """Whether `stat` is certain to show every later edit. If not, compare again after two seconds."""
        return not self._unsettled

    def update(self, entries: Sequence[SkillEntry]) -> tuple[SkillChange, ...]:
        """Replace the state by `entries`; return the differences, sorted by name, removals first.

        Unchanged skills must be the same objects as before, so only the files of the others are read.
        """
        before, unsettled = self._digests, self._unsettled
        self._digests, self._unsettled = {}, set()
        gone = before.keys() - set(entries)
        replaced = {(entry.name, entry.location): before[entry] for entry in gone}
        changes: list[SkillChange] = []
        for entry in entries:
            if entry in before and entry not in unsettled:
                self._digests[entry] = before[entry]
                continue
            place = (entry.name, entry.location)
            is_new = entry not in before and place not in replaced
            old = before[entry] if entry in before else replaced.pop(place, None)
            digest, found = self._read(entry)
            if found is None:  # deleted or exchanged since it was listed; the next comparison finds what became of it
                self._digests[entry] = old
                self._unsettled.add(entry)
                if is_new:
                    del self._digests[entry]
                continue
            self._digests[entry] = digest
            if is_new or digest != old:
                changes.append(_change("added" if is_new else "changed", place, digest))
        changes += [_change("removed", place, digest) for place, digest in replaced.items()]
        return tuple(sorted(changes, key=lambda one: (one.name, _ORDER.index(one.event), one.location)))

    def _read(self, entry: SkillEntry) -> tuple[str | None, os.stat_result | None]:
        """Return the digest of SKILL.md and the `stat` result of the bytes read; both None if it cannot be read.

        `entry.document_digest` is kept as long as `stat` shows no change, so it cannot be used for a file that was
        changed in the last two seconds.
        """
        try:
            with open(os.open(entry.location, READ), "rb") as file:
                before = os.fstat(file.fileno())
                digest = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
        except OSError:
            self._unsettled.add(entry)
            return None, None
        if last_change(before) > settled_before():
            self._unsettled.add(entry)
        return digest, before


def _change(event: Event, place: tuple[str, str], digest: str | None) -> SkillChange:
    return SkillChange(event=event, name=place[0], location=place[1], digest=digest)
