"""Exchange of a file, link or directory with another one: a reader finds the old one or the new one, whole.

Linux and macOS exchange two names in one step (`renameat2` with RENAME_EXCHANGE, `renamex_np` with RENAME_SWAP). On
other systems and on file systems that cannot do so, two renames take its place. If the process is killed between them,
the name is missing until the next command puts it there again.
"""

from __future__ import annotations

import errno
import os
import sys

_RENAME_EXCHANGE = 2  # linux/fs.h
_RENAME_SWAP = 2  # sys/stdio.h of macOS
_AT_FDCWD = -100
_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(draft: str, place: str) -> None:
    """Put `draft` at `place`. What was there is then at `draft`; if nothing was there, `draft` is gone.

    Both must be on one file system. Links are moved, not followed.

    Raises:
        OSError: nothing was changed. `errno.EXDEV`: they are on different file systems.
    """
    if not os.path.lexists(place):
        os.rename(draft, place)
        return
    if not _exchanged(draft, place):
        _exchange_in_two_steps(draft, place)


def _exchange_in_two_steps(draft: str, place: str) -> None:
    aside = f"{draft}.old"
    os.rename(place, aside)
    try:
        os.rename(draft, place)
    except OSError:
        os.rename(aside, place)
        raise
    os.rename(aside, draft)


def _exchanged(one: str, other: str) -> bool:
    """Exchange two names in one step. Return False if the system cannot."""
    import ctypes  # Imported here: most commands change no target.

    if os.name != "posix":  # pragma: no cover -- runs on Windows alone
        return False
    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):  # pragma: no cover -- runs on macOS alone
        failed = library.renamex_np(first, second, _RENAME_SWAP)
    elif hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), other)
