"""One skill that a lock names: the source of its catalog entry, and the record that its files are compared with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.catalog.faults import fault
from prowess.catalog.layers import RESERVED, Layer
from prowess.errors import SkillParseError

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeReading
    from prowess.catalog.sources.lock_place import LockPlace
    from prowess.lockfile import LockedSkill

RULE = "catalog.locked"


class LockedSource:
    """The source of one locked skill, whose directory `root` is its own tree of the store.

    `locked` is the block of the lock. `others` are further blocks that name the same tree, installed before it from
    other packages.
    """

    __slots__ = ("_place", "label", "locked", "others", "root")
    layer = Layer.PLUGIN
    live = False

    def __init__(
        self,
        locked: LockedSkill,
        root: str,
        label: str,
        *,
        place: LockPlace,
        others: tuple[LockedSkill, ...] = (),
    ) -> None:
        self.locked = locked
        self.root = root
        self.label = label
        self.others = others
        self._place = place

    @property
    def lock(self) -> str:
        """The path of the lock."""
        return self._place.path

    @property
    def project(self) -> str | None:
        """The real path of the project that has the lock, or None for the lock of the person."""
        return self._place.project

    @property
    def repair(self) -> str:
        """The command that puts the tree into the store again."""
        return self._place.repair

    @property
    def named(self) -> str:
        """The directory of the skill."""
        return self.root

    @property
    def version(self) -> str | None:
        """The version in the lock, or None."""
        return self.locked.version

    @property
    def as_locked(self) -> LockedSource:
        """This object, by which an entry tells a locked skill from others."""
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The label, and those of `others`."""
        return (self.label, *(label_of(other) for other in self.others))

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions in the lock."""
        return tuple({block.version: None for block in (self.locked, *self.others) if block.version is not None})

    @property
    def recorded(self) -> LockedSource:
        """This object: `compared` compares the files."""
        return self

    @property
    def shown(self) -> str:
        """The package and version for messages."""
        return f"{self.label} {self.locked.version or ''}".rstrip()

    @property
    def signed(self) -> str:
        """Who signed the skill, for messages."""
        return f"signed by {self.locked.signer}" if self.locked.signer else "unsigned"

    def fault_of(self, reading: TreeReading) -> str | None:
        """Return why the files that were read are not those of the lock, or None."""
        manifest = reading.manifest
        if manifest.obstacles:
            return f"{manifest.obstacles[0]} is a link, or not a regular file that can be read"
        if manifest.digest != self.locked.tree:
            return f"its files in the store are not those that {os.path.basename(self.lock)} names"
        return None

    def compared(self, directory: str, reading: TreeReading) -> TreeReading:
        """Return `reading` if it has exactly the files that the lock names.

        Raises:
            SkillParseError: the digest of the tree is another one, or the tree has none.
        """
        if (problem := self.fault_of(reading)) is not None:
            message = f"{problem}; run `{self.repair}`"
            found = fault(RULE, directory, message, skill=self.locked.name)
            raise SkillParseError(message, found.location, (found,))
        return replace(reading, manifest=replace(reading.manifest, is_recorded=True))


def label_of(locked: LockedSkill) -> str:
    """Return the label of a locked skill: its package, or its source if the package has no name."""
    label = (locked.package or locked.source).removeprefix("@")  # `name@label` has one `@`
    return f"lock:{label}" if label.lower() in RESERVED else label
