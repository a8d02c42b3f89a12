"""`prowess session`: a session over JSON lines, for a host in any language."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from prowess.cli import exit_codes, output
from prowess.cli.catalog_options import catalog_options, open_catalog
from prowess.cli.session_options import audit_log, open_workspace, workspace_options, writable_home
from prowess.cli.signals import ended_in_order
from prowess.errors import InvalidArgumentsError
from prowess.runtime import SyncSession
from prowess.runtime.json_lines import serve_json_lines
from prowess.store import MemorySessionStore, SqliteSessionStore

if TYPE_CHECKING:
    from prowess.runtime.options import Body
    from prowess.store import SessionStore


@click.command()
@catalog_options
@click.option("--id", "session_id", help="Continue or begin the session of this name; it outlives the process.")
@workspace_options
@click.option(
    "--body",
    type=click.Choice(["instructions", "result"]),
    default="instructions",
    help="Where the instructions of loaded skills stand.",
)
def command(  # noqa: PLR0917 -- click passes options by name
    roots: tuple[str, ...],
    plugins: tuple[str, ...],
    trust_project: bool,  # noqa: FBT001 -- click passes options by name
    quiet: bool,  # noqa: FBT001 -- as trust_project
    session_id: str | None,
    workspace: str | None,
    write: bool,  # noqa: FBT001 -- as trust_project
    body: Body,
) -> int:
    """Host a session: read requests from standard input, one JSON object a line, and answer each with one.

    \b
    Example:
      echo '{"id":1,"tool":"skills.load","arguments":{"names":["csv-report"]}}' | prowess session --root examples/skills
    """  # noqa: D301 -- click looks for the character itself
    catalog = open_catalog(roots, plugins, trust_project=trust_project, quiet=quiet)
    home = writable_home("the session ends with this process and leaves no audit record")
    store = _store(home, session_id)
    audit = audit_log(home)
    chosen = open_workspace(workspace, quiet=quiet)
    try:
        session = SyncSession(
            catalog, store=store, session_id=session_id, audit=audit, workspace=chosen, write=write, body=body
        )
    except InvalidArgumentsError as fault:
        if session_id is None:
            raise
        raise click.BadParameter(str(fault).removeprefix("session_id "), param_hint="--id") from fault
    with ended_in_order():
        try:
            if session_id is not None:
                session.refresh()  # a store that cannot be read is told now, not in the answer to every request
            serve_json_lines(session, sys.stdin.buffer.readline, _answer)
        except _NobodyReadsError:
            pass  # the host is gone, and with it everybody who could be told
        finally:
            # A session with a name is continued later; the request `close` ends it.
            if session_id is None:
                session.close()
            else:
                session.detach()
    return exit_codes.OK


class _NobodyReadsError(Exception):
    """The host has closed its end."""


def _answer(line: bytes) -> None:
    if not output.raw_bytes(line):
        raise _NobodyReadsError


def _store(home: str | None, session_id: str | None) -> SessionStore:
    """Return where the state lies: with a name in the home, else in memory."""
    if home is None or session_id is None:
        return MemorySessionStore()
    return SqliteSessionStore(os.path.join(home, "state.db"))
