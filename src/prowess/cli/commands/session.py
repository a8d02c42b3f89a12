"""`prowess session`: a session over JSON lines, for a host in any language."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from prowess._internal.places import ensure_private_directory, prowess_home
from prowess.catalog import Catalog
from prowess.cli import exit_codes, output
from prowess.execution import usable_workspace
from prowess.policy import JsonlAuditLog
from prowess.runtime import SyncSession
from prowess.runtime.json_lines import serve_json_lines
from prowess.store import MemorySessionStore, SqliteSessionStore

if TYPE_CHECKING:
    from prowess.policy import AuditLog
    from prowess.runtime.options import Body
    from prowess.store import SessionStore

_DIRECTORY = click.Path(exists=True, file_okay=False)


@click.command()
@click.option("--root", "roots", multiple=True, type=_DIRECTORY, help="Take skills from DIR instead of the layers.")
@click.option("--id", "session_id", help="Continue or begin the session of this name; it outlives the process.")
@click.option("--workspace", type=_DIRECTORY, help="The directory that scripts work on (default: the current one).")
@click.option("--write", is_flag=True, help="Let scripts write to the workspace.")
@click.option("--plugin", "plugins", multiple=True, type=_DIRECTORY, help="Add a plugin directory.")
@click.option("--trust-project", is_flag=True, help="Offer the skills of this project, this once.")
@click.option(
    "--body",
    type=click.Choice(["instructions", "result"]),
    default="instructions",
    help="Where the instructions of loaded skills stand.",
)
def command(  # noqa: PLR0917 -- click passes options by name
    roots: tuple[str, ...],
    session_id: str | None,
    workspace: str | None,
    write: bool,  # noqa: FBT001 -- click passes options by name
    plugins: tuple[str, ...],
    trust_project: bool,  # noqa: FBT001 -- as write
    body: Body,
) -> int:
    r"""Host a session: read requests from standard input, one JSON object a line, and answer each with one.

    \b
    Example:
      echo '{"id":1,"tool":"skills.load","arguments":{"names":["csv-report"]}}' | prowess session --root examples/skills
    """
    catalog = Catalog(*roots) if roots else Catalog.discover(plugins=plugins, trust_project=trust_project)
    for notice in catalog.notices:
        output.note(notice.message)
    store, audit = _kept(session_id)
    chosen, refused = usable_workspace(workspace or os.getcwd())
    if refused is not None:
        output.note(refused.message)
    session = SyncSession(
        catalog, store=store, session_id=session_id, audit=audit, workspace=chosen, write=write, body=body
    )
    try:
        serve_json_lines(session, sys.stdin.buffer.readline, output.raw_bytes)
    except BrokenPipeError:
        output.drop_standard_output()  # the host is gone, and with it everybody who could be told
    finally:
        # A session with a name is continued later; the request `close` ends it.
        if session_id is None:
            session.close()
        else:
            session.detach()
    return exit_codes.OK


def _kept(session_id: str | None) -> tuple[SessionStore, AuditLog | None]:
    """Return where state and audit records go; nowhere lasting, with one notice, where the home cannot be written."""
    home = prowess_home()
    try:
        ensure_private_directory(home)
        writable = os.access(home, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        output.note(f"{home} cannot be written: the session ends with this process and leaves no audit record")
        return MemorySessionStore(), None
    store = MemorySessionStore() if session_id is None else SqliteSessionStore(os.path.join(home, "state.db"))
    return store, JsonlAuditLog(os.path.join(home, "audit", "audit.jsonl"), fsync="record")
