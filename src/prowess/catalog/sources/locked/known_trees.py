"""Trees of the store that were compared with their digest, kept so that a listing need not hash and read them again.

Each has the folded `stat` values of all its files and directories, and the front matter of its SKILL.md. The values are
asked anew at each scan, and a tree that moved is hashed again. The file guards nothing: a load hashes every file.
With a damaged or forged file, a skill may be listed that a load then refuses.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from prowess._internal.files.private_cache import PrivateCache
from prowess._internal.files.tree_stamp import FoldedStamp  # noqa: TC001 -- msgspec decodes it
from prowess.catalog.memo.rows import reading_of, values_of
from prowess.store.index_faults import UnusableIndexError

if TYPE_CHECKING:
    from prowess.catalog.memo.readings import Reading

_KIND, _NAME = "store", "known-trees"


class KnownTree(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One tree: its digest, its stamp, and the reading of its SKILL.md, as `values_of` gives it."""

    tree: str
    stamp: FoldedStamp
    facts: bytes
    values: bytes


class KnownTrees:
    """The trees that were compared, by their directory."""

    def __init__(self) -> None:
        self._kept: dict[str, KnownTree] | None = None
        self._new: dict[str, KnownTree] = {}

    def reading(self, directory: str, tree: str) -> Reading | None:
        """Return the reading of SKILL.md if the files in `directory` had this digest and did not change since."""
        if self._kept is None:
            self._kept = _read()
        known = self._kept.get(directory)
        if known is None or known.tree != tree or (stamp := known.stamp.first_of(directory)) is None:
            return None
        try:
            return reading_of(stamp, known.facts, known.values)
        except UnusableIndexError:
            return None

    def add(self, directory: str, tree: str, stamp: FoldedStamp, reading: Reading) -> None:
        """Keep a tree that was just compared, unless its SKILL.md has just changed or is skipped."""
        if reading.settled and reading.reserved is None:
            self._new[directory] = KnownTree(tree, stamp, *values_of(reading))

    def save(self) -> None:
        """Write the file if there are new trees, without those that are gone. Failures are ignored."""
        if not self._new:
            return
        before = {path: known for path, known in _read().items() if path in self._new or os.path.lexists(path)}
        self._kept, self._new = {**before, **self._new}, {}
        PrivateCache(_KIND).write(_NAME, msgspec.msgpack.encode(self._kept))


def _read() -> dict[str, KnownTree]:
    data = PrivateCache(_KIND).read(_NAME)
    try:
        return {} if data is None else msgspec.msgpack.decode(data, type=dict[str, KnownTree])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
