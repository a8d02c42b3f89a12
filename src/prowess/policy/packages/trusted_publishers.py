"""Publishers that are trusted on this machine: `/etc/prowess/publishers.toml` and the user's `publishers.toml`.

The user cannot take trust away from the machine's publishers, and the machine's file cannot be changed here. A file
that another user could change is refused, because it would decide whose skills are accepted.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_lock import locked
from prowess._internal.files.toml_file import read_toml_bytes
from prowess._internal.places import (
    MACHINE_POLICY,
    PUBLISHERS_FILE,
    ensure_private_directory,
    others_can_change,
    prowess_home,
)
from prowess.errors import ConfigurationError
from prowess.signing.publishers import Publisher, parse_publishers, render_publishers, trust_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.signing.trust import Trust

MACHINE_FILE = os.path.join(os.path.dirname(MACHINE_POLICY), PUBLISHERS_FILE)


class TrustedPublisher(Struct, frozen=True, kw_only=True):
    """A publisher and the file that names it."""

    publisher: Publisher
    path: str


def publishers_path() -> str:
    """Return the path of the user's file; it may not exist."""
    return os.path.join(prowess_home(), PUBLISHERS_FILE)


def trusted_publishers(machine_file: str = MACHINE_FILE) -> tuple[TrustedPublisher, ...]:
    """Return every publisher of both files, the machine's first.

    Raises:
        ConfigurationError: a file is damaged, or another user could change it.
    """
    found: list[TrustedPublisher] = []
    for path in (machine_file, publishers_path()):
        found += [TrustedPublisher(publisher=one, path=path) for one in _read(path, is_machine=path == machine_file)]
    return tuple(found)


def trust_in_publishers(machine_file: str = MACHINE_FILE) -> Trust:
    """Return the trust in every publisher of both files. Raises ConfigurationError as `trusted_publishers`."""
    return trust_of(one.publisher for one in trusted_publishers(machine_file))


def change_publishers(change: Callable[[tuple[Publisher, ...]], tuple[Publisher, ...]]) -> bool:
    """Replace the user's publishers by the result of `change`. Return whether the file changed.

    Raises:
        ConfigurationError: the file is damaged, or another user could change it; nothing was written.
        OSError: the file cannot be written.
    """
    path = publishers_path()
    ensure_private_directory(os.path.dirname(path))
    with locked(f"{path}.lock"):
        before = _read(path, is_machine=False)
        after = change(before)
        if set(after) == set(before):
            return False
        write_atomically(path, render_publishers(after))
    return True


def _read(path: str, *, is_machine: bool) -> tuple[Publisher, ...]:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as fault:
        raise ConfigurationError((f"{path}: {fault.strerror}",)) from None
    if not stat.S_ISREG(found.st_mode):
        raise ConfigurationError((f"{path}: it is not a regular file",))
    if (weakness := others_can_change(path, is_machine=is_machine)) is not None:
        raise ConfigurationError((f"{path} is not used, because someone else could change it: {weakness}",))
    try:
        return parse_publishers(read_toml_bytes(path), path)
    except ValueError as fault:
        if isinstance(fault, ConfigurationError):
            raise
        raise ConfigurationError((str(fault),)) from None
