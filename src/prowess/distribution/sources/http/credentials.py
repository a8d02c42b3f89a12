"""Credentials for servers: from the environment and netrc, for registries also from docker's configuration.

A credential is looked up for one exact server when a request to it is sent. It is held in memory only and appears in no
lock, store, argument list, message or audit record.

Variables are named after the server: each dot becomes `_` and each hyphen `__`, so no two servers share a variable.

    PROWESS_TOKEN_SKILLS_EXAMPLE_COM=...           sent as `Authorization: Bearer ...` to skills.example.com
    PROWESS_LOGIN_LOCALHOST_5000=user:password     sent as `Authorization: Basic ...` to localhost:5000
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from prowess.distribution.sources.http.docker_credentials import Login, docker_login
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.distribution.sources.http.addresses import Address


class Credentials:
    """Looks up what the user has for a server. Values are read anew for each `Credentials`, and once for a server."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._known: dict[str, str | None] = {}

    def for_server(self, at: Address) -> str | None:
        """Return the value of a header `Authorization`, or None.

        Raises:
            DistributionError: the variable or the netrc file cannot be read.
        """
        if at.shown not in self._known:
            login = self._login(at)
            self._known[at.shown] = self._token(at) or (None if login is None else login.basic)
        return self._known[at.shown]

    def for_registry(self, at: Address) -> Login | None:
        """Return the login for an OCI registry: environment, docker's configuration and helpers, netrc."""
        return self._from_environment(at) or docker_login(at.shown, self._environ) or self._from_netrc(at)

    def _token(self, at: Address) -> str | None:
        token = self._environ.get(f"PROWESS_TOKEN_{variable_of(at)}")
        return None if not token else f"Bearer {_printable(token, f'PROWESS_TOKEN_{variable_of(at)}')}"

    def _login(self, at: Address) -> Login | None:
        return self._from_environment(at) or self._from_netrc(at)

    def _from_environment(self, at: Address) -> Login | None:
        name = f"PROWESS_LOGIN_{variable_of(at)}"
        text = self._environ.get(name)
        if not text:
            return None
        user, colon, password = _printable(text, name).partition(":")
        if not colon:
            raise DistributionError(f"{name} must be USER:PASSWORD")
        return Login(user, password)

    def _from_netrc(self, at: Address) -> Login | None:
        from netrc import NetrcParseError, netrc  # Imported here because most servers have a variable or no login.

        path = self._environ.get("NETRC") or os.path.expanduser("~/.netrc")
        try:
            found = netrc(path).hosts.get(at.host.strip("[]"))  # an entry `default` is for no certain host
        except FileNotFoundError:
            return None
        except (NetrcParseError, OSError, UnicodeDecodeError) as fault:
            line = f", line {fault.lineno}" if isinstance(fault, NetrcParseError) else ""
            raise DistributionError(f"{path}{line}: cannot be read as a netrc file") from None
        return None if found is None else Login(found[0], found[2] or "")


def variable_of(at: Address) -> str:
    """Return the end of the names of the variables for a server, for example `LOCALHOST_5000`."""
    host = at.shown.strip("[]").replace("]", "")
    return re.sub(r"[^A-Z0-9_]", "_", host.upper().replace("-", "__"))


def _printable(value: str, name: str) -> str:
    if not (value.isascii() and value.isprintable()):
        raise DistributionError(f"{name} holds characters that cannot be sent in a header")
    return value
