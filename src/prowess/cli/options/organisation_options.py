"""Options of administrators' commands: the store of an organisation, or its server, and the services of either.

A command gets the same services, with the same types and errors, from both:

    with opened_organisation(options, "audit") as organisation:
        organisation.audit.checkpoint()
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.key_files import TOKEN_TEXT, read_token
from prowess.cli.options import together
from prowess.errors import UnsafePathError
from prowess.store.tenants import DEFAULT, EVERY, tenant_name_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.cli.organisation.local import LocalOrganisation
    from prowess.distribution.organisation_server.client import RemoteOrganisation
    from prowess.policy.roles import Operation

TOKEN_VARIABLE = "PROWESS_SERVER_TOKEN"  # noqa: S105 -- a name, not a token
_OPTIONS = {"store_url": "--store", "server_url": "--server", "token_file": "--token-file", "tenant": "--tenant"}


class OrganisationOptions(Struct, frozen=True, kw_only=True):
    """Where the organisation is: `store_url` or `server_url`, or neither. `tenant` is None if it was not given."""

    store_url: str | None = None
    server_url: str | None = None
    token_file: str | None = None
    tenant: str | None = None

    @property
    def given(self) -> bool:
        """Whether a store or a server was named."""
        return self.store_url is not None or self.server_url is not None

    def in_tenant(self, tenant: str | None) -> OrganisationOptions:
        """Return the same options with a tenant. Raises click.BadParameter if no tenant can have this name."""
        found = replace(self, tenant=tenant)
        _check(found, alone=True)
        return found

    def require_alone(self, **others: object) -> None:
        """Refuse options of the command that do not go together with a store or a server."""
        if not self.given:
            return
        option = "--store" if self.store_url is not None else "--server"
        for name, value in others.items():
            if value is not None and value is not False and value != ():
                raise click.UsageError(f"{option} excludes --{name.replace('_', '-')}")

    def token(self) -> str | None:
        """Return the token, None if there is none. Raises click.UsageError if it cannot be read."""
        if self.token_file is not None:
            return read_token(self.token_file)
        text = os.environ.get(TOKEN_VARIABLE, "").strip()
        if text and TOKEN_TEXT.fullmatch(text) is None:
            raise click.UsageError(f"{TOKEN_VARIABLE} holds no token; a token is one line of printable characters")
        return text or None


def organisation_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `OrganisationOptions`, passed to it as the argument `of`."""
    return _with_options(command, "The tenant; * for the organisation (default: the token's).", alone=False)


def organisation_or_tenant_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the same options. Without a store or a server, `--tenant` selects records of a tenant."""
    return _with_options(command, "Records of this tenant; with --store or --server, the tenant there.", alone=True)


def organisation_options_beside_catalog(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the same options without `--tenant`, which `catalog_options` have; see `in_tenant`."""
    return _with_options(command, None, alone=True)


def _with_options(command: Callable[..., int], tenant_help: str | None, *, alone: bool) -> Callable[..., int]:
    @wraps(command)
    def with_organisation(**given: Any) -> int:  # noqa: ANN401 -- receives the command's options and ours
        ours = {name: given.pop(name) for name in _OPTIONS if name != "tenant" or tenant_help is not None}
        options = OrganisationOptions(**ours)
        _check(options, alone=alone)
        return command(of=options, **given)

    return together(
        click.option(
            "--store",
            "store_url",
            metavar="URL",
            help="The store of an organisation: postgresql://HOST/DATABASE, or sqlite:///PATH.",
        ),
        click.option("--server", "server_url", metavar="URL", help="The server of an organisation: https://HOST."),
        click.option(
            "--token-file",
            metavar="FILE",
            help=f"With --server: your token; also with --store, to act as its owner (default: {TOKEN_VARIABLE}).",
        ),
        *([] if tenant_help is None else [click.option("--tenant", metavar="NAME", help=tenant_help)]),
    )(with_organisation)


def _check(options: OrganisationOptions, *, alone: bool) -> None:
    if options.store_url is not None and options.server_url is not None:
        raise click.UsageError("--store and --server exclude each other")
    if not options.given:
        for name in ("token_file",) if alone else ("token_file", "tenant"):
            if getattr(options, name) is not None:
                raise click.UsageError(f"{_OPTIONS[name]} needs --store or --server")
    if options.given and options.tenant not in {None, EVERY} and (fault := tenant_name_fault(str(options.tenant))):
        raise click.BadParameter(fault, param_hint="--tenant")


@contextmanager
def opened_organisation(
    options: OrganisationOptions, operation: Operation, *, tenant: str = DEFAULT
) -> Iterator[LocalOrganisation | RemoteOrganisation]:
    """Open the services of the organisation that the options name.

    `operation` is what the command does: with a store, the roles of this machine's policy must permit it to this user.
    `tenant` is the one that is meant if neither the options nor the token name one.

    Raises:
        click.UsageError: no organisation is named, or the token is missing or cannot be read.
        PolicyDeniedError: the roles do not permit it.
        StoreError: the store cannot be used.
        UnavailableError, ServerAnswerError, DistributionError: the server cannot be used.
    """
    opened = _local(options, operation, tenant) if options.server_url is None else _remote(options, tenant)
    try:
        yield opened
    finally:
        opened.close()


def note_tenant(organisation: LocalOrganisation | RemoteOrganisation) -> None:
    """Mention the tenant in which nothing was found, if none was named."""
    if organisation.meant not in {None, EVERY}:
        output.note(f"the tenant is {organisation.meant}, because none was named; --tenant NAME names another")


def _local(options: OrganisationOptions, operation: Operation, tenant: str) -> LocalOrganisation:
    # Imported here because SQLAlchemy takes long, and many commands need no organisation.
    from prowess.cli.organisation.local import LocalOrganisation

    if options.store_url is None:
        raise click.UsageError("give --store URL or --server URL")
    return LocalOrganisation(options.store_url, options.tenant, options.token(), operation, meant=tenant)


def _remote(options: OrganisationOptions, tenant: str) -> RemoteOrganisation:
    # Imported here, as the next one, because the types of the services import SQLAlchemy.
    from prowess.distribution.organisation_server.client import RemoteOrganisation, own_tenant
    from prowess.distribution.organisation_server.connection import ServerConnection  # as above

    url, token = str(options.server_url), options.token()
    if token is None:
        raise click.UsageError(f"--server needs a token: --token-file FILE or {TOKEN_VARIABLE}")
    try:
        server = ServerConnection(url, token, options.tenant)
    except UnsafePathError as fault:
        raise click.BadParameter(printable_line(str(fault)), param_hint="--server") from None
    meant = None
    try:
        if options.tenant is None and tenant != EVERY and own_tenant(server) == EVERY:
            server.tenant = meant = tenant
    except BaseException:
        server.close()
        raise
    return RemoteOrganisation(server, meant)
