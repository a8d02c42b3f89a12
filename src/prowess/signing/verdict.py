"""SignatureVerdict: result of one verification, in the words of `verify --json`."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

Status = Literal["verified", "changed", "untrusted", "unsigned", "invalid", "missing"]
STATUSES: tuple[Status, ...] = get_args(Status)
Format = Literal["oms", "sigstore", "dsse", "ssh", "git-ssh"]


class SignatureVerdict(Struct, frozen=True, kw_only=True):
    """What a signature proves about a tree, a file or a git object.

    `verified`: signed by a signer who is trusted, and every byte is as it was signed. `changed`: the same signer, other
    files; `files` names each one. `untrusted`: well signed, but by nobody who is trusted. `invalid`: the signature is
    damaged, or it is not a signature of these bytes. `unsigned`: there is none. `missing`: there is nothing to verify.

    `signer` names the key or certificate, the same on every machine, so it can be pinned in a lock; None unless the
    signature itself is valid and about these files. `publisher` is the name that this machine gives the trusted key, or
    None. `reason` is a sentence, None if `verified`. `covers` is False if an untrusted signature is about other files,
    so that an installation refuses them. `version` is that of the skill as it was signed, None if it was not stated.
    """

    status: Status
    format: Format | None = None
    signer: str | None = None
    publisher: str | None = None
    reason: str | None = None
    files: tuple[str, ...] = ()
    covers: bool = True
    version: str | None = None


class Signed(Struct, frozen=True, kw_only=True):
    """What a trusted signer has signed: an in-toto payload, or None if the bytes themselves were signed."""

    signer: str
    publisher: str | None = None
    payload: bytes | None = None


class Untrusted(Struct, frozen=True, kw_only=True):
    """Nobody who is trusted has signed. `signer` is set if the signature names a signer and is valid.

    `payload` is what this signer has signed, as in `Signed`.
    """

    reason: str
    signer: str | None = None
    payload: bytes | None = None
