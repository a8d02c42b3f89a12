"""Signed trees in memory and on disk for tests."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from prowess._internal.files.tree_digest import FileRecord, TreeManifest
from prowess.signing.keys import new_private_key
from prowess.signing.statement import SignedSkill, render_statement
from prowess.signing.trust import Trust, TrustedKey, TrustedRoot
from prowess.signing.verification import Verifier
from tests.signing.authorities import NOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.signing.keys import PrivateKey
    from tests.signing.authorities import Holder

FILES = {"SKILL.md": b"---\nname: ours\n---\n", "scripts/go.py": b"print(1)\n"}
KEY = new_private_key()


def manifest_of(files: Mapping[str, bytes], *obstacles: str) -> TreeManifest:
    """Return the manifest of a tree with these files."""
    records = [
        FileRecord(path=path, executable=False, size=len(data), sha256=hashlib.sha256(data).hexdigest())
        for path, data in sorted(files.items())
    ]
    return TreeManifest(files=tuple(records), obstacles=obstacles)


def statement_of(files: Mapping[str, bytes]) -> bytes:
    """Return the statement that `prowess sign` signs for these files."""
    manifest = manifest_of(files)
    return render_statement(manifest, SignedSkill(name="ours", version="1.0.0", tree=manifest.content_digest))


def trusting(*keys: PrivateKey, roots: tuple[Holder, ...] = ()) -> Verifier:
    """Return a verifier that trusts these keys and roots at the time of the tests."""
    return Verifier(
        Trust(
            keys=tuple(TrustedKey(key=key.public, publisher="acme") for key in keys),
            roots=tuple(TrustedRoot(der=root.der, publisher="acme") for root in roots),
        ),
        NOW,
    )
