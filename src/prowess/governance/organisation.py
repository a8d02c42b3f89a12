"""The organisation of a shared store: its signing key, its tenants and its tokens.

The public key is in the store. The private key is a file on the machine where the store was created, and on each
machine that signs: an administrator of the database cannot sign for the organisation.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_new
from prowess._internal.places import OTHERS, ensure_private_directory, exposed, prowess_home
from prowess._internal.uuid7 import uuid7
from prowess.errors import SigningKeyError
from prowess.signing.keys import new_private_key, read_private_key
from prowess.signing.signed_note import note_key, read_note_key
from prowess.store import Token
from prowess.store.shared.organisation import OrganisationStore, create_store
from prowess.store.shared.tokens import SharedTokenStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.signing.keys import PrivateKey
    from prowess.store.protocols import TokenStore
    from prowess.store.shared.organisation import Organisation

KEY_VARIABLE = "PROWESS_SIGNING_KEY"
_SECRET_BYTES = 32
_MOST_BYTES = 64 * 1024


class NewToken(Struct, frozen=True, kw_only=True):
    """A token that was just made. `text` is in no file and in no store: it is shown once."""

    token: Token
    text: str


class Founded(Struct, frozen=True, kw_only=True):
    """A new organisation: its name and key in signatures, the file of the private key, an administrator's token."""

    origin: str
    public_key: str
    key_path: str
    administrator: NewToken


def found_organisation(url: str, origin: str | None, user: str) -> Founded:
    """Create a store with a new Ed25519 key and a token of an administrator, all or nothing.

    Raises:
        SignatureError: the origin is not allowed in signatures.
        StoreError: the database cannot be used, or holds a store already.
        OSError: the file of the key cannot be written.
    """
    key = new_private_key("ed25519")
    name = origin or f"prowess-{hashlib.sha256(key.public.der).hexdigest()[:8]}"
    public_key = str(note_key(name, key.public))
    path = _default_path(public_key)
    ensure_private_directory(os.path.dirname(path))
    write_new(path, key.pem())
    try:
        create_store(url, origin=name, public_key=public_key)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    first = add_token(url, tenant=EVERY, role="administrator", user=user)
    if first is None:
        raise AssertionError  # the tenant of the organisation always exists
    return Founded(origin=name, public_key=public_key, key_path=path, administrator=first)


def key_path(organisation: Organisation) -> str:
    """Return where the private key of an organisation is expected: `PROWESS_SIGNING_KEY`, or a file in the home."""
    return os.environ.get(KEY_VARIABLE) or _default_path(organisation.public_key)


def organisation_key(organisation: Organisation) -> PrivateKey:
    """Return the private key of an organisation.

    Raises:
        SigningKeyError: it is not on this machine, other users can read it, or it is the key of somebody else.
    """
    path, what = key_path(organisation), f"the signing key of {organisation.origin}"
    try:
        with open(path, "rb") as file:
            why = exposed(os.fstat(file.fileno()), path, bits=OTHERS)
            data = file.read(_MOST_BYTES)
    except OSError as fault:
        raise SigningKeyError(
            what,
            f"{path} cannot be read ({fault.strerror}); copy the file from the machine where `prowess admin init` ran, "
            f"or from a backup of it, with mode 0600, or name its place in {KEY_VARIABLE}",
        ) from None
    if why is not None:
        raise SigningKeyError(what, f"it is not private: {why}")
    key = read_private_key(data, path)
    expected = read_note_key(organisation.public_key)
    if note_key(expected.name, key.public) != expected:
        raise SigningKeyError(
            what, f"{path} is another key; restore the one with the public key {organisation.public_key}"
        )
    return key


def add_token(
    url: str, *, tenant: str, role: str, user: str, team: str | None = None, seconds: int | None = None
) -> NewToken | None:
    """Add a token that ends after `seconds`, or never. Return None if there is no such tenant. Raises StoreError."""
    organisation = OrganisationStore(url)
    try:
        store = SharedTokenStore(organisation.database)
        return new_token(store, tenant=tenant, role=role, user=user, team=team, seconds=seconds)
    finally:
        organisation.database.close()


def new_token(
    store: TokenStore, *, tenant: str, role: str, user: str, team: str | None = None, seconds: int | None = None
) -> NewToken | None:
    """Add a token to a store, as `add_token`."""
    text = f"prowess_{secrets.token_urlsafe(_SECRET_BYTES)}"
    now = time.time()
    token = Token(
        id=uuid7(),
        tenant=tenant,
        role=role,
        user=user,
        team=team,
        created_at=now,
        expires_at=None if seconds is None else now + seconds,
    )
    return NewToken(token=token, text=text) if store.add_token(token, token_digest(text)) else None


def token_digest(text: str) -> bytes:
    """Return the digest of a token, which a store keeps. Its 256 random bits need no slow hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _default_path(public_key: str) -> str:
    """The name of the file is the id in the public key: the name of an organisation is never part of a path."""
    return os.path.join(prowess_home(), "organisation", f"{read_note_key(public_key).id.hex()}.key")
