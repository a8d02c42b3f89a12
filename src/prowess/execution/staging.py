"""A stage is a copy of a skill whose bytes are known: what was hashed is what is run.

It lies in the cache under the digest of its content, so two skills with the same bytes share one and an edit makes a
new one. Only the regular files of the manifest are copied, each read once through a checked descriptor and compared
with its record; links, pipes and devices never get there. A stage appears by one rename, whole or not at all, and one
that does not hold what its name says (a machine that lost power) is made again.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
from functools import cache
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import ensure_private_directory
from prowess.errors import DigestChangedError, ExecutionError, UnsafePathError
from prowess.execution.stage_cache import note_use

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import FileRecord, TreeManifest

_CHUNK = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
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
    out = os.open(target, _NEW_FILE, 0o600)
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
