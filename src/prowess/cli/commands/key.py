"""`prowess key`: creates signing keys, and decides which publishers' keys are trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.key_files import key_file_bytes, write_key_files
from prowess.cli.options import json_option
from prowess.errors import SignatureError
from prowess.policy.packages.trusted_publishers import change_publishers, publishers_path, trusted_publishers
from prowess.signing.certificates import read_authority
from prowess.signing.keys import new_private_key, read_public_key
from prowess.signing.publishers import Anchor, Publisher, publisher_name_fault
from prowess.signing.trust import TrustedIdentity, TrustedKey, TrustedRoot

if TYPE_CHECKING:
    from prowess.signing.keys import NewKind

_KINDS = {TrustedKey: "key", TrustedRoot: "certificate", TrustedIdentity: "identity"}


@click.group(name="key")
def command() -> None:
    """Create signing keys, and trust those of publishers.

    Example: prowess key new release.key
    """


@command.command("new")
@click.argument("file", metavar="FILE")
@click.option("--type", "kind", type=click.Choice(("p256", "ed25519")), default="p256", help="Defaults to p256.")
@json_option
def new(*, file: str, kind: NewKind, as_json: bool) -> int:
    """Create a key: FILE is private, FILE.pub is public.

    FILE has the mode 0600, and FILE.pub is for those who verify.

    p256 is the default, because `model_signing` reads no ed25519 keys. An existing file is never overwritten.

    Example: prowess key new release.key
    """
    key = new_private_key(kind)
    public = write_key_files(file, key)
    if as_json:
        output.document({"key": file, "public": public, "type": kind, "fingerprint": key.public.fingerprint})
    else:
        output.line(f"{printable_line(file)} is the private key, {printable_line(public)} the public one")
        output.line(f"fingerprint {key.public.fingerprint}")
    return exit_codes.OK


@command.command("trust")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--as", "publisher", required=True, metavar="PUBLISHER", help="The name of the publisher.")
@click.option("--identity", metavar="ID", help="Trust an identity in Sigstore certificates instead of a file.")
@click.option("--issuer", metavar="URL", help="The issuer that vouches for the identity.")
@json_option
def trust(*, file: str | None, publisher: str, identity: str | None, issuer: str | None, as_json: bool) -> int:
    """Trust the key in FILE as that of a publisher.

    FILE is a public key (PEM or OpenSSH) or a root certificate (PEM).

    The key is added to PROWESS_HOME/publishers.toml. Compare its fingerprint with one that you have from the publisher
    by another way. Administrators trust publishers for everybody in /etc/prowess/publishers.toml, in the same form.

    \b
    Example:
      prowess key trust acme.pub --as acme
      prowess key trust --identity ci@acme.example --issuer https://accounts.example --as acme
    """  # noqa: D301 -- click needs the control character
    if fault := publisher_name_fault(publisher):
        raise click.UsageError(f"--as: {fault}")
    if (file is None) != (identity is not None) or bool(identity) != bool(issuer):
        raise click.UsageError("give FILE, or --identity and --issuer")
    entry = Publisher(name=publisher, anchor=_anchor(file, identity, issuer, publisher))
    changed = change_publishers(lambda before: (*(one for one in before if one != entry), entry))
    if as_json:
        output.document({**_row(entry, publishers_path()), "changed": changed})
    else:
        verb = "Trusted" if changed else "Already trusted"
        output.line(
            f"{verb}: {printable_line(publisher)}, {_KINDS[type(entry.anchor)]} {printable_line(entry.fingerprint)}"
        )
    return exit_codes.OK


@command.command("list")
@json_option
def list_(*, as_json: bool) -> int:
    """List the trusted publishers, and the file that names each.

    Example: prowess key list
    """
    found = trusted_publishers()
    if as_json:
        output.document({"publishers": [_row(one.publisher, one.path) for one in found]})
        return exit_codes.OK
    for one in found:
        entry = one.publisher
        told = f"{entry.name}: {_KINDS[type(entry.anchor)]} {entry.fingerprint}"
        output.line(f"{printable_line(told)} ({output.shown_path(one.path)})")
    if not found:
        output.note("no publisher is trusted; `prowess key trust FILE --as PUBLISHER` trusts one")
    return exit_codes.OK


@command.command("forget")
@click.argument("names", nargs=-1, required=True, metavar="PUBLISHER|FINGERPRINT...")
@json_option
def forget(*, names: tuple[str, ...], as_json: bool) -> int:
    """Stop trusting publishers, or single keys by fingerprint. Exits with 1 if nothing has such a name.

    Example: prowess key forget acme
    """
    gone: list[Publisher] = []

    def without(before: tuple[Publisher, ...]) -> tuple[Publisher, ...]:
        gone.extend(one for one in before if one.name in names or one.fingerprint in names)
        return tuple(one for one in before if one not in gone)

    change_publishers(without)
    unknown = [name for name in names if not any(name in {one.name, one.fingerprint} for one in gone)]
    if as_json:
        output.document({"forgotten": [_row(one, publishers_path()) for one in gone], "unknown": unknown})
    else:
        for one in gone:
            output.line(f"Forgotten: {printable_line(one.name)}, {printable_line(one.fingerprint)}")
    machine = {text for one in trusted_publishers() for text in (one.publisher.name, one.publisher.fingerprint)}
    for name in unknown:
        where = "only the machine's file names it; ask an administrator" if name in machine else "it is not trusted"
        output.error(printable_line(f"{name}: {where}; `prowess key list` shows all publishers"))
    if not unknown and not as_json:
        output.note(counted(len(gone), "key") + " forgotten")
    return exit_codes.FAILED if unknown else exit_codes.OK


def _anchor(file: str | None, identity: str | None, issuer: str | None, publisher: str) -> Anchor:
    if file is None:
        return TrustedIdentity(identity=str(identity), issuer=str(issuer), publisher=publisher)
    data = key_file_bytes(file)
    try:
        if b"BEGIN CERTIFICATE" in data:
            return TrustedRoot(der=read_authority(data, printable_line(file)), publisher=publisher)
        return TrustedKey(key=read_public_key(data, printable_line(file)), publisher=publisher)
    except SignatureError as fault:
        raise click.UsageError(f"{fault.what}: {fault.reason}") from None


def _row(entry: Publisher, path: str) -> dict[str, object]:
    return {
        "publisher": entry.name,
        "kind": _KINDS[type(entry.anchor)],
        "fingerprint": entry.fingerprint,
        "path": path,
    }
