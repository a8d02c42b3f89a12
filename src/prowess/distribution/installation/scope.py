"""Where an installation belongs to: a project or a person; with the place of its lock and of its history."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.places import prowess_home, working_directory
from prowess.catalog.ownership import project_root
from prowess.errors import StoreError
from prowess.lockfile import lock_path
from prowess.lockfile.places import Scope, lock_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

PERSONAL = "personal"
_DIGITS = 32
_PATH_FILE = "lock"  # in the history of a project: the path of its lock


class InstallScope(Struct, frozen=True, kw_only=True):
    """One lock and what belongs to it. `directory` has the lock; local sources are relative to it."""

    kind: Scope
    home: str
    directory: str

    @classmethod
    def find(cls, kind: Scope, directory: str | None = None) -> InstallScope:
        """Return the scope of the person, or of the project of `directory` (default: the working directory).

        Raises:
            WorkingDirectoryError: the working directory was deleted.
        """
        home = prowess_home()
        if kind == PERSONAL:
            return cls(kind=kind, home=home, directory=home)
        return cls(kind=kind, home=home, directory=project_root(directory or working_directory()))

    @property
    def lock(self) -> str:
        """The path of the lock. The file may not exist."""
        return lock_path(self.kind, self.directory)

    @property
    def history(self) -> str:
        """The directory with the earlier states of the lock and the record of its targets. It may not exist."""
        own = PERSONAL if self.kind == PERSONAL else hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:_DIGITS]
        return os.path.join(self.home, "states", own)

    @property
    def path_file(self) -> str:
        """The file in the history that has the path of the lock."""
        return os.path.join(self.history, _PATH_FILE)


def read_former(scope: InstallScope) -> bytes | None:
    """Return the text of the lock, None if there is none. Raises StoreError."""
    try:
        return lock_bytes(scope.lock)
    except OSError as fault:
        raise StoreError(scope.lock, f"{fault.strerror or fault}; nothing was changed") from fault


def known_scopes(home: str) -> Iterator[InstallScope]:
    """Yield the scope of the person and of each project from which something was installed with this home.

    Raises:
        OSError: the history cannot be read.
    """
    yield InstallScope(kind="personal", home=home, directory=home)
    states = os.path.join(home, "states")
    for name in sorted(os.listdir(states)) if os.path.isdir(states) else ():
        try:
            with open(os.path.join(states, name, _PATH_FILE), "rb") as file:
                lock = os.fsdecode(file.read())
        except FileNotFoundError:
            continue  # a command was killed before it recorded anything else
        if name != PERSONAL:
            yield InstallScope(kind="project", home=home, directory=os.path.dirname(lock))
