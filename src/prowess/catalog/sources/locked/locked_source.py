"""One skill that a lock names: the source of its catalog entry, and the record that its files are compared with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.catalog.faults import fault
from prowess.catalog.layers import Layer
from prowess.errors import SkillParseError
from prowess.lockfile.places import stored_signers

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeReading
    from prowess.lockfile import LockedSkill

RULE = "catalog.locked"


class LockedSource:
    """The source of one locked skill, whose directory `root` is its own tree of the store.

    `blocks` are those of the lock that name the tree, the one that was installed last first, and `labels` those of
    their packages. `lock` is the path of the lock, `project` the real path of its project, or None for the lock of the
    person.
    """

    __slots__ = ("blocks", "labels", "lock", "project", "root")
    layer = Layer.PLUGIN
    live = False

    def __init__(
        self, blocks: tuple[LockedSkill, ...], labels: tuple[str, ...], root: str, *, lock: str, project: str | None
    ) -> None:
        self.blocks = blocks
        self.labels = labels
        self.root = root
        self.lock = lock
        self.project = project

    @property
    def block(self) -> LockedSkill:
        """The block that decides: the one that was installed last."""
        return self.blocks[0]

    @property
    def label(self) -> str:
        """The label of the package that was installed last."""
        return self.labels[0]

    @property
    def repair(self) -> str:
        """The command that puts the tree into the store again."""
        return "prowess install --scope personal" if self.project is None else "prowess install"

    @property
    def named(self) -> str:
        """The directory of the skill."""
        return self.root

    @property
    def version(self) -> str | None:
        """The version in the lock, or None."""
        return self.block.version

    @property
    def as_locked(self) -> LockedSource:
        """This object, by which an entry tells a locked skill from others."""
        return self

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions in the lock."""
        return tuple({block.version: None for block in self.blocks if block.version is not None})

    @property
    def recorded(self) -> LockedSource:
        """This object: `compared` compares the files."""
        return self

    @property
    def shown(self) -> str:
        """The package and version for messages."""
        return f"{self.label} {self.block.version or ''}".rstrip()

    @property
    def signer(self) -> str | None:
        """The signer in the lock, if the signature was verified when the skill came into the store."""
        return self.block.signer if self.block.signer in stored_signers(self.root) else None

    @property
    def signed(self) -> str:
        """Who signed the skill, for messages."""
        if self.block.signer is not None and self.signer is None:
            return f"the signer in the lock was not verified, so run `{self.repair}`"
        return f"signed by {self.block.signer}" if self.block.signer else "unsigned"

    def fault_of(self, reading: TreeReading) -> str | None:
        """Return why the files that were read are not those of the lock, or None."""
        manifest = reading.manifest
        if manifest.obstacles:
            return f"{manifest.obstacles[0]} is a link, or not a regular file that can be read"
        if manifest.digest != self.block.tree:
            return f"its files in the store are not those that {os.path.basename(self.lock)} names"
        return None

    def compared(self, directory: str, reading: TreeReading) -> TreeReading:
        """Return `reading` if it has exactly the files that the lock names.

        Raises:
            SkillParseError: the digest of the tree is another one, or the tree has none.
        """
        if (problem := self.fault_of(reading)) is not None:
            message = f"{problem}; run `{self.repair}`"
            found = fault(RULE, directory, message, skill=self.block.name)
            raise SkillParseError(message, found.location, (found,))
        return replace(reading, manifest=replace(reading.manifest, is_recorded=True))
