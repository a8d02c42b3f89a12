"""Logins that `docker login` or `podman login` stored: the configuration file, and credential helpers.

A helper is the program `docker-credential-NAME` on PATH. It gets the registry on standard input and returns the login
on standard output, so nothing appears in an argument list.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
_HUB, _HUB_KEY = {"docker.io", "registry-1.docker.io", "index.docker.io"}, "https://index.docker.io/v1/"
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HELPER_SECONDS = 30
_MAX_CONFIG = 1 << 20
_TOKEN_USER = "<token>"  # noqa: S105 -- the user name of a helper that returns an identity token


class Login:
    """A user name and password, or an identity token of a registry. Its text form shows neither."""

    __slots__ = ("identity_token", "password", "user")

    def __init__(self, user: str = "", password: str = "", identity_token: str = "") -> None:
        self.user, self.password, self.identity_token = user, password, identity_token

    def __repr__(self) -> str:
        return "Login(...)"

    @property
    def basic(self) -> str:
        """The value of a header `Authorization`."""
        return f"Basic {b64encode(f'{self.user}:{self.password}'.encode()).decode('ascii')}"


def docker_login(registry: str, environ: Mapping[str, str]) -> Login | None:
    """Return the login for a registry (`host` or `host:port`), or None if there is none.

    Raises:
        DistributionError: a configuration file or a helper failed.
    """
    for path in _configurations(environ):
        configuration = _read(path)
        if configuration is not None and (login := _login(registry, configuration, path, environ)) is not None:
            return login
    return None


def _configurations(environ: Mapping[str, str]) -> Iterator[str]:
    if file := environ.get("REGISTRY_AUTH_FILE"):
        yield file
    yield os.path.join(environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker"), "config.json")
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        yield os.path.join(runtime, "containers", "auth.json")


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_MAX_CONFIG))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        raise DistributionError(f"{path}: cannot be read as docker's configuration") from None
    if not isinstance(found, dict):
        raise DistributionError(f"{path}: cannot be read as docker's configuration")
    return found


def _login(registry: str, configuration: dict[str, Any], path: str, environ: Mapping[str, str]) -> Login | None:
    keys = (_HUB_KEY, *_HUB) if registry in _HUB else (registry, f"https://{registry}", f"http://{registry}")
    helpers = _table(configuration, "credHelpers", path)
    entries = _table(configuration, "auths", path)
    for key in keys:
        if isinstance(name := helpers.get(key), str):
            return _from_helper(name, key, environ)
    for key in keys:
        if isinstance(entry := entries.get(key), dict) and (login := _from_entry(entry, path)) is not None:
            return login
    if isinstance(name := configuration.get("credsStore"), str) and name:
        return _from_helper(name, keys[0], environ)
    return None


def _table(configuration: dict[str, Any], key: str, path: str) -> dict[str, Any]:
    found = configuration.get(key) or {}
    if not isinstance(found, dict):
        raise DistributionError(f"{path}: {key} must be a table")
    return found


def _from_entry(entry: dict[str, Any], path: str) -> Login | None:
    if isinstance(token := entry.get("identitytoken"), str) and token:
        return Login(identity_token=token)
    if not isinstance(text := entry.get("auth"), str) or not text:
        return None
    try:
        user, colon, password = b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        colon = user = password = ""
    if not colon:
        raise DistributionError(f"{path}: an entry of auths is not the base64 of USER:PASSWORD")
    return Login(user, password.rstrip("\0"))


def _from_helper(name: str, registry: str, environ: Mapping[str, str]) -> Login | None:
    program = f"docker-credential-{name}"
    if not _HELPER.fullmatch(name):
        raise DistributionError(f"docker's configuration names the credential helper {name!r}, which is no file name")
    try:
        done = subprocess.run(
            [program, "get"],
            input=registry.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_HELPER_SECONDS,
            check=False,
            env=dict(environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        raise DistributionError(f"the credential helper {program} of docker's configuration cannot be run") from None
    if done.returncode != 0:
        if b"not found" in done.stdout:
            return None  # the helper knows no login for this registry
        raise DistributionError(f"the credential helper {program} failed for {registry}")
    try:
        found = json.loads(done.stdout)
        user, secret = str(found["Username"]), str(found["Secret"])
    except (ValueError, KeyError, TypeError):
        raise DistributionError(f"the credential helper {program} returned no login for {registry}") from None
    return Login(identity_token=secret) if user == _TOKEN_USER else Login(user, secret)
