"""The inventory of an enrolled machine: each user's copies of skills, as `prowess inventory` of that user lists them.

The service of root reads no file of a user itself: a process with the rights of that user alone does, so links and
pipes in a home reach nothing else.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import threading
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct
from msgspec.json import decode

from prowess.governance.machine.reports import ReportedCopy  # noqa: TC001 -- decoding needs it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FIRST_USER, _NOBODY = 1000, 65534
_MOST_USERS, _MOST_COPIES = 200, 10_000
_MOST_BYTES = 16 * 1024 * 1024
_SECONDS = 120.0
_ENTERPRISE = "enterprise"


class Inventory(Struct, frozen=True, kw_only=True):
    """The document of `prowess inventory --json` without a store."""

    copies: tuple[ReportedCopy, ...]


class InventoryKeeper:
    """Looks every `seconds`, in a thread, and soon after `look_soon`. `copies` is None before the first look.

    `command` runs `prowess inventory --json` of the user of its process. `changed` is called if there are other copies.
    """

    def __init__(self, command: Sequence[str], seconds: float, changed: Callable[[], None]) -> None:
        self.copies: tuple[ReportedCopy, ...] | None = None
        self._command, self._seconds, self._changed = tuple(command), seconds, changed
        self._is_woken, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="prowess-inventory", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def look_soon(self) -> None:
        """Look again: skills were deployed, or another bundle holds."""
        self._is_woken.set()

    def close(self) -> None:
        """End the thread after a look that has begun."""
        self._ended.set()
        self._is_woken.set()
        self._thread.join(_SECONDS)

    def _run(self) -> None:
        while not self._ended.is_set():
            copies = tuple(self._found())[:_MOST_COPIES]
            if copies != self.copies:
                self.copies = copies
                self._changed()
            self._is_woken.wait(self._seconds)
            self._is_woken.clear()
            self._ended.wait(1.0)  # several changes at once need one look

    def _found(self) -> Iterator[ReportedCopy]:
        for number, user in enumerate(_users()):
            if self._ended.is_set():
                return
            for copy in self._of(user):
                if number == 0 or copy.layer != _ENTERPRISE:  # every user has those of the machine
                    yield copy

    def _of(self, user: pwd.struct_passwd) -> tuple[ReportedCopy, ...]:
        """Return the copies of one user; none if they cannot be listed."""
        known = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TZ")}
        try:
            ran = subprocess.run(
                self._command,
                check=True,
                capture_output=True,
                timeout=_SECONDS,
                cwd="/",
                env={**known, "HOME": user.pw_dir, "USER": user.pw_name},
                user=user.pw_uid,
                group=user.pw_gid,
                extra_groups=[],
            )
            return decode(ran.stdout[:_MOST_BYTES], type=Inventory).copies
        except (OSError, subprocess.SubprocessError, DecodeError, ValueError):
            return ()


def _users() -> list[pwd.struct_passwd]:
    """Return root, whose process has the machine's skills, and the people who have a home here."""
    found = {user.pw_uid: user for user in pwd.getpwall() if _FIRST_USER <= user.pw_uid < _NOBODY}
    people = [user for _, user in sorted(found.items()) if os.path.isdir(user.pw_dir)]
    return [pwd.getpwuid(0), *people[:_MOST_USERS]]
