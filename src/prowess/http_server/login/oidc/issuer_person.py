"""Who the claims of an ID token describe: user, team, groups and tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.http_server.login.browser_logins import NewLogin
from prowess.http_server.login.refusals import LoginRefusedError
from prowess.store.tenants import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from prowess.http_server.login.oidc.settings import OidcSettings

_MOST_CHARACTERS = 200
_MOST_GROUPS = 1000


def person_of_claims(claims: Mapping[str, Any], settings: OidcSettings, tenants: Collection[str]) -> NewLogin:
    """Return who logs in. `tenants` are those of the store; the organisation itself is not among them.

    Raises:
        LoginRefusedError: a claim is missing or malformed, an e-mail address is not verified, or there is no such
            tenant.
    """
    user = _text(claims, settings.user_claim)
    if user is None:
        raise LoginRefusedError("claims", f"no claim {settings.user_claim}")
    if settings.user_claim == "email" and claims.get("email_verified") is not True:
        raise LoginRefusedError("claims", "the e-mail address is not verified")
    tenant = DEFAULT if settings.tenant_claim is None else _text(claims, settings.tenant_claim)
    if tenant is None or tenant not in tenants:
        raise LoginRefusedError("tenant", "no tenant" if tenant is None else f"unknown tenant {tenant[:64]!r}")
    return NewLogin(
        user=user,
        tenant=tenant,
        team=None if settings.team_claim is None else _text(claims, settings.team_claim),
        groups=_groups(claims, settings.groups_claim),
        issuer=settings.issuer,
    )


def _text(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, str) and 0 < len(value) <= _MOST_CHARACTERS and value.isprintable() and value == value.strip():
        return value
    raise LoginRefusedError("claims", f"the claim {name} is no short text")


def _groups(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = claims.get(name)
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise LoginRefusedError("claims", f"the claim {name} is no list of texts")
    if len(listed) > _MOST_GROUPS:
        raise LoginRefusedError("claims", f"the claim {name} has more than {_MOST_GROUPS} groups")
    return tuple(sorted(set(listed)))
