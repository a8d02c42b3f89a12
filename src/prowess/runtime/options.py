"""The options of a session, declared once for `Session`, `SyncSession` and hosts that pass them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from prowess.audit import AuditLog
    from prowess.execution import Sandbox
    from prowess.policy import Approver, Policy, RestrictionMode
    from prowess.runtime.call_options import ExposureName
    from prowess.runtime.composing import HostTools
    from prowess.runtime.event import SessionEvent
    from prowess.runtime.events import EventObserver
    from prowess.runtime.fork import AgentType, ForkRunner
    from prowess.store import SessionStore
    from prowess.tools import Tool

Body = Literal["instructions", "result"]


class SessionOptions(TypedDict, total=False):
    """What `Session` takes beside the catalog; its docstring says what each means."""

    store: SessionStore | None
    session_id: str | None
    cap: int
    ttl_seconds: float
    body: Body
    sandbox: Sandbox | None
    scripts: bool
    audit: AuditLog | None
    workspace: str | os.PathLike[str] | None
    write: bool
    expose_location: bool
    artifacts_dir: str | os.PathLike[str] | None
    extra_tools: Iterable[Tool]
    host_tools: HostTools | None
    exposure: ExposureName
    commands: bool
    fork_runner: ForkRunner | None
    agent_types: Iterable[AgentType]
    fork_workspace: bool
    policy: Policy | None
    approver: Approver | None
    allowed_tools: RestrictionMode | None
    clock: Callable[[], float]
    keep_events: int
    observers: Iterable[EventObserver]


class ListeningOptions(SessionOptions, total=False):
    """As `SessionOptions`, with a callback for events; `Agent` has one of its own, for its steps."""

    on_event: Callable[[SessionEvent], object] | None
