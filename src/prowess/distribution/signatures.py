"""Reads skills, files and their signatures from disk, and has them verified or signed by `prowess.signing`."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.open_flags import READ
from prowess._internal.files.tree_digest import SIGNATURE_FILE, read_stamped_tree
from prowess.errors import LimitExceededError, SignatureError
from prowess.signing.bundle import MAX_BYTES, signed_bundle
from prowess.signing.statement import SignedSkill, render_statement
from prowess.signing.verdict import SignatureVerdict

if TYPE_CHECKING:
    from prowess.format.skill import Skill
    from prowess.signing.keys import PrivateKey
    from prowess.signing.verification import Verifier

MAX_FILE_BYTES = 512 * 1024 * 1024  # of a file whose signature is verified
BESIDE = (".sigstore.json", ".sigstore", ".dsse.json", ".sig")  # endings of the signature file of one file


def verify_skill(directory: str, verifier: Verifier, signature: bytes | None = None) -> SignatureVerdict:
    """Verify the files of a skill's directory against `signature`, or else against its `skill.oms.sig`."""
    try:
        reading = read_stamped_tree(directory, keep=(SIGNATURE_FILE,), most=MAX_BYTES)
    except FileNotFoundError:
        return SignatureVerdict(status="missing", reason="there is no such directory")
    except LimitExceededError as fault:
        return SignatureVerdict(status="invalid", reason=str(fault))
    manifest, kept = reading.manifest, reading.kept.get(SIGNATURE_FILE)
    if signature is None and kept is None and (manifest.signature or SIGNATURE_FILE in manifest.obstacles):
        reason = f"{SIGNATURE_FILE} is a link, no regular file, or larger than {MAX_BYTES} bytes"
        return SignatureVerdict(status="invalid", reason=reason, files=(SIGNATURE_FILE,))
    return verifier.tree(manifest, kept.data if signature is None and kept is not None else signature)


def verify_file(path: str, verifier: Verifier, signature: bytes | None = None) -> SignatureVerdict:
    """Verify one file against `signature`, or else against the signature file beside it.

    Raises:
        OSError: the file or its signature cannot be read.
        LimitExceededError: the file has more than 512 MiB.
        SignatureError: several signature files are beside it.
    """
    data = read_file(path, MAX_FILE_BYTES)
    beside = signatures_beside(path)
    if signature is None and len(beside) > 1:
        raise SignatureError(path, f"several files could be it; choose one: --signature {beside[0]}")
    if signature is None and beside:
        signature = read_file(beside[0], MAX_BYTES)
    return verifier.content(data, signature)


def signatures_beside(path: str) -> list[str]:
    """Return the paths of the signature files beside one file."""
    return [path + ending for ending in BESIDE if os.path.lexists(path + ending)]


def signature_in(directory: str) -> bytes | None:
    """Return the bytes of `skill.oms.sig` at a skill's root, or None. Raises UnsafePathError if it is a link."""
    try:
        with ContainedRoot(directory) as root, root.open(SIGNATURE_FILE) as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None


def sign_skill(skill: Skill, key: PrivateKey) -> SignedSkill:
    """Write `skill.oms.sig` into the directory of a skill that was read; replaces the one that is there.

    Raises:
        SignatureError: the skill cannot be signed, because it has a link, no file, or a directory `skill.oms.sig`.
        OSError: the file cannot be written.
    """
    path = os.path.join(skill.root_dir, SIGNATURE_FILE)
    if os.path.isdir(path):
        raise SignatureError(
            f"skill {skill.name!r}", f"{path} is a directory; remove it, because the signature goes there"
        )
    signed = SignedSkill(
        name=skill.name, version=skill.frontmatter.metadata.get("version"), tree=skill.manifest.content_digest
    )
    data = signed_bundle(render_statement(skill.manifest, signed), key)
    write_atomically(path, data, 0o644)
    return signed


def read_file(path: str, most: int) -> bytes:
    """Return the bytes of a regular file. Raises OSError, or LimitExceededError if it has more than `most`."""
    descriptor = os.open(path, READ & ~getattr(os, "O_NOFOLLOW", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        data = read_at_most(descriptor, most + 1, 1 << 20)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise LimitExceededError(f"bytes in {path}", most, None)
    return data
