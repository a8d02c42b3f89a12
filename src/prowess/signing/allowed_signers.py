"""Allowed signers files of OpenSSH: which key may sign as whom, for which namespaces, from when until when.

Source: ssh-keygen(1), ALLOWED SIGNERS. A line that cannot be read is an error, because a signer who was meant to be
limited would otherwise be missed. Lines for certificate authorities (`cert-authority`), for keys in hardware (`sk-`)
and for DSA keys are passed over: signatures of such keys are not verified, so such a line trusts nobody.
"""

from __future__ import annotations

import datetime as dt
import re

from msgspec import Struct

from prowess._internal.globs import fits_text
from prowess.errors import SignatureError
from prowess.signing.keys import PublicKey, read_public_key

MAX_BYTES = 1024 * 1024
_FIELD = re.compile(r'[ \t]*((?:"[^"]*"|[^ \t"])+)')
_OPTION = re.compile(r'([A-Za-z-]+)(?:="([^"]*)")?(?:,|$)')
_TIME = re.compile(r"(\d{8})(\d{4}(?:\d{2})?)?(Z?)")
_KEY_TYPES = ("ssh-", "ecdsa-sha2-", "sk-")
_NOT_VERIFIED = ("sk-", "ssh-dss")


class AllowedSigner(Struct, frozen=True, kw_only=True):
    """One line: a key and the principals who sign with it. `namespaces` is empty if any will do; times are UTC."""

    principals: tuple[str, ...]
    key: PublicKey
    namespaces: tuple[str, ...] = ()
    valid_after: dt.datetime | None = None
    valid_before: dt.datetime | None = None

    def allows(self, key: PublicKey, namespace: str, now: dt.datetime) -> bool:
        """Return whether this line lets `key` sign in `namespace` at the time `now`."""
        if key != self.key or (self.namespaces and not _matches(namespace, self.namespaces)):
            return False
        since, until = self.valid_after, self.valid_before
        return (since is None or now >= since) and (until is None or now < until)

    def names(self, identity: str) -> bool:
        """Return whether the principals of this line include `identity`."""
        return _matches(identity, self.principals)


def read_allowed_signers(data: bytes, what: str) -> tuple[AllowedSigner, ...]:
    """Read an allowed signers file. `what` is its name in messages. Raises SignatureError, which names the line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise SignatureError(what, "the file is not UTF-8") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            signer = _line(line.strip(), f"{what}, line {number}")
            if signer is not None:
                found.append(signer)
    return tuple(found)


def _line(line: str, what: str) -> AllowedSigner | None:
    fields = [match.group(1) for match in _FIELD.finditer(line)]
    if line.count('"') % 2:
        raise SignatureError(what, "a quote is not closed")
    options: dict[str, str | None] = {}
    if len(fields) > 1 and not fields[1].startswith(_KEY_TYPES):
        options = _options(fields.pop(1), what)
    if len(fields) < 3 or not fields[1].startswith(_KEY_TYPES):  # noqa: PLR2004 -- principals, type of key, key
        raise SignatureError(what, "it is not: principals, options, type of key, key")
    if "cert-authority" in options or fields[1].startswith(_NOT_VERIFIED) or "-cert-" in fields[1]:
        return None
    principals = tuple(one for one in fields[0].replace('"', "").split(",") if one)
    return AllowedSigner(
        principals=principals,
        key=read_public_key(f"{fields[1]} {fields[2]}".encode(), what),
        namespaces=tuple(one for one in (options.get("namespaces") or "").split(",") if one),
        valid_after=_time(options.get("valid-after"), what),
        valid_before=_time(options.get("valid-before"), what),
    )


def _options(text: str, what: str) -> dict[str, str | None]:
    options: dict[str, str | None] = {}
    at = 0
    while at < len(text):
        match = _OPTION.match(text, at)
        name = match.group(1).lower() if match else ""
        if match is None or name not in {"cert-authority", "namespaces", "valid-after", "valid-before"}:
            raise SignatureError(what, f"the option {text[at:]!r} is unknown")
        if name in options or (match.group(2) is None) != (name == "cert-authority"):
            raise SignatureError(what, f"the option {name!r} is given twice or has no value")
        options[name] = match.group(2)
        at = match.end()
    return options


def _time(text: str | None, what: str) -> dt.datetime | None:
    if text is None:
        return None
    match = _TIME.fullmatch(text)
    digits = "" if match is None else (match.group(1) + (match.group(2) or "")).ljust(14, "0")
    try:
        time = dt.datetime.strptime(digits, "%Y%m%d%H%M%S")  # noqa: DTZ007 -- the zone is set below
    except ValueError:
        raise SignatureError(what, f"{text!r} is not a time such as 20261231") from None
    return time.replace(tzinfo=dt.UTC) if text.endswith("Z") else time.astimezone(dt.UTC)


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a list of patterns (`*`, `?`, `!` to exclude) includes `text`, as OpenSSH decides it."""
    escaped = [pattern.replace("[", "[[]") for pattern in patterns]
    if any(pattern.startswith("!") and fits_text(text, pattern[1:]) for pattern in escaped):
        return False
    return any(not pattern.startswith("!") and fits_text(text, pattern) for pattern in escaped)
