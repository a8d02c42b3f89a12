"""Merging of locks: a join for each block, so that every order of merges gives the same bytes.

For each skill and each target: a changed block wins over an unchanged one, a present one over a removed one, then the
higher version, then the text that sorts last. This is a total order for each base, and a merge takes the highest block.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from prowess.lockfile.lock import LockedSkill, LockedTarget, Lockfile
from prowess.lockfile.text import block_text
from prowess.lockfile.version_ranges import compare, is_semantic

if TYPE_CHECKING:
    from collections.abc import Iterable

_Block = TypeVar("_Block", LockedSkill, LockedTarget)


def merge_locks(base: Lockfile, *sides: Lockfile) -> Lockfile:
    """Return the merge of `sides`, which all come from `base`. Without a common base, pass an empty lock.

    The result may have requirements that do not fit (see `unmet`), because each block is chosen for itself.
    """
    if not sides:
        return base
    return Lockfile(
        skills=_merged(base.skills, [side.skills for side in sides]),
        targets=_merged(base.targets, [side.targets for side in sides]),
    )


def _merged(base: Iterable[_Block], sides: Iterable[Iterable[_Block]]) -> tuple[_Block, ...]:
    before: dict[object, _Block] = {block.key: block for block in base}
    after: list[dict[object, _Block]] = [{block.key: block for block in side} for side in sides]
    keys = dict.fromkeys(chain(before, *after))
    chosen = (_chosen(before.get(key), [side.get(key) for side in after]) for key in keys)
    return tuple(block for block in chosen if block is not None)


def _chosen(base: _Block | None, sides: list[_Block | None]) -> _Block | None:
    changed = {block for block in sides if block != base}
    if not changed:
        return base
    present = [block for block in changed if block is not None]
    if len(present) > 1:
        return max(present, key=_rank)
    return present[0] if present else None


def _rank(block: LockedSkill | LockedTarget) -> tuple[object, ...]:
    version = _version_rank(block.version) if isinstance(block, LockedSkill) else ()
    return version, block_text(block)


def _version_rank(version: str | None) -> tuple[int, object]:
    """Return a sort key: no version, then texts that are no semantic version, then semantic versions."""
    if version is None or not is_semantic(version):
        return (0, "") if version is None else (1, version)
    return 2, _precedence(version)


_precedence = cmp_to_key(compare)
