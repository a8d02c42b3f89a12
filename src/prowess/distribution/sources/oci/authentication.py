"""Answers the challenge of a registry: a login by Basic, or a token from the registry's token server.

A token server on another host than the registry is asked only if the caller allowed that host: it gets the login.

Source: distribution specification 1.1, token authentication of docker's registry.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.distribution.sources.http.addresses import address_of, without_credentials
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.distribution.sources.http.addresses import Address
    from prowess.distribution.sources.http.client import HttpClient

_CHALLENGE = re.compile(r'(?i)\b(basic|bearer)\s+((?:[a-z_]+\s*=\s*(?:"[^"]*"|[^\s,"]+)\s*,?\s*)*)')
_PARAMETER = re.compile(r'(?i)([a-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
_MAX_TOKEN = 1 << 20


def authorization(challenge: str, registry: Address, client: HttpClient) -> str | None:
    """Return the value of a header `Authorization` that answers a header `WWW-Authenticate`; None without a login.

    Raises:
        DistributionError: the token server refused, or it is on a host that is not allowed.
    """
    login = client.credentials.for_registry(registry)
    schemes = {scheme.lower(): _parameters(text) for scheme, text in _CHALLENGE.findall(challenge)}
    if "bearer" in schemes:
        parameters = schemes["bearer"]
        realm = parameters.get("realm", "")
        at = address_of(realm)
        if at.host != registry.host:
            client.require_allowed(at, f"{registry.shown} demands a token of {at.shown}")
        asked = {key: parameters[key] for key in ("service", "scope") if key in parameters}
        if login is not None and login.identity_token:
            form = {"grant_type": "refresh_token", "client_id": "prowess", "refresh_token": login.identity_token}
            answer = client.request(
                "POST",
                realm,
                most=_MAX_TOKEN,
                headers={"content-type": "application/x-www-form-urlencoded", "authorization": ""},
                content=urlencode({**asked, **form}).encode(),
            )
        else:
            headers = {} if login is None else {"authorization": login.basic}
            separator = "&" if "?" in realm else "?"
            answer = client.get(f"{realm}{separator}{urlencode(asked)}", most=_MAX_TOKEN, headers=headers)
        if answer.status in {400, 401, 403}:
            raise DistributionError(f"{without_credentials(realm)} refused the login for {registry.shown}")
        return f"Bearer {_token(answer.require_success('the token'), without_credentials(realm))}"
    if login is None or login.identity_token:
        return None
    return login.basic


def _parameters(text: str) -> Mapping[str, str]:
    return {key.lower(): quoted or plain for key, quoted, plain in _PARAMETER.findall(text)}


def _token(body: bytes, what: str) -> str:
    try:
        found = strict_json(body, what)
    except StrictJsonError:
        found = None
    token = found.get("token") or found.get("access_token") if isinstance(found, dict) else None
    if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
        raise DistributionError(f"{what} returned no token")
    return token
