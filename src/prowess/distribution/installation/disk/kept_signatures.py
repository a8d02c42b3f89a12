"""Signatures that sources had beside a stored skill, in `<tree>/.signatures` of the store (see `SkillStore`).

A module of its own: an installation with nothing to do needs no signature, and imports nothing of the sources.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from prowess.distribution.installation.disk.store import SIGNATURES
from prowess.distribution.sources.protocol import Signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.disk.store import SkillStore

_MOST_BYTES = 64 << 20  # of this file


def kept_signatures(store: SkillStore, tree: str, name: str) -> tuple[Signature, ...]:
    """Return the signatures that sources had beside the skill. Empty if the file is missing or damaged."""
    try:
        with open(_file(store, tree, name), "rb") as file:
            return msgspec.json.decode(file.read(_MOST_BYTES), type=tuple[Signature, ...])
    except (OSError, msgspec.DecodeError):
        return ()


def keep_signatures(store: SkillStore, tree: str, name: str, found: Sequence[Signature], stage: Stage) -> None:
    """Keep signatures of a stored skill, beside those that are there. Raises OSError."""
    after = sorted({*kept_signatures(store, tree, name), *found}, key=lambda one: (one.kind, one.data))
    stage.replace_file(_file(store, tree, name), msgspec.json.encode(after), 0o400)


def _file(store: SkillStore, tree: str, name: str) -> str:
    return os.path.join(os.path.dirname(store.path(tree, name)), SIGNATURES)
