"""Notifications of the operating system about changed directories, through watchfiles, which is optional.

No other module imports watchfiles. Directories are watched one by one and not recursively, so that their number is
known, and links, `.git` and `node_modules` are not followed into. watchfiles cannot add a directory to a running
watcher, so later directories get a watcher of their own, until there are too many watchers and one replaces them all.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from prowess._internal.files.ancestors import ancestor_in
from prowess._internal.files.open_flags import Closing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_STEP_MS = 50  # between two looks of watchfiles for collected notifications
_MOST_WATCHERS = 3  # each takes one of the system's 128 instances of inotify per user
_ATTEMPTS = 5
_JOIN_SECONDS = 5.0


class NoNotificationsError(Exception):
    """The system cannot notify. `is_limit`: its number of watches is used up. The message is part of a sentence."""

    def __init__(self, reason: str, *, is_limit: bool = False) -> None:
        super().__init__(reason)
        self.is_limit = is_limit


class Notifications(Closing):
    """Collects notifications about directories. `wake` is called in another thread if there are new ones.

    Raises:
        NoNotificationsError: watchfiles is not installed or cannot be used.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        try:
            import watchfiles._rust_notify  # noqa: F401 -- optional, and importing it takes 90 ms
        except ImportError as fault:
            missing = "watchfiles is not installed (pip install 'prowess[watch]')"
            reason = missing if isinstance(fault, ModuleNotFoundError) else f"watchfiles cannot be imported ({fault})"
            raise NoNotificationsError(reason) from fault
        self._wake = wake
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._watchers: list[_Watcher] = []
        self.watched: set[str] = set()
        self.fault: str | None = None

    def watch(self, directories: Iterable[str]) -> bool:
        """Watch these directories and no others. Return whether one of them was not watched before.

        Directories that do not exist or cannot be read are left out.

        Raises:
            NoNotificationsError: the system cannot watch them all. Those of the last call may not be watched either.
        """
        wanted = set(directories)
        new = {path for path in wanted - self.watched if os.access(path, os.R_OK) and os.path.isdir(path)}
        superfluous = len(self.watched) - len(self.watched & wanted)
        if not new and superfluous <= len(wanted):
            return False
        if len(self._watchers) < _MOST_WATCHERS and superfluous <= len(wanted):
            self._watchers += _started(new, self._take)
            self.watched |= new
        else:
            former, self._watchers = self._watchers, []
            kept = (self.watched & wanted) | new
            try:
                # The new watcher starts before the former ones end, so that no change falls between them.
                self._watchers = _started(kept, self._take)
            finally:
                for watcher in former:
                    watcher.close()
                self.watched = kept if self._watchers else set()
        return bool(new)

    def take(self) -> set[str]:
        """Return the changed paths since the last call: directories that are watched, or entries of them.

        A directory that was moved, deleted or made again is not watched any more, nor are those below it; pass it to
        `watch` again.
        """
        with self._lock:
            paths, self._paths = self._paths, set()
        if lost := paths & self.watched:
            self.watched = {path for path in self.watched if ancestor_in(path, lost) is None}
        return paths

    def close(self) -> None:
        """Stop watching, and wait for the end of all threads."""
        for watcher in self._watchers:
            watcher.close()
        self._watchers, self.watched = [], set()

    def _take(self, paths: set[str], fault: str | None) -> None:
        with self._lock:
            self._paths |= paths
            self.fault = fault or self.fault
        self._wake()


class _Watcher(Closing):
    """One watcher of watchfiles and the thread that waits for it.

    A wait with a time limit would lose the notifications of the last moment, and would run signal handlers if it were
    in the main thread. So a thread waits without a limit.
    """

    def __init__(self, directories: list[str], take: Callable[[set[str], str | None], None]) -> None:
        from watchfiles._rust_notify import RustNotify  # Imported here: optional, as above.

        self._take = take
        self._ended = threading.Event()
        # Not with `ignore_permission_denied`: it ignores that no watches are left, too.
        self._notify = RustNotify(directories, False, False, 0, False, False)  # noqa: FBT003 -- takes no keywords
        self._thread = threading.Thread(target=self._run, name="prowess-watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                found = self._notify.watch(_STEP_MS, _STEP_MS, 0, self._ended)
            except RuntimeError as fault:
                self._take(set(), str(fault))
                return
            if isinstance(found, str):
                return
            self._take({path for _, path in found}, None)

    def close(self) -> None:
        self._ended.set()
        self._thread.join(_JOIN_SECONDS)
        self._notify.close()


def _started(directories: Iterable[str], take: Callable[[set[str], str | None], None]) -> list[_Watcher]:
    """Return one watcher of all directories that still exist, or no watcher if there is none."""
    left = sorted(directories)
    for _ in range(_ATTEMPTS):
        left = [path for path in left if _is_text(path) and os.access(path, os.R_OK) and os.path.isdir(path)]
        if not left:
            return []
        try:
            return [_Watcher(left, take)]
        except (FileNotFoundError, PermissionError):
            continue  # deleted or closed since the check above
        except (OSError, RuntimeError) as fault:
            is_limit = "limit reached" in str(fault) or "os error 28" in str(fault)
            raise NoNotificationsError(str(fault).partition(" about [")[0], is_limit=is_limit) from fault
    raise NoNotificationsError("the directories change too quickly")


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
