"""Publishers files: the keys, authorities and identities that this machine or user trusts, by the publisher's name.

    [[publisher]]
    name = "acme"
    key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…"   # SubjectPublicKeyInfo; or `certificate`, a root; both in base64

    [[publisher]]
    name = "octo"
    identity = "https://github.com/octo/skills/.github/workflows/release.yml@refs/heads/main"
    issuer = "https://token.actions.githubusercontent.com"

A publisher may have several entries. An unknown key is an error, so that no entry trusts more than its reader expects.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.toml_file import TomlFile
from prowess._internal.text.terminal_text import is_unicode, printable_line
from prowess.errors import ConfigurationError, SignatureError
from prowess.signing.certificates import fingerprint_of, read_der_certificate
from prowess.signing.keys import read_der_key, strict_base64
from prowess.signing.trust import Trust, TrustedIdentity, TrustedKey, TrustedRoot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Anchor = TrustedKey | TrustedRoot | TrustedIdentity
MAX_NAME = 128  # characters of a publisher's name
_MEANS = ({"key"}, {"certificate"}, {"identity", "issuer"})


class Publisher(Struct, frozen=True, kw_only=True):
    """One entry: a name, and the key, root or identity that belongs to it."""

    name: str
    anchor: Anchor

    @property
    def fingerprint(self) -> str:
        """`sha256:<64 hex>` of a key or a root; an identity with its issuer as it is."""
        match self.anchor:
            case TrustedKey(key=key):
                return key.fingerprint
            case TrustedRoot(der=der):
                return fingerprint_of(der)
            case TrustedIdentity(identity=identity, issuer=issuer):
                return f"{identity} {issuer}"


def publisher_name_fault(name: str) -> str | None:
    """Return why `name` cannot be the name of a publisher, or None."""
    if not name.strip() or name != name.strip():
        return "a publisher's name is a text without spaces at its ends"
    if len(name) > MAX_NAME or not is_unicode(name) or printable_line(name) != name:
        return f"a publisher's name has at most {MAX_NAME} printable characters"
    return None


def parse_publishers(data: bytes, path: str) -> tuple[Publisher, ...]:
    """Read a publishers file. Raises ConfigurationError with every fault."""
    try:
        file = TomlFile(path, data)
    except ValueError as fault:
        raise ConfigurationError((str(fault),)) from None
    found: list[Publisher] = []
    entries = file.content.get("publisher", [])
    for key in file.content.keys() - {"publisher"}:
        file.fault("this key is unknown", key)
    if not isinstance(entries, list):
        file.fault("write each publisher as a table: [[publisher]]", "publisher")
        entries = []
    for at, entry in enumerate(entries):
        try:
            found.append(_publisher(entry))
        except SignatureError as fault:
            file.fault(fault.reason, "publisher", at)
    if file.faults:
        raise ConfigurationError(file.faults)
    return tuple(found)


def render_publishers(publishers: Iterable[Publisher]) -> bytes:
    """Return the text of a publishers file, sorted, so that the same publishers always give the same file."""
    blocks = []
    for one in sorted(publishers, key=lambda publisher: (publisher.name, publisher.fingerprint)):
        lines = ["[[publisher]]", f"name = {_quoted(one.name)}"]
        match one.anchor:
            case TrustedKey(key=key):
                lines.append(f'key = "{b64encode(key.der).decode()}"')
            case TrustedRoot(der=der):
                lines.append(f'certificate = "{b64encode(der).decode()}"')
            case TrustedIdentity(identity=identity, issuer=issuer):
                lines += [f"identity = {_quoted(identity)}", f"issuer = {_quoted(issuer)}"]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks).encode()


def trust_of(publishers: Iterable[Publisher]) -> Trust:
    """Return the trust in all these publishers."""
    anchors = [one.anchor for one in publishers]
    return Trust(
        keys=tuple(one for one in anchors if isinstance(one, TrustedKey)),
        roots=tuple(one for one in anchors if isinstance(one, TrustedRoot)),
        identities=tuple(one for one in anchors if isinstance(one, TrustedIdentity)),
    )


def _publisher(entry: object) -> Publisher:
    what = "the publisher"
    if not isinstance(entry, dict):
        raise SignatureError(what, "write each publisher as a table: [[publisher]]")
    if not all(isinstance(value, str) and value for value in entry.values()):
        raise SignatureError(what, "each value must be a text that is not empty")
    texts: Mapping[str, str] = entry
    name = texts.get("name", "")
    if fault := publisher_name_fault(name):
        raise SignatureError(what, fault)
    if texts.keys() - {"name"} not in _MEANS:
        raise SignatureError(what, "beside 'name' it must have 'key', 'certificate', or 'identity' and 'issuer'")
    anchor: Anchor
    if "key" in texts:
        anchor = TrustedKey(key=read_der_key(strict_base64(texts["key"], what), what), publisher=name)
    elif "certificate" in texts:
        der = strict_base64(texts["certificate"], what)
        read_der_certificate(der, what)
        anchor = TrustedRoot(der=der, publisher=name)
    else:
        anchor = TrustedIdentity(identity=texts["identity"], issuer=texts["issuer"], publisher=name)
    return Publisher(name=name, anchor=anchor)


def _quoted(text: str) -> str:
    """Return a text as a TOML basic string. Control characters were refused or are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char >= " " and char != "\x7f" else f"\\u{ord(char):04x}" for char in escaped) + '"'
