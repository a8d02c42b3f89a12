"""The store of verified skills: `PROWESS_HOME/store/<tree>/<name>/`, read-only, one directory for each content.

A skill gets into the store by one rename of a whole tree, and leaves it by one rename. So the store never holds a part
of a skill, also after a command was killed.

Signatures that a source had beside a skill (a signed tag, a bundle in a registry) are in `<tree>/.signatures`, so that
they can be verified again offline. No digest covers this file, and what it has is judged like any other signature.
Whose signatures were verified when the skill was fetched is in `<tree>/.signers`: the signer in a lock counts only
if it is there, because a lock comes with its project.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

import msgspec

from prowess._internal.files.open_flags import NEW_FILE
from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import make_directory, store_home
from prowess.distribution.installation.disk.exchange import exchange
from prowess.distribution.installation.disk.trees import READ_ONLY, make_read_only_below, remove_tree
from prowess.errors import IntegrityError, LimitExceededError
from prowess.lockfile import stored_tree
from prowess.lockfile.places import SIGNERS, signers_file, stored_signers

if TYPE_CHECKING:
    from collections.abc import Collection

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.distribution.installation.disk.staging import Stage

_LISTING = ".files"  # beside the skill: the lines of which the digest is made
SIGNATURES = ".signatures"  # beside the skill: JSON, `[{"kind": …, "data": base64}]`
NO_DIGEST = "sha256:none"  # of a tree with links or special files, which has no digest


class SkillStore:
    """The store of one home."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.root = store_home(home)

    def path(self, tree: str, name: str) -> str:
        """Return the directory of a skill, which may not be in the store."""
        return stored_tree(self.home, tree, name)

    def tree_of(self, path: str) -> str | None:
        """Return the tree to which a path in the store belongs, or None. The text is compared, nothing is read."""
        if not path.startswith(f"{self.root}{os.sep}"):
            return None
        parts = path[len(self.root) + 1 :].split(os.sep)
        return parts[0].replace("-", ":", 1) if len(parts) == 2 else None  # noqa: PLR2004 -- <tree>/<name>

    def has(self, tree: str, name: str) -> bool:
        """Whether the skill is in the store, and every byte is the recorded one. Hashes its files."""
        return tree_at(self.path(tree, name)) == tree

    def has_copy(self, staged: TreeManifest, name: str) -> bool:
        """Whether the skill is in the store with the signature of the staged copy, which the digest does not cover.

        A stored signature is not removed for a copy without one.
        """
        tree = staged.content_digest
        if not self.has(tree, name):
            return False
        return staged.signature is None or staged.signature == read_tree(self.path(tree, name)).signature

    def differing(self, tree: str, name: str, path: str) -> tuple[str, ...]:
        """Return the files of the copy at `path` that differ from the skill as it was stored, sorted, with `/`.

        Empty if the store has no listing of the files any more.
        """
        recorded = self._listing(tree, name)
        if recorded is None:
            return ()
        found = read_tree(path)
        lines = found.listing.splitlines()
        changed = {line.partition(b"\0")[0].decode() for line in {*recorded} ^ {*lines}}
        return tuple(sorted({*changed, *found.obstacles}))

    def _listing(self, tree: str, name: str) -> list[bytes] | None:
        """Return the lines of which the digest is made. Their own hash is the digest, so they need not be trusted."""
        try:
            with open(os.path.join(os.path.dirname(self.path(tree, name)), _LISTING), "rb") as file:
                listing = file.read()
        except OSError:
            return None
        return listing.splitlines() if f"sha256:{hashlib.sha256(listing).hexdigest()}" == tree else None

    def add(self, directory: str, manifest: TreeManifest, name: str, stage: Stage) -> None:
        """Move the staged files of a manifest into the store. A damaged copy is replaced; a good one is kept.

        The files were hashed when they were written, and are hashed again where they are in the store.

        Raises:
            IntegrityError: the files are not those of the manifest. They were removed from the store.
            OSError: the store was not changed.
        """
        tree = manifest.content_digest
        place = self.path(tree, name)
        if self.has_copy(manifest, name):
            _finish(place)
            return
        make_read_only_below(directory)
        above = os.path.dirname(place)
        if os.path.lexists(above):
            os.chmod(above, 0o700)
            if os.path.isdir(place) and not os.path.islink(place):
                os.chmod(place, 0o700)  # a directory without write access cannot be moved
            exchange(directory, place)
            remove_tree(directory)
        else:
            make_directory(self.root)
            wrapper = stage.directory()
            os.rename(directory, os.path.join(wrapper, name))
            os.chmod(os.path.join(wrapper, name), READ_ONLY)
            with open(os.open(os.path.join(wrapper, _LISTING), NEW_FILE, 0o400), "wb") as file:
                file.write(manifest.listing)
            os.rename(wrapper, above)
        _finish(place)
        if (stored := tree_at(place)) != tree:
            self.remove(os.path.basename(above), name, stage)
            raise IntegrityError(place, tree, stored or NO_DIGEST)

    def signers(self, tree: str, name: str) -> frozenset[str]:
        """Return whose signatures of the skill were verified when it was fetched."""
        return stored_signers(self.path(tree, name))

    def add_signers(self, tree: str, name: str, found: Collection[str], stage: Stage) -> None:
        """Record that signatures of a stored skill were verified. Raises OSError."""
        after = sorted(self.signers(tree, name).union(found))
        stage.replace_file(signers_file(self.path(tree, name)), msgspec.json.encode(after), 0o400)

    def unnamed(self, kept: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return tree and name of each stored skill that is not in `kept`, sorted. An empty name: nothing is kept."""
        found: list[tuple[str, str]] = []
        named = {self.path(tree, name) for tree, name in kept}
        for tree in _listed(self.root):
            above = os.path.join(self.root, tree)
            skills = [name for name in _listed(above) if name not in {_LISTING, SIGNATURES, SIGNERS}]
            left = [name for name in skills if os.path.join(above, name) not in named]
            found += [(tree, "")] if left == skills else [(tree, name) for name in left]
        return found

    def size(self, tree: str, name: str) -> int:
        """Return the bytes of an entry that `unnamed` returned. Raises OSError."""
        return _size(os.path.join(self.root, tree, name).rstrip(os.sep))

    def remove(self, tree: str, name: str, stage: Stage) -> int:
        """Remove an entry that `unnamed` returned. Returns its size in bytes. Raises OSError."""
        place = os.path.join(self.root, tree, name)
        size = self.size(tree, name)
        if name:
            os.chmod(place, 0o700)
        draft = stage.fresh()
        os.rename(place.rstrip(os.sep), draft)
        remove_tree(draft)
        return size


def tree_at(path: str) -> str | None:
    """Return the digest of the directory at `path`; `NO_DIGEST` if it has none, None if there is nothing.

    A link is not followed: it has no digest.
    """
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISDIR(mode):
        return NO_DIGEST
    try:
        return read_tree(path).digest or NO_DIGEST
    except (OSError, LimitExceededError):
        return NO_DIGEST


def _finish(place: str) -> None:
    """Take write access from the top directory, which a killed command may not have done."""
    if os.lstat(place).st_mode & 0o222:
        os.chmod(place, READ_ONLY)


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _size(path: str) -> int:
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        return found.st_size
    return sum(_size(os.path.join(path, name)) for name in os.listdir(path))
