"""Signed notes: a text with signature lines, and the one-line form of the keys that verify them.

A signature line names its key by a name and the first four bytes of a hash. Signatures of other keys are ignored, and a
signature of a known key that does not verify refuses the whole note. Two types of signature are supported: that of the
author of the note (`signature`), and the cosignature of a witness, which states a time (`cosignature`). Both are
Ed25519. Sources: C2SP signed-note and C2SP tlog-cosignature.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.errors import SignatureError
from prowess.signing.keys import read_der_key, strict_base64

if TYPE_CHECKING:
    from prowess.signing.keys import PrivateKey, PublicKey

NoteKind = Literal["signature", "cosignature"]

_TYPES: dict[int, NoteKind] = {1: "signature", 4: "cosignature"}
_DER_BEGIN = bytes.fromhex("302a300506032b6570032100")  # of SubjectPublicKeyInfo; the 32 bytes of the key follow
_RAW_BYTES, _ID_BYTES, _TIME_BYTES = 32, 4, 8
_LINE_BEGIN = "\u2014 "  # em dash
_MOST_SIGNATURES = 64
_MOST_BYTES = 1024 * 1024
_NAME = re.compile(r"[^\s+\x00-\x1f]+")
_KEY = re.compile(r"(?P<name>[^\s+\x00-\x1f]+)\+(?P<id>[0-9a-f]{8})\+(?P<data>[A-Za-z0-9+/=]+)")


class NoteKey(Struct, frozen=True, kw_only=True):
    """An Ed25519 key with a name. `raw` are the 32 bytes of the public key; `str()` is `NAME+ID+BASE64`."""

    name: str
    raw: bytes
    kind: NoteKind = "signature"

    @property
    def id(self) -> bytes:
        """The four bytes that signature lines name."""
        return hashlib.sha256(self.name.encode() + b"\n" + self._typed()).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(self._typed()).decode()}"

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Return whether `signature` over `message` was made by this key."""
        return read_der_key(_DER_BEGIN + self.raw, self.name).verifies(signature, message)

    def _typed(self) -> bytes:
        return bytes(number for number, kind in _TYPES.items() if kind == self.kind) + self.raw


class NoteSignature(Struct, frozen=True, kw_only=True):
    """One signature line: the name and id of its key, and the signature, of a cosignature with its time."""

    name: str
    id: bytes
    data: bytes


class SignedNote(Struct, frozen=True, kw_only=True):
    """A text, which ends with a line break, and its signatures."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(map(_line, self.signatures))}"


def is_note_key(text: str) -> bool:
    """Return whether a text has the form of a key, so that it is not taken for the path of a file."""
    return _KEY.fullmatch(text.strip()) is not None


def read_note_key(text: str) -> NoteKey:
    """Read `NAME+ID+BASE64`. Raises SignatureError if it is no such key, or its id does not fit."""
    found = _KEY.fullmatch(text.strip())
    if found is None:
        raise SignatureError("the key", "a key of a log has the form NAME+ID+BASE64")
    data = strict_base64(found["data"], "the key")
    kind = _TYPES.get(data[0]) if data else None
    if kind is None or len(data) != 1 + _RAW_BYTES:
        raise SignatureError(found["name"], "this key is not of type Ed25519 (1) or Ed25519 cosignature (4)")
    key = NoteKey(name=found["name"], raw=data[1:], kind=kind)
    if key.id.hex() != found["id"]:
        raise SignatureError(key.name, "the id in the key does not fit the rest; was a character lost?")
    return key


def note_key(name: str, key: PublicKey, kind: NoteKind = "signature") -> NoteKey:
    """Return a public key under a name. Raises SignatureError if it is not Ed25519, or the name is not allowed."""
    if not _NAME.fullmatch(name):
        raise SignatureError(repr(name), "the name of a log or witness has no blanks and no plus sign")
    if key.kind != "ed25519":
        raise SignatureError(name, "notes are signed by Ed25519 keys; create one: prowess key new FILE --type ed25519")
    return NoteKey(name=name, raw=key.der.removeprefix(_DER_BEGIN), kind=kind)


def sign_note(text: str, name: str, key: PrivateKey) -> SignedNote:
    """Sign a text. Raises SignatureError if the text or the name is not allowed in a note."""
    _check_text(text)
    signature = NoteSignature(name=name, id=note_key(name, key.public).id, data=key.sign(text.encode()))
    return SignedNote(text=text, signatures=(signature,))


def cosign_note(note: SignedNote, name: str, key: PrivateKey, seconds: int) -> SignedNote:
    """Add the cosignature of a witness at this POSIX time. An earlier one of the same witness is replaced."""
    by = note_key(name, key.public, "cosignature")
    data = seconds.to_bytes(_TIME_BYTES, "big") + key.sign(_cosigned(note.text, seconds))
    kept = tuple(one for one in note.signatures if (one.name, one.id) != (by.name, by.id))
    return SignedNote(text=note.text, signatures=(*kept, NoteSignature(name=name, id=by.id, data=data)))


def read_note(text: str) -> SignedNote:
    """Read a note without verifying it. A note has one spelling: `str()` of the result is `text`.

    Raises:
        SignatureError: it is no note.
    """
    if len(text) > _MOST_BYTES:
        raise SignatureError("the note", f"it has more than {_MOST_BYTES} characters")
    body, separator, lines = text.rpartition("\n\n")
    if not separator or not lines.endswith("\n"):
        raise SignatureError("the note", "it has no signature")
    _check_text(f"{body}\n")
    signatures = tuple(_signature(line) for line in lines[:-1].split("\n"))
    if len(signatures) > _MOST_SIGNATURES:
        raise SignatureError("the note", f"it has more than {_MOST_SIGNATURES} signatures")
    return SignedNote(text=f"{body}\n", signatures=signatures)


def verified_by(note: SignedNote, key: NoteKey) -> int | None:
    """Return the time of the cosignature, or 0 for a signature, if `key` signed this note; None if it did not.

    Raises:
        SignatureError: a signature of this key does not verify.
    """
    found: int | None = None
    for one in note.signatures:
        if (one.name, one.id) != (key.name, key.id):
            continue
        seconds, signature, message = 0, one.data, note.text.encode()
        if key.kind == "cosignature":
            seconds, signature = int.from_bytes(one.data[:_TIME_BYTES], "big"), one.data[_TIME_BYTES:]
            message = _cosigned(note.text, seconds)
        if not key.verifies(signature, message):
            raise SignatureError(key.name, "its signature is not over this text: one of the two was changed")
        found = seconds
    return found


def _cosigned(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def _check_text(text: str) -> None:
    if not text.endswith("\n") or any(character < " " and character != "\n" for character in text):
        raise SignatureError("the note", "its text has a control character, or does not end with a line break")


def _signature(line: str) -> NoteSignature:
    begin, name, data = line[: len(_LINE_BEGIN)], *f"{line[len(_LINE_BEGIN) :]} ".split(" ")[:2]
    decoded = strict_base64(data, "a signature of the note")
    found = NoteSignature(name=name, id=decoded[:_ID_BYTES], data=decoded[_ID_BYTES:])
    if begin != _LINE_BEGIN or not _NAME.fullmatch(name) or not found.data or _line(found) != f"{line}\n":
        raise SignatureError("the note", "a line after its text is no signature")
    return found


def _line(signature: NoteSignature) -> str:
    return f"{_LINE_BEGIN}{signature.name} {base64.b64encode(signature.id + signature.data).decode()}\n"
