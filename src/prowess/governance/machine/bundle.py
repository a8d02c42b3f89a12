"""The bundle of a tenant: the files that decide on its machines, signed by the organisation.

    {"note": SIGNED NOTE, "files": {"policy.toml": TEXT, "blocks.json": TEXT, "approvals.json": TEXT}}

The text of the note has six lines: `prowess bundle 1`, the origin, the tenant, the version, the time of expiry in
seconds since the epoch, and `sha256:` with the digest of the canonical JSON of `files`. The files have the format of
those in `/etc/prowess`; each may be left out.

An organisation may have several policies. Each is a file of its own, `organisation.NAME.toml` or `tenant.NAME.toml`,
and none can permit what another denies. If there is a `root.json`, the machine gets the skills of the deployment that
trusts this root metadata, and with `tenant-root.json` those of the tenant's own. A new release is a new version of the
bundle.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.places import is_named_policy
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.errors import SignatureError
from prowess.signing.signed_note import read_note, sign_note, verified_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.signing.keys import PrivateKey
    from prowess.signing.signed_note import NoteKey

RELEASE_ROOT = "root.json"  # the root metadata of the deployment whose skills this machine gets
TENANT_RELEASE_ROOT = "tenant-root.json"
BUNDLE_FILES = ("policy.toml", "blocks.json", "approvals.json", RELEASE_ROOT, TENANT_RELEASE_ROOT)
OF_TENANT = "tenant/"  # paths of files of the tenant's own deployment begin with it
MAX_BUNDLE_BYTES = 64 * 1024 * 1024
_FIRST_LINE = "prowess bundle 1"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
_TENANT = re.compile(r"[A-Za-z0-9._-]{1,80}")
_WHAT = "the bundle"


class Bundle(Struct, frozen=True, kw_only=True):
    """A verified bundle, or one to be signed. `version` only grows. `expires` is in seconds since the epoch."""

    origin: str
    tenant: str
    version: int
    expires: int
    files: Mapping[str, str]


def sign_bundle(bundle: Bundle, key: PrivateKey) -> bytes:
    """Return the bundle, signed by the key of the organisation under the name `origin`."""
    digest = sha256_of(canonical_json(bundle.files))
    lines = (_FIRST_LINE, bundle.origin, bundle.tenant, str(bundle.version), str(bundle.expires), digest)
    note = sign_note("".join(f"{line}\n" for line in lines), bundle.origin, key)
    return canonical_json({"files": bundle.files, "note": str(note)})


def read_bundle(data: bytes, key: NoteKey) -> Bundle:
    """Verify a bundle. Its expiry and its version are not compared with anything.

    Raises:
        SignatureError: it is no bundle, was not signed by this key, or is for another origin.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.keys() != {"files", "note"} or not isinstance(found["note"], str):
        raise SignatureError(_WHAT, "it is not one: it needs files and note")
    note, files = read_note(found["note"]), found["files"]
    if verified_by(note, key) is None:
        raise SignatureError(_WHAT, f"it is not signed by {key}, the key of this machine's organisation")
    first, *lines = note.text.splitlines()
    if first != _FIRST_LINE or len(lines) != len(("origin", "tenant", "version", "expires", "digest")):
        raise SignatureError(_WHAT, "the signed text is not that of a bundle")
    origin, tenant, version, expires, digest = lines
    if origin != key.name:
        raise SignatureError(_WHAT, f"it is for {origin}, and this machine belongs to {key.name}")
    if not (_NUMBER.fullmatch(version) and _NUMBER.fullmatch(expires) and _TENANT.fullmatch(tenant)):
        raise SignatureError(_WHAT, "its tenant, version or time of expiry is not valid")
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise SignatureError(_WHAT, "its files are not texts")
    if sha256_of(canonical_json(files)) != digest:
        raise SignatureError(_WHAT, "its files are not those that were signed")
    if unknown := sorted(name for name in files if name not in BUNDLE_FILES and not is_named_policy(name)):
        raise SignatureError(_WHAT, f"it has the file {unknown[0]!r}, which this version of Prowess does not know")
    return Bundle(origin=origin, tenant=tenant, version=int(version), expires=int(expires), files=files)
