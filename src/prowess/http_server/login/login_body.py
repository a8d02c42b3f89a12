"""The stored JSON of a login: of a person, or of an attempt at an issuer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from prowess.store import LoginRow


class PersonLogin(Struct, frozen=True, kw_only=True, tag="person"):
    """A login of a person. `ends_at` is in seconds since the epoch, however often the login is used.

    `groups` are those that the issuer named; a login by token has none. `csrf` is the value that forms must have.
    """

    user: str
    team: str | None = None
    groups: tuple[str, ...] = ()
    issuer: str | None = None
    csrf: str
    created_at: float
    ends_at: float


class IssuerAttempt(Struct, frozen=True, kw_only=True, tag="attempt"):
    """An attempt at the issuer. `browser` is the SHA-256 of the cookie of the attempt, in hexadecimal digits."""

    browser: str
    nonce: str
    verifier: str
    next_path: str


_DECODER = msgspec.json.Decoder(PersonLogin | IssuerAttempt)


def body_of(login: PersonLogin | IssuerAttempt) -> str:
    """Return the JSON of a login."""
    return msgspec.json.encode(login).decode()


def person_of(row: LoginRow | None) -> PersonLogin | None:
    """Return the login of a person in a row; None if there is none, or it cannot be read."""
    found = _read(row)
    return found if isinstance(found, PersonLogin) else None


def attempt_of(row: LoginRow | None) -> IssuerAttempt | None:
    """Return the attempt in a row; None if there is none, or it cannot be read."""
    found = _read(row)
    return found if isinstance(found, IssuerAttempt) else None


def _read(row: LoginRow | None) -> PersonLogin | IssuerAttempt | None:
    try:
        return None if row is None else _DECODER.decode(row.body)
    except msgspec.DecodeError:
        return None
