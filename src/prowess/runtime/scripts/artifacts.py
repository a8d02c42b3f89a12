"""Files that scripts left behind, kept for as long as their session: `<root>/<session>/<run>/<name>`.

A run is an identifier that sorts by time, so the newest file of a name is found first. Directories are private and are
removed when the session is closed or has expired. What a killed process left is removed, by its age, by the first
session that puts something beside it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.places import ensure_private_directory
from prowess._internal.uuid7 import uuid7
from prowess.errors import ResourceNotFoundError
from prowess.execution.request import ExecLimits
from prowess.runtime.files.skill_files import nearest, read_whole, verified

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.runtime.files.skill_files import VerifiedFile


_MAX_BYTES = ExecLimits().out_bytes  # what a script can leave can be read
_RUN = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
ORPHANED_SECONDS = 7 * 86_400.0  # a session ends after a day without a call, unless its host chose otherwise


def _holds_runs_alone(directory: str) -> bool:
    """Tell whether everything in `directory` is named as runs are: a root that a host chose may hold other things."""
    names = os.listdir(directory)
    return bool(names) and all(re.fullmatch(_RUN, name) for name in names)


class Artifacts:
    """What the scripts of one session left. Blocking; `root` is shared with other sessions and may not exist yet."""

    def __init__(self, root: str, session_id: str) -> None:
        self._root, self._session_id = root, session_id
        self._temporary: str | None = None
        self._swept = False

    def new_run(self) -> str:
        """Return a directory for the next run; it is made when something is put there.

        Where the root cannot be written (a read-only home), a temporary directory takes its place.
        """
        try:
            ensure_private_directory(self._own())
        except OSError:
            # Imported here, not at the top: few homes cannot be written.
            import tempfile

            self._temporary = tempfile.mkdtemp(prefix="prowess-artifacts-")
            ensure_private_directory(self._own())
        if not self._swept:
            self._swept = True
            self._sweep()
        return os.path.join(self._own(), uuid7())

    def read(self, name: str) -> VerifiedFile:
        """Read an artifact by `<name>`, from the newest run that has it, or by `<run>/<name>`.

        Raises:
            UnsafePathError: the name could mean another place.
            ResourceNotFoundError: there is none of this name; with the nearest names.
            LimitExceededError: over 32 MiB, more than a script can leave.
        """
        asked = "/".join(check_relative(name))
        with contextlib.suppress(OSError):
            os.utime(self._own())  # in use: no orphan
        for path in (*(f"{run}/{asked}" for run in self._runs()), asked):
            # A missing directory and a missing file mean the same here.
            with contextlib.suppress(OSError), ContainedRoot(self._own()) as root, root.open(path) as file:
                return verified(path, read_whole(file, _MAX_BYTES))
        known = dict.fromkeys(path.partition("/")[2] for path in self.names())
        raise ResourceNotFoundError(None, name, nearest(name, known))

    def names(self) -> Iterator[str]:
        """Yield every artifact as `<run>/<name>`, the newest run first."""
        for run in self._runs():
            top = os.path.join(self._own(), run)
            for directory, below, files in os.walk(top):
                below.sort()
                prefix = os.path.relpath(directory, self._own()).replace(os.sep, "/")
                yield from (f"{prefix}/{file}" for file in sorted(files))

    def remove(self, session_ids: Iterable[str]) -> None:
        """Delete what these sessions left; nothing there is no fault."""
        for session_id in session_ids:
            # Ids come from a store: only a plain name can be a directory of ours.
            if session_id and "/" not in session_id and session_id not in (".", ".."):
                _remove_tree(os.path.join(self._root, session_id))
            if session_id == self._session_id and self._temporary is not None:
                _remove_tree(self._temporary)
                self._temporary = None

    def _sweep(self) -> None:
        now = time.time()
        with contextlib.suppress(OSError), os.scandir(self._root) as found:
            for entry in found:
                # A run makes a new directory in that of its session, so this is the time of the last run or read.
                unused = now - entry.stat(follow_symlinks=False).st_mtime
                if entry.name != self._session_id and unused > ORPHANED_SECONDS and _holds_runs_alone(entry.path):
                    _remove_tree(entry.path)

    def _own(self) -> str:
        return os.path.join(self._temporary or self._root, self._session_id)

    def _runs(self) -> list[str]:
        try:
            return sorted(os.listdir(self._own()), reverse=True)
        except OSError:
            return []


def _remove_tree(path: str) -> None:
    # Imported here, not at the top: few sessions remove what scripts left, and it brings the compression modules.
    import shutil

    shutil.rmtree(path, ignore_errors=True)
