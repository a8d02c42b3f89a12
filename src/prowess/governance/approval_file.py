"""Writes approvals files: statements are added, and never changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_lock import locked
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess.policy.approvals.statements import read_statements, render_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.policy.approvals.statements import VoteStatement

_PRIVATE, _FOR_EVERYBODY = 0o600, 0o644


class ApprovalFile:
    """The approvals file at `path`. `is_machine` states whether it is the machine's, which every user must read."""

    def __init__(self, path: str, *, is_machine: bool) -> None:
        self.place, self._is_machine = path, is_machine

    def statements(self) -> tuple[VoteStatement, ...]:
        """Return all statements, in their order. Raise PolicyError if the file is damaged or not trusted."""
        return read_statements(self.place, is_machine=self._is_machine).statements

    def add(self, vote: Callable[[Sequence[VoteStatement]], VoteStatement]) -> VoteStatement:
        """Add the result of `vote`, which gets the statements that are there now. No other process writes meanwhile.

        Raises:
            PolicyError: the file is damaged, or someone else could change it.
            OSError: the file cannot be written.
        """
        directory = os.path.dirname(self.place)
        if directory == prowess_home():
            ensure_private_directory(directory)
        with locked(f"{self.place}.lock"):
            before = self.statements()
            added = vote(before)
            mode = _FOR_EVERYBODY if self._is_machine else _PRIVATE
            write_atomically(self.place, render_statements((*before, added)), mode)
        return added
