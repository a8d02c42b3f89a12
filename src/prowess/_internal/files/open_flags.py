"""Flags for opening untrusted files, without following links or blocking; and a base class for closing.

If a system lacks a flag, its value is 0. Windows lacks the flags for links and blocking; other systems lack `O_BINARY`.
"""

from __future__ import annotations

import os
from typing import Self

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

# Without O_NONBLOCK, opening a pipe would wait for a writer.
READ = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
READ_DIRECTORY = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
READ_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)  # a root may be a link
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW


class Closing:
    """Base class of context managers that call `close` at the end of the block."""

    __slots__ = ()

    def close(self) -> None:
        """Release all resources. Closing twice has no effect."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
