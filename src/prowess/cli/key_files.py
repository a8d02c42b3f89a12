"""Files with keys and tokens that a command line names. Key files are created for this user alone."""

from __future__ import annotations

import os
import re
from contextlib import suppress

import click

from prowess._internal.files.atomic_write import write_new
from prowess._internal.places import OTHERS, exposed
from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.distribution.signatures import read_file
from prowess.errors import LimitExceededError, SignatureError
from prowess.signing.keys import PrivateKey, PublicKey, read_private_key, read_public_key

TOKEN_TEXT = re.compile("[!-~]{1,1024}")


def read_token(path: str) -> str:
    """Return the token in a file. Raises click.UsageError if the file cannot be read, or holds no token."""
    text = key_file_bytes(path, 4096).decode("ascii", "replace").strip()
    if TOKEN_TEXT.fullmatch(text) is None:
        raise click.UsageError(
            f"{printable_line(path)} holds no token; a token is one line, as `prowess admin token add` prints it"
        )
    return text


def read_signing_key(path: str) -> PrivateKey:
    """Read a private key. Its password is asked for on a terminal.

    Raises:
        click.UsageError: the file cannot be read, or holds no key that signs.
    """
    data, shown = key_file_bytes(path), printable_line(path)
    if why := exposed(os.stat(path), path, bits=OTHERS):
        output.note(printable_line(f"this key is not private: {why}"))
    try:
        try:
            return read_private_key(data, shown)
        except SignatureError as fault:
            if "needs a password" not in fault.reason or not output.is_interactive():
                raise
        password: str = click.prompt(f"Password of {shown}", hide_input=True, err=True)
        return read_private_key(data, shown, password.encode())
    except SignatureError as fault:
        raise click.UsageError(f"{fault.what}: {fault.reason}") from None


def read_verifying_key(path: str) -> PublicKey:
    """Read a public key. Raises click.UsageError if the file cannot be read, or holds no public key."""
    try:
        return read_public_key(key_file_bytes(path), printable_line(path))
    except SignatureError as fault:
        raise click.UsageError(f"{fault.what}: {fault.reason}") from None


def key_file_bytes(path: str, most: int = 1024 * 1024) -> bytes:
    """Return the bytes of a key file. Raises click.UsageError if it cannot be read, or has more than `most`."""
    try:
        return read_file(path, most)
    except (OSError, LimitExceededError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else f"it has more than {most} bytes"
        raise click.UsageError(f"{printable_line(path)} cannot be read: {reason}") from None


def write_key_files(path: str, key: PrivateKey) -> str:
    """Write `path` (mode 0600) and `path`.pub. No file is overwritten. Return the path of the public key.

    Raises:
        click.UsageError: one of the two exists.
        OSError: a file cannot be written; neither is left.
    """
    public = f"{path}.pub"
    made: list[str] = []
    try:
        for file, data, mode in ((path, key.pem(), 0o600), (public, key.public.pem, 0o644)):
            write_new(file, data, mode)
            made.append(file)
    except BaseException as fault:
        for file in made:
            with suppress(OSError):
                os.unlink(file)
        if isinstance(fault, FileExistsError):
            raise click.UsageError(
                f"{printable_line(fault.filename)} exists; a key is never overwritten, choose another name"
            ) from None
        raise
    return public
