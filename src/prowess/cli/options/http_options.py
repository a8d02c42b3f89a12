"""Options of an HTTP server, and the checks before it may start."""

from __future__ import annotations

import hashlib
import os
import stat
from ipaddress import ip_address
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from prowess.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_VARIABLE = "PROWESS_HTTP_TOKEN"  # noqa: S105 -- the name of an environment variable
_MAX_NAME = 64
_MIN_TOKEN = 16
_MAX_TOKEN = 4096
_MAX_FILE = 64 * _MAX_TOKEN  # characters; 64 tokens, as many as the maximum of sessions
_LAST_PORT = 65535

http_options = together(
    click.option(
        "--http", "address", metavar="ADDR", help="Serve over HTTP at HOST:PORT; without a host at 127.0.0.1."
    ),
    click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help=f"Require a token from HTTP clients. FILE has one per line, optionally after a name for audit records. "
        f"Without FILE, {TOKEN_VARIABLE} may hold one.",
    ),
    click.option("--allow-remote", is_flag=True, help="Allow --http an address that other machines can reach."),
    click.option(
        "--allow-host", "hosts", multiple=True, metavar="NAME", help="Host name that HTTP clients may use. Repeatable."
    ),
)


class HttpPlace(Struct, frozen=True, kw_only=True):
    """The address to listen on, and the accepted tokens and hosts.

    Without `tokens`, every client of this machine is accepted.

    `users` maps the SHA-256 of a token in hexadecimal to the name given for the token.
    """

    host: str
    port: int
    tokens: tuple[str, ...]
    hosts: tuple[str, ...]
    users: Mapping[str, str] = {}


def http_place(address: str, token_file: str | None, hosts: tuple[str, ...], *, allow_remote: bool | None) -> HttpPlace:
    """Check the options and return the address, tokens and hosts to serve.

    `allow_remote` is None for a command that serves this machine alone.

    Raises:
        click.BadParameter: the address is invalid; a token is too short or readable by other users; or other machines
            can reach the address and `--allow-remote` or a token is missing.
    """
    host, port = _parsed(address)
    named = _tokens(token_file)
    tokens = tuple(named)
    users = {hashlib.sha256(token.encode()).hexdigest(): name for token, name in named.items() if name}
    if not is_loopback(host):
        if allow_remote is None:
            message = f"other machines can reach {host}, and this command serves this machine alone, as 127.0.0.1:PORT"
            raise click.BadParameter(message, param_hint="--http")
        if not allow_remote:
            raise click.BadParameter(f"other machines can reach {host}; add --allow-remote", param_hint="--http")
        if not tokens:
            message = f"other machines can reach {host}; give a token with --token-file or {TOKEN_VARIABLE}"
            raise click.BadParameter(message, param_hint="--http")
    return HttpPlace(host=host, port=port, tokens=tokens, hosts=hosts, users=users)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address. Of host names, only `localhost` counts as local."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def _parsed(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]") if host.startswith("[") and host.endswith("]") else host
    is_port = port.isascii() and port.isdecimal() and len(port) <= len(str(_LAST_PORT)) and int(port) <= _LAST_PORT
    if not is_port or (":" in bare) != (bare != host) or (colon and text.startswith("[]")):
        message = f"{text!r} is not an address; write HOST:PORT, for example 127.0.0.1:8000 or [::1]:8000"
        raise click.BadParameter(message, param_hint="--http")
    return bare or "127.0.0.1", int(port)


def _tokens(file: str | None) -> dict[str, str]:
    """Return each token with the name before it, or an empty name if its line has none."""
    if file is None:
        text, where = os.environ.get(TOKEN_VARIABLE, ""), TOKEN_VARIABLE
        if not text:
            return {}
    else:
        with open(file, encoding="utf-8", errors="replace") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            text, where = opened.read(_MAX_FILE + 1), file
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise click.BadParameter(f"other users can read {file}; run chmod 600 on it", param_hint="--token-file")
        if len(text) > _MAX_FILE:
            raise click.BadParameter(f"{file} is larger than {_MAX_FILE} characters", param_hint="--token-file")
    # An empty file is refused as a token that is too short, because the user forgot to write it.
    lines = [line.split() for line in text.split("\n") if line.strip()] or [[""]]
    tokens = {words[-1]: "".join(words[:-1]) for words in lines}
    if not all(map(_is_token, tokens)) or any(len(words) > 2 for words in lines):  # noqa: PLR2004 -- NAME TOKEN
        message = (
            f"a token in {where} must be {_MIN_TOKEN} to {_MAX_TOKEN} printable ASCII characters without spaces, "
            "optionally after a name"
        )
        raise click.BadParameter(message, param_hint="--token-file")
    if file is not None and (why := next((why for name in tokens.values() if (why := _name_fault(name))), None)):
        raise click.BadParameter(f"{why} in {where}", param_hint="--token-file")
    return tokens


def _name_fault(name: str) -> str | None:
    if len(name) <= _MAX_NAME and name.isprintable():
        return None
    return f"the name of a token must be at most {_MAX_NAME} printable characters, {name[:_MAX_NAME]!r} is not"


def _is_token(token: str) -> bool:
    return _MIN_TOKEN <= len(token) <= _MAX_TOKEN and token.isascii() and token.isprintable() and " " not in token
