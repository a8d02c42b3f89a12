"""Calls of commands with `--store` to the store of an organisation: as the owner of a token, or as this user.

Who has the URL of the store and no token has every role: the URL lets its owner write to the database in any case. Such
an act is recorded with the name of this user, as the operating system knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options.organisation_options import OrganisationOptions
from prowess.cli.options.store_options import shared_database
from prowess.governance.acts import person
from prowess.policy.roles import ROLES
from prowess.store.tenants import DEFAULT, EVERY, tenant_name_fault

if TYPE_CHECKING:
    from prowess.governance.service.service_call import ServiceCall


def store_call(url: str, tenant: str | None, token_file: str | None = None) -> ServiceCall:
    """Return the call of a command to a shared store, in `tenant`, by default that of the token, else `default`.

    Raises:
        click.BadParameter: the URL names no shared store, or a tenant cannot have this name.
        click.UsageError: the file holds no token.
        PolicyDeniedError: the token is unknown, has expired, or is of another tenant.
        StoreError: the store cannot be used, or has no such tenant.
    """
    # Imported here because few commands use a shared store.
    from prowess.cli.organisation.local import owner_of
    from prowess.governance.service.service_call import Actor, ServiceCall

    if tenant not in {None, EVERY} and (fault := tenant_name_fault(tenant or "")):
        raise click.BadParameter(fault, param_hint="--tenant")
    database = shared_database(url, EVERY)
    text = OrganisationOptions(store_url=url, token_file=token_file).token()
    if text is None:
        actor = Actor(user=person(), roles=ROLES, tenant=EVERY, identified_by="system")
    else:
        actor = owner_of(database, text)
    if tenant is None:
        tenant = DEFAULT if actor.tenant == EVERY else actor.tenant
    return ServiceCall(actor, database, tenant=tenant, client="prowess")
