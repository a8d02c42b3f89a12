"""`prowess serve`: the skills of this machine for any host that speaks MCP."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import click

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes, output
from prowess.cli.catalog_options import catalog_options, open_catalog
from prowess.cli.session_options import audit_log, open_workspace, workspace_options, writable_home
from prowess.mcp_server.host_config import HOSTS, snippet


@click.command()
@catalog_options
@workspace_options
@click.option(
    "--print-config",
    "host",
    type=click.Choice(list(HOSTS)),
    metavar="HOST",
    help=f"Print the configuration for a host and stop: {', '.join(HOSTS)}.",
)
def command(  # noqa: PLR0917 -- click passes options by name
    roots: tuple[str, ...],
    plugins: tuple[str, ...],
    trust_project: bool,  # noqa: FBT001 -- click passes options by name
    quiet: bool,  # noqa: FBT001 -- as trust_project
    workspace: str | None,
    write: bool,  # noqa: FBT001 -- as trust_project
    host: str | None,
) -> int:
    """Serve skills over MCP on standard input and output; a host starts this, rarely a person.

    \b
    Example:
      prowess serve --print-config claude --root ~/skills --workspace ~/work
    """  # noqa: D301 -- click looks for the character itself
    if host is not None:
        _print_config(host, _arguments(roots, plugins, workspace, write=write, trust_project=trust_project))
        return exit_codes.OK
    if find_spec("mcp") is None:
        output.error("the MCP server needs the mcp package: pip install 'prowess[mcp]'")
        return exit_codes.USAGE
    # Imported here, not at the top: the SDK takes most of a second, which --help and --print-config must not pay for.
    import anyio

    from prowess.mcp_server.server import open_session
    from prowess.mcp_server.stdio import serve_stdio

    catalog = open_catalog(roots, plugins, trust_project=trust_project, quiet=quiet)
    chosen = open_workspace(workspace, quiet=quiet)
    audit = audit_log(writable_home("this server leaves no audit record"))
    if sys.stdin.isatty():
        output.note(
            "Waiting for an MCP client on standard input; Ctrl-C ends this. --print-config HOST sets up a host."
        )
    anyio.run(serve_stdio, open_session(catalog, audit=audit, workspace=chosen, write=write))
    return exit_codes.OK


def _arguments(
    roots: tuple[str, ...], plugins: tuple[str, ...], workspace: str | None, *, write: bool, trust_project: bool
) -> list[str]:
    arguments = [part for root in roots for part in ("--root", os.path.abspath(root))]
    arguments += [part for plugin in plugins for part in ("--plugin", os.path.abspath(plugin))]
    arguments += [] if workspace is None else ["--workspace", os.path.abspath(workspace)]
    return arguments + ["--write"] * write + ["--trust-project"] * trust_project


def _print_config(host: str, arguments: list[str]) -> None:
    # A host starts the server with an environment of its own, so a home that was moved must be named.
    moved = {"PROWESS_HOME": prowess_home()} if os.environ.get("PROWESS_HOME") else {}
    output.note(f"Put this into {HOSTS[host].place}:")
    output.raw(snippet(HOSTS[host], arguments, moved) + "\n")
