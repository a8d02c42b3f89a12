"""`prowess serve`: the skills of this machine for any host that speaks MCP."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from prowess._internal.places import ensure_private_directory, prowess_home
from prowess.cli import exit_codes, output
from prowess.mcp_server.host_config import HOSTS, snippet

if TYPE_CHECKING:
    from prowess.policy import AuditLog

_DIRECTORY = click.Path(exists=True, file_okay=False)


@click.command()
@click.option("--root", "roots", multiple=True, type=_DIRECTORY, help="Take skills from DIR instead of the layers.")
@click.option("--plugin", "plugins", multiple=True, type=_DIRECTORY, help="Add a plugin directory.")
@click.option("--workspace", type=_DIRECTORY, help="The directory that scripts work on (default: the current one).")
@click.option("--write", is_flag=True, help="Let scripts write to the workspace.")
@click.option("--trust-project", is_flag=True, help="Offer the skills of this project, this once.")
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
    workspace: str | None,
    write: bool,  # noqa: FBT001 -- click passes options by name
    trust_project: bool,  # noqa: FBT001 -- as write
    host: str | None,
) -> int:
    r"""Serve skills over MCP on standard input and output; a host starts this, rarely a person.

    \b
    Example:
      prowess serve --print-config claude --root ~/skills --workspace ~/work
    """
    if host is not None:
        _print_config(host, _arguments(roots, plugins, workspace, write=write, trust_project=trust_project))
        return exit_codes.OK
    if find_spec("mcp") is None:
        output.error("the MCP server needs the mcp package: pip install 'prowess[mcp]'")
        return exit_codes.USAGE
    # Imported here, not at the top: the SDK takes most of a second, which --help and --print-config must not pay for.
    import anyio

    from prowess.catalog import Catalog
    from prowess.execution import usable_workspace
    from prowess.mcp_server.server import open_session
    from prowess.mcp_server.stdio import serve_stdio

    catalog = Catalog(*roots) if roots else Catalog.discover(plugins=plugins, trust_project=trust_project)
    for notice in catalog.notices:
        output.note(notice.message)
    chosen, refused = usable_workspace(workspace or os.getcwd())
    if refused is not None:
        output.note(refused.message)
    if sys.stdin.isatty():
        output.note(
            "Waiting for an MCP client on standard input; Ctrl-C ends this. --print-config HOST sets up a host."
        )
    anyio.run(serve_stdio, open_session(catalog, audit=_audit(), workspace=chosen, write=write))
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


def _audit() -> AuditLog | None:
    # Imported here, not at the top: --print-config writes no log.
    from prowess.policy import JsonlAuditLog

    home = prowess_home()
    try:
        ensure_private_directory(home)
        writable = os.access(home, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        output.note(f"{home} cannot be written: this server leaves no audit record")
        return None
    return JsonlAuditLog(os.path.join(home, "audit", "audit.jsonl"), fsync="record")
