"""The ledger of a worker, in the journal that all workers of a campaign share.

Each ledger holds the lock of a file that has its mark as name. So a call that does not fit into a cap can wait for
calls of other workers, and not for those of a worker that died. A mark is never used again: a file without a lock, or
no file, is a ledger that ended.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from prowess._internal.files.file_lock import locked
from prowess.evals.iterations.fence import LOCKS, OF_LEDGER
from prowess.evals.ledger.journal import JOURNAL
from prowess.evals.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.iterations.fence import Fence
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.journal import JournalHeader

_MARK = re.compile(r"[0-9a-f]{1,32}")


@contextmanager
def shared_ledger(fence: Fence, header: JournalHeader, caps: Caps) -> Iterator[Ledger]:
    """Open the journal in the folder of `fence`, which has a folder for locks.

    Raises:
        JournalError: the journal cannot be opened, or is of another campaign.
    """
    path, live = os.path.join(fence.iteration, JOURNAL), partial(is_live, fence.iteration)
    with (
        Ledger(path, header, caps, is_live=live, is_ours=fence.holds) as ledger,
        _announced(fence.iteration, ledger.mark),
    ):
        yield ledger


def is_live(iteration: str, mark: str) -> bool:
    """Return whether a worker has a ledger of this mark."""
    path = _path(iteration, mark)
    if _MARK.fullmatch(mark) is None or not os.path.exists(path):
        return False
    try:
        with locked(path, shared=True, wait_seconds=0):
            return False
    except TimeoutError:
        return True
    except OSError:
        return False


@contextmanager
def _announced(iteration: str, mark: str) -> Iterator[None]:
    path = _path(iteration, mark)
    with locked(path):
        try:
            yield
        finally:
            with suppress(OSError):
                os.unlink(path)


def _path(iteration: str, mark: str) -> str:
    return os.path.join(iteration, LOCKS, f"{mark}{OF_LEDGER}")
