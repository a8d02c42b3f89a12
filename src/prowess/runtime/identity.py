"""Who uses a session: the caller in audit records, and the requester whom rules of a policy match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict, replace

from prowess._internal.files.enrolment import given_to_machine
from prowess.audit.caller import Caller
from prowess.policy.facts.requester import this_process

if TYPE_CHECKING:
    from prowess.catalog.viewing.audience import Audience
    from prowess.policy.facts.requester import Requester


class Identity(Struct, frozen=True, kw_only=True):
    """The user of a session, as its host states it. Records mark it as the host's word (`identified_by`).

    None means unknown: rules that deny or ask about the value then apply. `roles=()` means that the user has no role.
    """

    user: str | None = None
    team: str | None = None
    roles: tuple[str, ...] | None = None


def caller_of(
    given: Caller | None, identity: Identity | None, audience: Audience, *, tenant: str | None = None
) -> Caller:
    """Return the caller of a session: `given` or this process's user, with the facts of the host and `audience`.

    `given` is the word of the host, whatever it says of itself. `tenant` is the one of the session's store; it wins
    over the host's. Tenant, team and environment that an enrolled machine was given win over all others.
    """
    caller = Caller.here() if given is None else replace(given, identified_by="host")
    here = audience.here()
    caller = replace(
        caller,
        agent=caller.agent or here.agent,
        tenant=given_to_machine("tenant") or tenant or caller.tenant or here.tenant,
        team=given_to_machine("team") or caller.team,
        environment=given_to_machine("environment") or caller.environment or here.environment,
    )
    if identity is None:
        return caller
    user = caller.user if identity.user is None else identity.user
    roles = None if identity.roles is None else tuple(identity.roles)
    team = given_to_machine("team") or identity.team
    return replace(caller, user=user, team=team, roles=roles, identified_by="host")


def requester_of(caller: Caller, parent: Requester | None = None) -> Requester:
    """Return the facts about a caller that rules match: first the caller's, then those of this process and `parent`.

    A user whom only the host names is also the user of this process, and a fork also acts for the agent of its parent.
    """
    claimed = {
        "user": caller.user,
        "team": caller.team,
        "agent": caller.agent,
        "tenant": caller.tenant,
        "environment": caller.environment,
        "client": caller.client,
        "host": caller.host,
    }
    found: dict[str, tuple[str, ...]] = {fact: (value,) for fact, value in claimed.items() if value is not None}
    if caller.roles is not None:
        found["role"] = caller.roles
    for further in (this_process(), parent or {}):
        for fact, values in further.items():
            found[fact] = tuple(dict.fromkeys((*found.get(fact, ()), *values)))
    return found


def beyond_record(caller: Caller, who: Requester) -> Requester:
    """Return the values of `who` that a record about `caller` does not have."""
    recorded = asdict(caller)
    found: dict[str, tuple[str, ...]] = {}
    for fact, values in who.items():
        known = (caller.roles or ()) if fact == "role" else (recorded[fact],)
        further = tuple(value for value in values if value not in known)
        if further:
            found[fact] = further
    return found
