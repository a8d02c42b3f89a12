"""`prowess session`: a session over JSON lines, for hosts in any language."""

from __future__ import annotations

import logging
import os
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

import click

from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import (
    audit_log,
    first_argument_option,
    open_workspace,
    policy_option,
    profile_option,
    require_log,
    workspace_options,
    writable_home,
)
from prowess.cli.options.store_options import opened_store, store_option, with_deployed_skills
from prowess.cli.options.tool_options import host_tools_named, host_tools_option, tools_named
from prowess.cli.signals import ended_in_order
from prowess.errors import InvalidArgumentsError
from prowess.governance.call_requests import RequestFiles
from prowess.policy import PolicyInForce, Refusal
from prowess.runtime import SyncSession
from prowess.runtime.json_lines import called, event_line, judged, serve_json_lines
from prowess.runtime.organisation import organisation_of
from prowess.store import MemorySessionStore, SqliteSessionStore
from prowess.tools.builtin import BUILTIN_NAMES
from prowess.tools.gates import CallbackApprover

if TYPE_CHECKING:
    from prowess.runtime.activation.substitution import FirstArgument
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.options import Body

_KEPT_EVENTS = 1000  # events kept for each session


@click.command()
@catalog_options
@click.option(
    "--id", "session_id", help="Create or continue the session with this name; it is kept when the process ends."
)
@store_option
@workspace_options
@click.option(
    "--body",
    type=click.Choice(["instructions", "result"]),
    default="instructions",
    help="Put instructions of loaded skills into the session's instructions or into the result of loading.",
)
@policy_option
@first_argument_option
@profile_option
@click.option(
    "--approve",
    type=click.Choice(["ask", "deny"]),
    default="ask",
    help="If the policy asks about a call: wait for the method approve, or refuse the call.",
)
@click.option(
    "--tools",
    "tool_names",
    metavar="NAMES",
    help=f"Also offer these tools for the workspace: {','.join(BUILTIN_NAMES).lower()}.",
)
@host_tools_option
@click.option("--decide", is_flag=True, help="Decide about calls without running them.")
@click.option(
    "--events", is_flag=True, help='Print each event as a line {"event": ...}, before the answer of its call.'
)
def command(
    *,
    skills: CatalogOptions,
    session_id: str | None,
    store_url: str | None,
    workspace: str | None,
    write: bool,
    body: Body,
    policy_file: str | None,
    first_argument: FirstArgument | None,
    profile: str | None,
    approve: str,
    tool_names: str | None,
    host_tools: str | None,
    decide: bool,
    events: bool,
) -> int:
    """Host a session: answer each request on standard input, one JSON object per line, with one line.

    With --store and the same --id, processes on several machines share one session. The tenant is that of --tenant, or
    of your configuration, or else the tenant "default".

    \b
    Example:
      echo '{"id":1,"tool":"skills.load","arguments":{"names":["csv-report"]}}' |
        prowess session --root examples/skills
    """  # noqa: D301 -- click needs the control character
    catalog = skills.open()
    home = writable_home("the session ends with this process and leaves no audit record")
    store = _store(home, session_id) if store_url is None else opened_store(store_url, catalog.audience.tenant)
    catalog = with_deployed_skills(skills, catalog, store)
    audit = audit_log(home)
    chosen = open_workspace(workspace, quiet=skills.quiet)
    organisation = organisation_of(store)
    policy = PolicyInForce(policy_file=policy_file).apart(organisation=organisation.source)
    require_log(policy.require(), audit)
    lines = _Lines()
    known = host_tools_named(host_tools)
    tools = () if tool_names is None else tools_named(tool_names)
    if tools and chosen is None:
        raise click.BadParameter("these tools need a workspace; name one with --workspace", param_hint="--tools")
    try:
        session = SyncSession(
            catalog,
            store=store,
            session_id=session_id,
            audit=audit,
            workspace=chosen,
            write=write,
            body=body,
            first_argument=first_argument,
            scripts=not decide,  # without running calls, loading a skill must not run its hooks
            policy=policy,
            profile=profile,
            approver=(organisation.requests or RequestFiles())
            if approve == "ask"
            else CallbackApprover(lambda _: _NOBODY_APPROVES),
            tools=tools,
            host_tools=known,
            keep_events=_KEPT_EVENTS,
            on_event=lines.event if events else None,
        )
    except InvalidArgumentsError as fault:
        if session_id is None:
            raise
        raise click.BadParameter(str(fault).removeprefix("session_id "), param_hint="--id") from fault
    with ended_in_order(), store:
        try:
            if session_id is not None or store_url is not None:
                session.refresh()  # reports an unreadable store now, instead of in each answer
            if events:
                if skills.quiet:
                    logging.getLogger("prowess.catalog").setLevel(logging.ERROR)
                threading.Thread(target=session.watch, name="prowess-session-watch", daemon=True).start()
            call = partial(judged, by_skills_alone=policy_file is None) if decide else called
            serve_json_lines(session, sys.stdin.buffer.readline, partial(lines.answer, session), call)
        except _HostGoneError:
            pass  # the host has closed the pipe, so no answer can be sent
        finally:
            # A named session can be continued later; only the request `close` ends it.
            if session_id is None:
                session.close()
            else:
                session.detach()
    return exit_codes.OK


_NOBODY_APPROVES = Refusal(reason="this session approves no call (--approve deny)")


class _HostGoneError(Exception):
    """The host has closed its end of the pipe."""


class _Lines:
    """Standard output, shared by answers and by events, which are printed from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_read = True

    def event(self, event: SessionEvent) -> None:
        """Print an event as one line."""
        self._print(event_line(event))

    def answer(self, session: SyncSession, line: bytes) -> None:
        """Print an answer, after all events that precede it."""
        session.drain_events()
        self._print(line)
        if not self._is_read:
            raise _HostGoneError

    def _print(self, line: bytes) -> None:
        with self._lock:
            self._is_read = self._is_read and output.raw_bytes(line)


def _store(home: str | None, session_id: str | None) -> MemorySessionStore | SqliteSessionStore:
    """Return the store: SQLite in the home if the session has a name, else in memory."""
    if home is None or session_id is None:
        return MemorySessionStore()
    return SqliteSessionStore(os.path.join(home, "state.db"))
