"""Stages: verified copies of skills in the cache, so that exactly the bytes that were hashed are run.

A stage is named by the digest of its content, so two skills with equal bytes share one stage, and an edited skill gets
a new stage. Only the regular files of the manifest are copied. Each file is read once through a checked descriptor and
compared with its manifest record. Links, pipes and devices are never copied. A stage is published by one rename, so it
is never visible in part. A stage whose content differs from its name (after a power failure, for example) is made
again.

Unused stages are deleted, by the time of their last use and by their total size. To record a use, the time stamp of the
stage's directory is set under a lock. Once a day a sweep takes the same lock, moves old or excess stages aside and
deletes them after releasing the lock. So a process that has recorded its use cannot lose its stage to the sweep of
another process. If a stage was moved aside before its use was recorded, the process makes the stage again. If the cache
cannot be written, no use is recorded and no stage is deleted.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import time
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.file_lock import locked
from prowess._internal.files.tree_digest import read_tree
from prowess._internal.files.verified_copy import copy_recorded
from prowess._internal.places import ensure_private_directory
from prowess._internal.uuid7 import uuid7
from prowess.errors import DigestChangedError, ExecutionError

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeManifest

MAX_AGE_SECONDS = 30 * 86_400.0
MAX_BYTES = 1024 * 1024 * 1024
SWEEP_SECONDS = 86_400.0
_BUSY_SECONDS = 3600.0  # a run is expected to end within this time, so an older stage is not in use
_LEFT_SECONDS = 86_400.0  # age at which an unfinished or moved copy belongs to a killed process
_WAIT_SECONDS = 1.0
_ASIDE = ".old-"
_ATTEMPTS = 3  # an attempt fails only if another process put a wrong stage at the same place


class StageError(ExecutionError):
    """A skill cannot be copied, so none of its scripts can run; `directory` is the cache that was tried first."""

    code = "sandbox_unavailable"
    directory: str
    hint: str
    sentence = "the cache {directory} cannot be used, nothing was run: {hint}"


def stage(root: ContainedRoot | str, manifest: TreeManifest, cache_dir: str) -> str:
    """Return a directory with exactly the files of `manifest`, copied from `root` if needed.

    The directory is below `cache_dir`. If `cache_dir` cannot be written (a read-only home) or another user could change
    it, the directory is in a private temporary directory that is deleted at the end of this process. Several processes
    may call this for one skill at the same time.

    Raises:
        DigestChangedError: a file differs from the manifest.
        StageError: the copy cannot be written at either place (a full disk, for example).
    """
    name = manifest.content_digest.removeprefix("sha256:")
    home = os.path.join(cache_dir, "stages")
    try:
        ensure_private_directory(home)  # first: if another user owns the directory, even matching bytes are not trusted
        note_use(home, name)
        return _staged(root, manifest, home, name)
    except OSError as fault:
        try:
            return _staged(root, manifest, _private_home(), name)
        except OSError:
            hint = f"{fault.strerror or fault}; make it writable, or free space there or in {tempfile.gettempdir()}"
            raise StageError(home, hint) from fault


@cache
def _private_home() -> str:
    home = tempfile.mkdtemp(prefix="prowess-stages-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _staged(root: ContainedRoot | str, manifest: TreeManifest, home: str, name: str) -> str:
    final = os.path.join(home, name)
    if _holds(final, manifest):
        return final
    if isinstance(root, str):
        with ContainedRoot(root) as opened:
            return _make(opened, manifest, home, final)
    return _make(root, manifest, home, final)


def _make(root: ContainedRoot, manifest: TreeManifest, home: str, final: str) -> str:
    for _ in range(_ATTEMPTS):
        fresh = tempfile.mkdtemp(prefix=".new-", dir=home)
        try:
            _copy_all(root, manifest, fresh)
            if _publish(fresh, final, manifest):
                return final
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    raise StageError(home, f"another process keeps changing {final}; delete that directory and try again")


def _copy_all(root: ContainedRoot, manifest: TreeManifest, fresh: str) -> None:
    for record in manifest.files:
        target = os.path.join(fresh, *record.path.split("/"))
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        if not copy_recorded(root, record, target, allow_hard_links=manifest.is_recorded):
            raise DigestChangedError(os.path.basename(root.root), record.path)
        os.chmod(target, 0o555 if record.executable else 0o444)
    os.chmod(fresh, 0o755)  # noqa: S103 -- the parent is private, and the sandbox reads the directory as another user


def _publish(fresh: str, final: str, manifest: TreeManifest) -> bool:
    """Move `fresh` to `final`. Return False if a wrong stage was at `final`: it is deleted, so try again."""
    try:
        os.rename(fresh, final)
    except OSError:
        if not os.path.lexists(final):
            raise
        if _holds(final, manifest):
            return True  # another process published an equal stage first
        aside = tempfile.mkdtemp(prefix=".wrong-", dir=os.path.dirname(final))
        with contextlib.suppress(FileNotFoundError):
            os.rename(final, os.path.join(aside, "stage"))
        shutil.rmtree(aside, ignore_errors=True)
        return False
    return True


def _holds(final: str, manifest: TreeManifest) -> bool:
    try:
        found = read_tree(final)
    except OSError:
        return False
    return not found.obstacles and found.files == manifest.files


class _Stage(Struct, frozen=True, kw_only=True):
    name: str
    used_at: float
    size: int


def note_use(home: str, name: str) -> None:
    """Record a use of the stage `name` below `home`, even before the stage exists; sweep if a sweep is due."""
    doomed: list[str] = []
    lock = f"{home}.lock"
    # If the cache cannot be written, or another process holds the lock for long, sweep another time.
    with contextlib.suppress(OSError), locked(lock, wait_seconds=_WAIT_SECONDS):
        with contextlib.suppress(FileNotFoundError):
            os.utime(os.path.join(home, name))
        now = time.time()
        if now - os.stat(lock).st_mtime > SWEEP_SECONDS:
            os.utime(lock)
            doomed = [_set_aside(home, stage) for stage in _too_much(home, now)]
    for path in doomed:
        shutil.rmtree(path, ignore_errors=True)


def _too_much(home: str, now: float) -> list[str]:
    """Return the names below `home` to delete: leftovers, old stages, and least recently used ones over the limit."""
    names = os.listdir(home)
    doomed = [
        name for name in names if name[0] == "." and now - os.lstat(os.path.join(home, name)).st_mtime > _LEFT_SECONDS
    ]
    stages = [
        _Stage(name=name, used_at=os.lstat(os.path.join(home, name)).st_mtime, size=_size(os.path.join(home, name)))
        for name in names
        if name[0] != "."
    ]
    total = 0
    for stage in sorted(stages, key=lambda stage: stage.used_at, reverse=True):
        total += stage.size
        age = now - stage.used_at
        if age > MAX_AGE_SECONDS or (total > MAX_BYTES and age > _BUSY_SECONDS):
            doomed.append(stage.name)
    return doomed


def _set_aside(home: str, name: str) -> str:
    aside = os.path.join(home, f"{_ASIDE}{uuid7()}")
    os.rename(os.path.join(home, name), aside)
    return aside


def _size(directory: str) -> int:
    return sum(
        os.lstat(os.path.join(parent, name)).st_size for parent, _, files in os.walk(directory) for name in files
    )
