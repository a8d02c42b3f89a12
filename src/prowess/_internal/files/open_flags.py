"""Files and directories that others may have made: flags that follow no link and wait for nothing, and closing.

A flag that a system does not have is left out there: Windows knows no links of this kind, and alone tells text from
bytes.
"""

from __future__ import annotations

import os
from typing import Self

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

# Without O_NONBLOCK, opening a pipe would wait for somebody who writes to it.
READ = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
READ_DIRECTORY = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
READ_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)  # it may be a link
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW


class Closing:
    """A context manager that closes itself at the end."""

    __slots__ = ()

    def close(self) -> None:
        """Give up what is held; a second time does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
