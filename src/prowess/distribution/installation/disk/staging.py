"""Private directories in which commands prepare changes, and the locks that let one command change things at a time.

Each command has a stage of its own below `PROWESS_HOME/stage`, and holds a file lock on it while it runs. A killed
command leaves its stage, whose lock is then free; the next command removes it. Whoever changes a lock, the store or a
target also holds the exclusive lock of the home and of the directory with the lock.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import sync_directory, write_new
from prowess._internal.files.file_lock import descriptor_locked, locked
from prowess._internal.files.open_flags import READ_ROOT, Closing
from prowess._internal.places import NotPrivateError, ensure_private_directory
from prowess.distribution.installation.disk.trees import remove_tree
from prowess.errors import SkillError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_SECONDS = 60.0
_OWNER = "owner"
_STAGES, _MUTEX = "stage", "store.flock"  # in the home
_ADVICE = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "; free some space, then run this again")
_ADVICE |= dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "; make it writable, then run this again")
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.EEXIST}


class Stage(Closing):
    """The private directory of one command, created when it is first needed. Closing it removes it with its content."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._path: str | None = None
        self._held = ExitStack()
        self._count = 0

    @property
    def path(self) -> str:
        """The directory. Creating it removes the stages of killed commands.

        Raises:
            StoreError: the home cannot be written, or another command does not finish.
        """
        if self._path is None:
            path = os.path.join(self.home, _STAGES, os.urandom(8).hex())
            with nothing_changed(self.home):
                ensure_private_directory(self.home)
                with _home_held(self.home):
                    _remove_orphans(self.home)
                    ensure_private_directory(path)
                    self._held.enter_context(locked(os.path.join(path, _OWNER), wait_seconds=0))
            self._path = path
        return self._path

    def close(self) -> None:
        """Remove the stage. What cannot be removed now is removed by the next command."""
        if self._path is not None:
            # Under the lock of the home: other commands look for stages of killed ones, and create theirs, under it.
            with suppress(OSError), _home_held(self.home):
                self._held.close()
                remove_tree(self._path)
                os.rmdir(os.path.dirname(self._path))  # fails if another command has a stage
            self._held.close()
            self._path = None

    def fresh(self) -> str:
        """Return the path of an entry that does not exist yet."""
        self._count += 1
        return os.path.join(self.path, str(self._count))

    def directory(self) -> str:
        """Create a new private directory. Raises OSError."""
        path = self.fresh()
        os.mkdir(path, 0o700)
        return path

    def replace_file(self, path: str, data: bytes, mode: int) -> None:
        """Replace the file at `path` in one step. The bytes are on the disk before.

        Raises:
            OSError: the file was not changed.
        """
        draft = self.fresh()
        write_new(draft, data, mode, is_draft=True)
        try:
            os.replace(draft, path)
        except OSError as fault:
            if fault.errno != errno.EXDEV:
                raise
            beside = draft_beside(path)
            with suppress(FileNotFoundError):
                os.unlink(beside)
            write_new(beside, data, mode, is_draft=True)
            os.replace(beside, path)
        sync_directory(os.path.dirname(path))


def draft_beside(path: str) -> str:
    """Return the path of the draft of a file whose directory is on another file system than the home.

    The path is always the same one, so that the next command can remove the draft of a killed one.
    """
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.draft")


@contextmanager
def exclusive(home: str, directory: str) -> Iterator[None]:
    """Let no other command change the store of `home`, or the lock and the targets of `directory`.

    Raises:
        StoreError: another command does not finish.
    """
    with ExitStack() as held:
        with nothing_changed(home):
            held.enter_context(_home_held(home))
            # Two homes may have one project, for example if two people share a directory.
            with suppress(PermissionError):
                descriptor = os.open(directory, READ_ROOT)
                held.callback(os.close, descriptor)
                with _file_locks_may_be_missing():
                    held.enter_context(descriptor_locked(descriptor, wait_seconds=WAIT_SECONDS))
        yield


@contextmanager
def _file_locks_may_be_missing() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise
    except OSError as fault:  # some network file systems lock no directories
        if fault.errno not in {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL}:
            raise


@contextmanager
def _home_held(home: str) -> Iterator[None]:
    with locked(os.path.join(home, _MUTEX), wait_seconds=WAIT_SECONDS):
        yield


def has_orphans(home: str) -> bool:
    """Whether there are stages, of running commands or of killed ones."""
    return os.path.lexists(os.path.join(home, _STAGES))


def _remove_orphans(home: str) -> None:
    stages = os.path.join(home, _STAGES)
    try:
        names = os.listdir(stages)
    except FileNotFoundError:
        return
    for name in names:
        # A stage is created and locked under the lock of the home, so one without lock has no command.
        path = os.path.join(stages, name)
        try:
            with locked(os.path.join(path, _OWNER), wait_seconds=0):
                remove_tree(path)
        except TimeoutError:
            continue  # its command is running
        except (FileNotFoundError, NotADirectoryError):
            remove_tree(path)
    with suppress(OSError):
        os.rmdir(stages)


@contextmanager
def nothing_changed(home: str, outcome: str = "nothing was changed") -> Iterator[None]:
    """Turn a fault of the file system, before anything was changed, into one sentence: what, the outcome, what next.

    `home` is the directory that is changed.
    """
    try:
        yield
    except TimeoutError as fault:
        raise StoreError(home, f"{fault}; {outcome}; try again later") from None
    except SkillError:  # a refused permission is an `OSError` too
        raise
    except NotPrivateError as fault:
        raise StoreError(home, f"{fault.strerror}; {outcome}") from fault
    except OSError as fault:
        path = fault.filename2 or fault.filename  # if a rename fails, its second path is the one that was to change
        place = f"{path}: " if path is not None and path != home else ""
        advice = _ADVICE.get(fault.errno or 0, "")
        if fault.errno in _NOT_THERE and path is not None and home.startswith(str(path)):
            advice = "; choose another directory"
        raise StoreError(home, f"{place}{fault.strerror or fault}; {outcome}{advice}") from fault
