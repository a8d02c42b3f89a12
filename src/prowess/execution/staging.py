"""A stage is a copy of a skill whose bytes are known: what was hashed is what is run.

It lies in the cache under the digest of its content, so two skills with the same bytes share one and an edit makes a
new one. Only the regular files of the manifest are copied, each read once through a checked descriptor and compared
with its record; links, pipes and devices never get there. A stage appears by one rename, whole or not at all, and one
that does not hold what its name says (a machine that lost power) is made again.

Stages that nobody uses do not stay: they are dropped by the time of their last use and by their size together. A use is
a new time stamp on the stage's directory, given under a lock; the sweep, once a day, moves what is too old or too much
aside under the same lock and deletes it afterwards. So a process that found its stage cannot lose it to the sweep of
another, and one whose stage was moved makes it again. Whoever cannot write the cache changes nothing in it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.file_lock import locked
from prowess._internal.files.open_flags import NEW_FILE
from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import ensure_private_directory
from prowess._internal.uuid7 import uuid7
from prowess.errors import DigestChangedError, ExecutionError, UnsafePathError

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import FileRecord, TreeManifest

_CHUNK = 1 << 20
MAX_AGE_SECONDS = 30 * 86_400.0
MAX_BYTES = 1024 * 1024 * 1024
SWEEP_SECONDS = 86_400.0
_BUSY_SECONDS = 3600.0  # no run lasts longer, so what was used before that is in nobody's hands
_LEFT_SECONDS = 86_400.0  # of copies that were begun, or set aside, by a process that was killed
_WAIT_SECONDS = 1.0
_ASIDE = ".old-"
_ATTEMPTS = 3  # each one is lost only to another process that finished the same stage


class StageError(ExecutionError):
    """A skill cannot be copied, so nothing of it can be run; `directory` is the one that was tried first."""

    code = "sandbox_unavailable"
    directory: str
    hint: str
    sentence = "the cache {directory} cannot be used, nothing was run: {hint}"


def stage(root: ContainedRoot | str, manifest: TreeManifest, cache_dir: str) -> str:
    """Return a directory that holds exactly the files of `manifest`, copied from `root` if needed.

    It lies below `cache_dir`, or, where that cannot be written (a read-only home) or could be changed by another user,
    in a private temporary directory that ends with this process. Several processes may call this at once for one skill.

    Raises:
        DigestChangedError: a file is no longer what the manifest says.
        StageError: the copy cannot be written anywhere (a full disk).
    """
    name = manifest.content_digest.removeprefix("sha256:")
    home = os.path.join(cache_dir, "stages")
    try:
        ensure_private_directory(home)  # first: in somebody else's place even the right bytes are not believed
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
        _copy(root, record, target)
    os.chmod(fresh, 0o755)  # noqa: S103 -- its parent is private, and the sandbox reads it as another user


def _copy(root: ContainedRoot, record: FileRecord, target: str) -> None:
    skill = os.path.basename(root.root)
    try:
        source = root.open(record.path)
    except (FileNotFoundError, IsADirectoryError, UnsafePathError):
        raise DigestChangedError(skill, record.path) from None
    whole = hashlib.sha256()
    size = 0
    out = os.open(target, NEW_FILE, 0o600)
    try:
        with source:
            # One byte more than the record says is enough to know; a file that keeps growing must not fill the disk.
            while size <= record.size and (chunk := os.read(source.fd, min(_CHUNK, record.size + 1 - size))):
                whole.update(chunk)
                size += len(chunk)
                write_all(out, chunk)
        if size != record.size or whole.hexdigest() != record.sha256:
            raise DigestChangedError(skill, record.path)
    finally:
        os.close(out)
    os.chmod(target, 0o555 if record.executable else 0o444)


def _publish(fresh: str, final: str, manifest: TreeManifest) -> bool:
    """Move `fresh` to `final`; False where something else stood there and has been set aside for another attempt."""
    try:
        os.rename(fresh, final)
    except OSError:
        if not os.path.lexists(final):
            raise
        if _holds(final, manifest):
            return True  # another process was faster; its stage is as good
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
    """Say that the stage `name` below `home` is used now, whether it is there yet or not; sweep when that is due."""
    doomed: list[str] = []
    lock = f"{home}.lock"
    # A cache that cannot be written, or that somebody holds for long, is swept another time.
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
    """Return the names below `home` to delete."""
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
