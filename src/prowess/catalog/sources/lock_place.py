"""The place of one lock: of a person or of a project."""

from __future__ import annotations

import os

from prowess._internal.places import LOCK_FILE, prowess_home


class LockPlace:
    """The lock at `path`, of `project`, the real path of a project's root, or without it of this person."""

    __slots__ = ("path", "project")

    def __init__(self, project: str | None) -> None:
        self.project = project
        self.path = os.path.join(prowess_home() if project is None else project, LOCK_FILE)

    @property
    def repair(self) -> str:
        """The command that puts the skills of the lock into the store."""
        return "prowess install --scope personal" if self.project is None else "prowess install"
