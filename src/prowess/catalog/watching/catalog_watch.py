"""`CatalogWatch`: blocks until a catalog may have changed, and keeps the catalog up to date meanwhile.

If the system notifies, a look at the catalog follows each burst of notifications. The catalog is also looked at
periodically: seldom if the system notifies, otherwise every few seconds. The time between looks grows with the
processor time of a look, so that an idle watch of some ten thousand skills takes at most about 2 % of a core. With more
skills it takes more, so that a change is found within about half a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from prowess._internal.files.open_flags import Closing
from prowess.catalog.faults import Notice
from prowess.catalog.watching.file_systems import network_mounts, network_type
from prowess.catalog.watching.notifications import NoNotificationsError, Notifications
from prowess.catalog.watching.places import WatchedPlaces
from prowess.catalog.watching.skill_changes import SkillStates

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from prowess.catalog.catalog import Catalog
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.watching.skill_changes import SkillChange

MOST_WATCHES = 32_768  # directories; each takes about 1 KB of the kernel's memory, and 25 µs when the watch starts

_POLL_SECONDS, _POLL_REST = 5.0, 60  # least time between looks, and its least multiple of the processor time of a look
_CHECK_SECONDS, _CHECK_REST = 10.0, 120  # the same if the system notifies
_LONGEST_SECONDS, _LEAST_REST = 30.0, 10  # the time is not longer than this, unless a look takes a tenth of it
_HINT_REST = 4  # after a look for a notification: a busy directory takes at most a fifth of a core
_QUIET_SECONDS = 0.15  # a burst ends if nothing happens for this long
_BURST_SECONDS = 2.0  # or after this time
_SETTLED_SECONDS = 2.1  # after that, `stat` shows every later edit
_MOST_LOOKS = 5  # in a row, if each finds further directories to watch; the next ones follow at the usual time
_STOP_SECONDS = 0.1  # how often `stopped` is called

_log = logging.getLogger("prowess.catalog")


def never() -> bool:
    """Return False: a watch with this as `stopped` goes on for ever."""
    return False


def _log_notice(notice: Notice) -> None:
    _log.warning("%s", notice.message)


class CatalogWatch(Closing):
    """Waits for changes of one catalog. Used by one thread at a time.

    `tell` is called with each notice, at most once for each reason. By default, notices go to the log
    `prowess.catalog`.
    """

    def __init__(self, catalog: Catalog, *, tell: Callable[[Notice], object] | None = None) -> None:
        self._catalog = catalog
        self._tell = _log_notice if tell is None else tell
        self._told: set[str | None] = set()
        self._wake = threading.Event()
        self._notifications: Notifications | None = None
        self._places: WatchedPlaces | None = None
        self._has_begun = False
        self._covered = False  # whether the system notifies of changes in all places
        self._due = self._earliest = self._soon = 0.0

    def wait(self, stopped: Callable[[], bool] = never) -> bool:
        """Block until the catalog was looked at again, with or without a difference. Return False if `stopped()`.

        The first call looks at once. `stopped` is called several times per second.
        """
        if not self._rest(stopped):
            return False
        began, generation = time.monotonic(), self._catalog.generation
        cost = self._look()
        # Without notifications, only a further look shows whether a burst of changes has ended.
        while (
            generation != (generation := self._catalog.generation)
            and time.monotonic() - began < _BURST_SECONDS
            and (not self._covered or self._has_news())
            and not stopped()
        ):
            time.sleep(_QUIET_SECONDS)
            cost = self._look()
        now = time.monotonic()
        least, rest = (_CHECK_SECONDS, _CHECK_REST) if self._covered else (_POLL_SECONDS, _POLL_REST)
        self._due, self._earliest = now + max(least, _limited(cost, rest)), now + cost * _HINT_REST
        self._soon = now + max(_SETTLED_SECONDS, _limited(cost, _POLL_REST))
        return True

    def looks(self, stopped: Callable[[], bool] = never) -> Generator[None, None, None]:
        """Yield after each look at the catalog, until `stopped()`. The watch is closed when the generator is."""
        with self:
            while self.wait(stopped):
                yield

    def look_soon(self) -> None:
        """Look again after two seconds or a little more, even without a notification: a file was just changed."""
        self._due = min(self._due, self._soon)

    def close(self) -> None:
        """Stop the notifications. Their threads have ended when this returns."""
        if self._notifications is not None:
            self._notifications.close()
            self._notifications = None

    def _rest(self, stopped: Callable[[], bool]) -> bool:
        """Wait until the next look is due, or a burst of notifications that matter has ended. False if `stopped()`."""
        began = 0.0
        while not stopped():
            now = time.monotonic()
            if now >= self._due:
                return True
            ready = began and now >= self._earliest
            if self._wake.wait(_QUIET_SECONDS if ready else _STOP_SECONDS) and self._has_news():
                began = began or now
                if now - began < _BURST_SECONDS:
                    continue
            if ready:
                return True
        return False

    def _has_news(self) -> bool:
        """Whether there are new notifications that matter."""
        self._wake.clear()
        notifications, places = self._notifications, self._places
        if notifications is None or places is None:
            return False
        if notifications.fault is not None:
            self._poll_because(f"the system's notifications failed ({notifications.fault})")
            return True
        return any(map(places.matters, notifications.take()))

    def _look(self) -> float:
        """Refresh the catalog, watch what it found, and return the processor time in seconds."""
        if not self._has_begun:
            self._has_begun = True
            try:
                self._notifications = Notifications(self._wake.set)
            except NoNotificationsError as fault:
                self._poll_because(str(fault))
            else:
                self._watch()
        cost = 0.0
        for _ in range(_MOST_LOOKS):
            begun = time.thread_time()
            self._catalog.refresh()
            is_further = self._watch()
            cost = time.thread_time() - begun
            # A directory that is watched only now may have changed since it was searched.
            if not is_further:
                break
        return cost

    def _watch(self) -> bool:
        """Have the system notify of changes in all places; return whether some were not watched before."""
        notifications = self._notifications
        if notifications is None:
            return False
        self._places = places = WatchedPlaces(self._catalog)
        wanted, self._covered = list(places.in_order()), True
        if mounts := network_mounts():
            remote = {path: kind for path in wanted if (kind := network_type(path, mounts)) is not None}
            if remote:
                path, kind = next(iter(remote.items()))
                self._poll_because(f"{path} is on a network file system ({kind})", topic="network")
                wanted = [path for path in wanted if path not in remote]
        if len(wanted) > MOST_WATCHES:
            reason = f"there are {len(wanted)} directories to watch, and at most {MOST_WATCHES} are watched"
            self._poll_because(reason, topic="number")
            wanted = wanted[:MOST_WATCHES]
        try:
            return notifications.watch(wanted)
        except NoNotificationsError as fault:
            reason = "the system has no watches left for this user (raise fs.inotify.max_user_watches)"
            self._poll_because(reason if fault.is_limit else f"the system cannot notify ({fault})")
            return False

    def _poll_because(self, reason: str, *, topic: str | None = None) -> None:
        """Tell why some places are polled, once for each topic. Without a topic, all places are polled from now on."""
        self._covered = False
        if topic is None:
            self.close()
        if topic not in self._told:
            self._told.add(topic)
            which = "changes of skills" if topic is None else "changes of some skills"
            message = f"{which} are looked for about every {_POLL_SECONDS:.0f} seconds: {reason}"
            self._tell(Notice(code="watch_polls", message=message))


def _limited(cost: float, rest: int) -> float:
    """Return the seconds from a look of this cost to the next: `rest` times the cost, shortened for large catalogs."""
    return min(cost * rest, max(_LONGEST_SECONDS, cost * _LEAST_REST))


def batches_of(
    watch: CatalogWatch,
    catalog: Catalog,
    known: tuple[SkillEntry, ...],
    stopped: Callable[[], bool] = never,
) -> Generator[tuple[SkillChange, ...], None, None]:
    """Yield the changes of a catalog since its skills were `known`, one batch for each burst, until `stopped()`.

    The watch is closed when the generator is.
    """
    with watch:
        states = SkillStates(known)
        while watch.wait(stopped):
            if batch := states.update(catalog.entries()):
                yield batch
            if not states.are_settled:
                watch.look_soon()
