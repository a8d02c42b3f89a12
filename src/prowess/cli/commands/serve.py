"""`prowess serve`: serves the skills of this machine to MCP hosts."""

from __future__ import annotations

import logging
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.http_options import HttpPlace, http_options, http_place
from prowess.cli.options.session_options import (
    first_argument_option,
    open_rules,
    open_workspace,
    policy_option,
    profile_option,
    workspace_options,
)
from prowess.cli.options.store_options import shared_database, store_option, with_deployed_skills
from prowess.cli.options.tool_options import host_tools_named, host_tools_option
from prowess.mcp_server.host_config import HOSTS, snippet

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.runtime import SessionOptions
    from prowess.runtime.activation.substitution import FirstArgument
    from prowess.store import SharedSessionStore


@click.command()
@catalog_options
@workspace_options
@policy_option
@first_argument_option
@profile_option
@host_tools_option
@store_option
@http_options
@click.option(
    "--print-config",
    "host",
    type=click.Choice(list(HOSTS)),
    metavar="HOST",
    help=f"Print the configuration for a host and exit: {', '.join(HOSTS)}.",
)
def command(
    *,
    skills: CatalogOptions,
    workspace: str | None,
    write: bool,
    policy_file: str | None,
    first_argument: FirstArgument | None,
    profile: str | None,
    host_tools: str | None,
    store_url: str | None,
    address: str | None,
    token_file: str | None,
    allow_remote: bool,
    hosts: tuple[str, ...],
    host: str | None,
) -> int:
    """Serve skills over MCP on standard input and output. Usually an MCP host starts it.

    With --http it serves several clients at once, each with its own session. With --store, servers on several machines
    share the sessions, the answers of people, and the decisions of the organisation in the store. The tenant is that of
    --tenant, or of your configuration, or else the tenant "default".

    \b
    Examples:
      prowess serve --print-config claude --root ~/skills --workspace ~/work
      prowess serve --http 127.0.0.1:8000
    """  # noqa: D301 -- click needs the control character
    known = host_tools_named(host_tools)
    if host is not None:
        arguments = _arguments(skills, workspace, policy_file, write=write)
        arguments += [] if first_argument is None else ["--first-argument", str(first_argument)]
        arguments += [] if profile is None else ["--profile", profile]
        arguments += [] if store_url is None else ["--store", store_url]
        _print_config(host, arguments + ([] if host_tools is None else ["--host-tools", host_tools]))
        return exit_codes.OK
    if find_spec("mcp") is None:
        output.error("the MCP server needs the mcp package: pip install 'prowess[mcp]'")
        return exit_codes.USAGE
    place = None if address is None else http_place(address, token_file, hosts, allow_remote=allow_remote)
    if place is None and (token_file is not None or allow_remote or hosts):
        raise click.UsageError("--token-file, --allow-remote and --allow-host need --http")
    if place is not None and find_spec("uvicorn") is None:
        output.error("serving over HTTP needs uvicorn: pip install 'prowess[http]'")
        return exit_codes.USAGE
    catalog = skills.open()
    if skills.quiet:
        logging.getLogger("prowess.catalog").setLevel(logging.ERROR)
    store = None if store_url is None else _shared_store(store_url, catalog)
    catalog = with_deployed_skills(skills, catalog, store)
    chosen = open_workspace(workspace, quiet=skills.quiet)
    policy, audit = open_rules(policy_file, "this server leaves no audit record")
    from prowess.runtime import SessionOptions  # Imported here because `--help` and `--print-config` need no session.

    options = SessionOptions(
        store=store,
        audit=audit,
        workspace=chosen,
        write=write,
        policy=policy,
        host_tools=known,
        first_argument=first_argument,
        profile=profile,
    )
    if place is not None:
        return _serve_http(catalog, place, options)
    # Imported here because the SDK takes most of a second to import, which `--help` and `--print-config` do not need.
    import anyio

    from prowess.mcp_server.quick_import import models_built_when_used

    with models_built_when_used():
        # Imported here for the same reason, and with deferred models to be faster.
        from prowess.mcp_server.server import open_session
        from prowess.mcp_server.stdio import serve_stdio

    if sys.stdin.isatty():
        output.note(
            "Waiting for an MCP client on standard input; Ctrl-C stops it. --print-config HOST prints a configuration."
        )
    anyio.run(serve_stdio, open_session(catalog, options))
    return exit_codes.OK


def _shared_store(url: str, catalog: Catalog) -> SharedSessionStore:
    """Return the store of an organisation. Raises click.BadParameter, and StoreError if it cannot be read."""
    # Imported here because few servers use a shared store.
    from prowess.governance.shared_decisions import SharedDecisions
    from prowess.store import SharedSessionStore

    database = shared_database(url, catalog.audience.tenant)
    SharedDecisions(database).generation()  # reports an unreadable store now, instead of in each answer
    return SharedSessionStore(database)


def _serve_http(catalog: Catalog, place: HttpPlace, options: SessionOptions) -> int:
    from functools import partial  # Imported here for the same reason as in `command`.

    import anyio

    from prowess.mcp_server.quick_import import models_built_when_used

    with models_built_when_used():
        # Imported here for the same reason, and with deferred models to be faster.
        from prowess.mcp_server.http import serve_http
        from prowess.mcp_server.served_session import SessionTable

    def ready(url: str) -> None:
        output.note(f"Serving MCP at {url}; Ctrl-C stops it.")

    serve = partial(serve_http, tokens=place.tokens, hosts=place.hosts, ready=ready)
    try:
        stopped_by = anyio.run(serve, SessionTable(catalog, options, users=place.users), place.host, place.port)
    except OSError as fault:
        output.error(f"cannot listen at {place.host}, port {place.port}: {fault.strerror or fault}")
        return exit_codes.USAGE
    return exit_codes.OK if stopped_by is None else 128 + stopped_by


def _arguments(skills: CatalogOptions, workspace: str | None, policy_file: str | None, *, write: bool) -> list[str]:
    arguments = [part for root in skills.roots for part in ("--root", os.path.abspath(root))]
    arguments += [part for plugin in skills.plugins for part in ("--plugin", os.path.abspath(plugin))]
    arguments += [] if workspace is None else ["--workspace", os.path.abspath(workspace)]
    arguments += [] if policy_file is None else ["--policy", os.path.abspath(policy_file)]
    for flag in ("agent", "tenant", "environment", "layers_order"):
        value = getattr(skills, flag)
        arguments += [] if value is None else [f"--{flag.replace('_', '-')}", value]
    arguments += ["--only-root"] * skills.only_root
    return arguments + ["--write"] * write + ["--trust-project"] * skills.trust_project


def _print_config(host: str, arguments: list[str]) -> None:
    # A host starts the server with another environment, so a changed PROWESS_HOME must be passed on.
    moved = {"PROWESS_HOME": prowess_home()} if os.environ.get("PROWESS_HOME") else {}
    output.note(f"Put this into {HOSTS[host].place}:")
    output.raw(snippet(HOSTS[host], arguments, moved) + "\n")
