"""Checkpoints: the size and root of a log at one moment, signed by the log and by witnesses.

Source: C2SP tlog-checkpoint. The name of the key is the origin of the log, or the origin begins with the name and a
slash, so that one key signs the logs of all tenants of an organisation.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.audit.transparency.merkle import HASH_BYTES
from prowess.errors import SignatureError
from prowess.signing.keys import strict_base64
from prowess.signing.signed_note import SignedNote, read_note, sign_note, verified_by

if TYPE_CHECKING:
    from prowess.signing.keys import PrivateKey
    from prowess.signing.signed_note import NoteKey

_WHAT = "the checkpoint"


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A log with `size` records whose Merkle tree has the hash `root`. `origin` names the log."""

    origin: str
    size: int
    root: bytes
    note: SignedNote

    def __str__(self) -> str:
        return str(self.note)


def signed_checkpoint(origin: str, size: int, root: bytes, name: str, key: PrivateKey) -> Checkpoint:
    """Sign the state of a log by the key with this name. Raises SignatureError if a name is not allowed."""
    note = sign_note(f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n", name, key)
    return read_checkpoint(str(note))


def read_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint without verifying it. Raises SignatureError if it is none."""
    note = read_note(text)
    lines = note.text[:-1].split("\n")
    if len(lines) < 3 or not all(lines):  # noqa: PLR2004 -- origin, size and root; further lines are ignored
        raise SignatureError(_WHAT, "it does not begin with the lines for origin, size and root")
    origin, size, root = lines[:3]
    if not size.isascii() or not size.isdecimal() or str(int(size[:20])) != size:
        raise SignatureError(_WHAT, "its second line is not the number of records")
    digest = strict_base64(root, _WHAT)
    if len(digest) != HASH_BYTES:
        raise SignatureError(_WHAT, "its third line is not the hash of a tree")
    return Checkpoint(origin=origin, size=int(size), root=digest, note=note)


def is_signed(checkpoint: Checkpoint, key: NoteKey) -> bool:
    """Return whether this key, which may sign for this origin, signed the checkpoint.

    Raises:
        SignatureError: its signature is over another text.
    """
    of_origin = checkpoint.origin == key.name or checkpoint.origin.startswith(f"{key.name}/")
    return verified_by(checkpoint.note, key) is not None and of_origin
