"""Signed tags and commits of git, from the bytes of the object.

The signature covers the object without the signature itself. The caller compares `target` with the object that it
fetched and `name` with the tag that it asked for: an old signed tag under a new name is well signed too. Source: git,
`gitformat-signature`. An object with two signatures is refused, because readers disagree about which one counts.
"""

from __future__ import annotations

import re

from msgspec import Struct

from prowess.errors import SignatureError

_BEGIN = re.compile(rb"^-----BEGIN (?:SSH SIGNATURE|PGP SIGNATURE|PGP MESSAGE|SIGNED MESSAGE)-----", re.MULTILINE)
_COMMIT_HEADERS = (b"gpgsig", b"gpgsig-sha256")
_NAME = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


class GitObject(Struct, frozen=True, kw_only=True):
    """A tag or commit: the signed bytes, and the signature or None. `target` is the tagged object or the commit's tree.

    `name` is the name of the tag, None for a commit.
    """

    payload: bytes
    signature: bytes | None
    target: str
    name: str | None = None


def read_tag(data: bytes) -> GitObject:
    """Take a tag object apart, without git's header `tag SIZE NUL`. Raises SignatureError."""
    headers, _, _ = data.partition(b"\n\n")
    fields = _fields(headers, "the tag", (b"object", b"type", b"tag"))
    begins = [match.start() for match in _BEGIN.finditer(data)]
    if len(begins) > 1:
        raise SignatureError("the tag", "it has two signatures")
    at = begins[0] if begins else len(data)
    name = fields[b"tag"].decode("utf-8", "surrogateescape")
    return GitObject(payload=data[:at], signature=data[at:] or None, target=_target(fields[b"object"]), name=name)


def read_commit(data: bytes) -> GitObject:
    """Take a commit object apart, without git's header `commit SIZE NUL`. Raises SignatureError."""
    headers, end, message = data.partition(b"\n\n")
    kept: list[bytes] = []
    signature: list[bytes] | None = None
    is_inside = False
    for line in headers.split(b"\n"):
        key, _, rest = line.partition(b" ")
        if line.startswith(b" ") and is_inside:
            assert signature is not None  # noqa: S101 -- for the type checker
            signature.append(line[1:])
        elif key in _COMMIT_HEADERS:
            if signature is not None:
                raise SignatureError("the commit", "it has two signatures")
            signature, is_inside = [rest], True
        else:
            is_inside = False
            kept.append(line)
    payload = b"\n".join(kept) + end + message
    fields = _fields(b"\n".join(kept), "the commit", (b"tree",))
    joined = None if signature is None else b"\n".join(signature).rstrip(b"\n") + b"\n"
    return GitObject(payload=payload, signature=joined, target=_target(fields[b"tree"]))


def _fields(headers: bytes, what: str, expected: tuple[bytes, ...]) -> dict[bytes, bytes]:
    """Return the first headers, which git requires in this order."""
    found: dict[bytes, bytes] = {}
    for name, line in zip(expected, headers.split(b"\n"), strict=False):
        key, _, value = line.partition(b" ")
        if key != name:
            break
        found[name] = value
    if len(found) != len(expected):
        raise SignatureError(what, "it is no object of git")
    return found


def _target(name: bytes) -> str:
    if not _NAME.fullmatch(name):
        raise SignatureError("the object", "it names no object of git")
    return name.decode()
