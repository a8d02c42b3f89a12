"""Options of a session: declared, documented and checked once for all entry points.

`Session`, `SyncSession`, `Agent`, the commands and the MCP server take a `SessionOptions` or build one. The typed
dictionaries at the end repeat the fields of `SessionOptions` as keywords for type checkers. A test compares the
dictionaries with the fields.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict

from msgspec import Struct
from msgspec.structs import force_setattr

from prowess.errors import InvalidArgumentsError
from prowess.execution import usable_workspace
from prowess.format.profiles import profile_named
from prowess.policy.restriction import RESTRICTION_MODES
from prowess.runtime.call_options import checked_exposure
from prowess.runtime.session_state import DEFAULT_TTL_SECONDS
from prowess.store import EventStore
from prowess.tools import builtin
from prowess.tools.gates import approver_of

if TYPE_CHECKING:
    from prowess.audit import AuditLog, Caller
    from prowess.catalog import Catalog
    from prowess.execution import Sandbox
    from prowess.policy import ApprovalRequest, Approver, Policy, PolicyInForce, RestrictionMode
    from prowess.runtime.activation.composition import HostTools
    from prowess.runtime.activation.substitution import FirstArgument
    from prowess.runtime.call_options import ExposureName
    from prowess.runtime.events.delivery import EventObserver
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.forks import AgentType, ForkRunner
    from prowess.runtime.identity import Identity
    from prowess.store import SessionStore
    from prowess.tools import Tool

Body = Literal["instructions", "result"]

DEFAULT_CAP = 8
MAX_KEPT_EVENTS = 1_000_000  # per session
_SESSION_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"


class SessionOptions(Struct, frozen=True, kw_only=True):
    """Options of a session except the catalog. `Session(catalog, cap=4)` takes the fields as keywords.

    `store` keeps the state; by default the state is in the memory of this session only. If the store has a session with
    the id `session_id`, that session is continued, otherwise it is started. At most `cap` skills are active. After
    `ttl_seconds` without a call the session expires. `body` sets where the instructions of loaded skills appear: in
    `instructions()`, or in the load result for hosts whose instructions are fixed. `exposure` is how skills are
    presented to a model (`prowess.runtime.disclosure.exposure`); a call of `tools` or `instructions` can choose another
    exposure. With `expose_location=False` no path of this machine is shown. `artifacts_dir` defaults to
    `PROWESS_HOME/artifacts`. `clock` returns seconds since the epoch.

    `sandbox` defaults to the strongest sandbox of this machine; `scripts=False` switches scripts off. `workspace` is
    the directory that scripts work on. Scripts can change the workspace only with `write=True`. Built-in tools among
    `extra_tools` must have the same workspace as the session. `tools` are built-in tools to offer for the workspace:
    `"read,bash"` or a list of names in any case. With `commands`, commands in skill bodies run in the sandbox.

    `fork_runner` runs skills with `context: fork`. If such a skill names an agent type, it must be one of
    `agent_types`. A fork has access to the workspace only with `fork_workspace`. `first_argument` is the number of the
    first word of a skill's arguments: with 0, `$0` is the first and `$1` the second; with 1, `$1` is the first. None
    uses the user's `config.toml` (`[session] first_argument`), else 0.

    Every call is checked in this order. First the call must be permitted by the current policy files of this machine
    and this user, and by `policy`. Then it must be permitted by the `allowed-tools` of the active skills. Last, if the
    policy requires approval, `approve` or `approver` is asked. `approve` is a plain or async function that receives the
    `ApprovalRequest` and returns True, False, an `Approval` or a `Refusal`. `approver` is an object with a method
    `approve`. If neither is given, the call is refused with `approval_required` until `Session.approve` is called. A
    plain function blocks the event loop, so use an async function to wait for a person.

    `allowed_tools` sets how the skills' field `allowed-tools` is used: `restrict` refuses tools that are not listed,
    `ask` requires approval for tools that are not listed, and `preapprove` lets listed tools run without approval. A
    host can only tighten the value that a policy file sets. If neither the host nor a policy file sets a value,
    `profile` decides: skills pre-approve in `claude-code` and restrict in every other profile. `profile=None` uses the
    user's `config.toml`. `audit` is the log of all calls, None for no log. The records name `caller`, by default the
    user of this process. `identity` are user, team and roles of the person for whom the host opens the session. Rules
    match them as `who.user`, `who.team` and `who.role`, and records mark them as the host's word.

    A skill whose manifest requires a tool is loaded only if the tool exists. `host_tools` names the tools that the
    model has in addition to the session's tools, with versions if known. With None, the host's tools are unknown: if
    the session lacks a required tool, this is reported to the model, and the load is not refused.

    `agent`, `tenant` and `environment` are the audience that the `scope` of skills is compared with
    (`prowess.catalog.viewing.audience`). None leaves a value as the catalog has it. A fork sees the skills of its own
    agent type.

    `on_event` is called in its own thread with each event of this session and its forks. `Session.events` returns the
    events as a stream. With `keep_events`, the store keeps about that many of the newest events, also for other
    processes. `observers` are called when an event happens (`prowess.runtime.events.delivery`). If there is no
    listener, events cost no time.

    Raises:
        InvalidArgumentsError: an option is invalid, for one of these reasons:

            - `session_id` is not 1 to 128 letters, digits, `.`, `_`, `-`.
            - `cap` is below 1, or `first_argument` is neither 0 nor 1.
            - `exposure`, `allowed_tools` or `profile` does not exist.
            - `workspace` is unsuitable (`prowess.execution.usable_workspace`): no directory, the root directory, a home
              directory, or a directory that contains a home directory or `PROWESS_HOME`.
            - A built-in tool has another workspace, or `tools` are given without a workspace.
            - Both `approve` and `approver` are given.
            - `keep_events` is negative or above 1,000,000, or the store cannot keep events.
        ToolNotFoundError: `tools` has an unknown name; similar names are in `suggestions`.
    """

    store: SessionStore | None = None
    session_id: str | None = None
    cap: int = DEFAULT_CAP
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    body: Body = "instructions"
    sandbox: Sandbox | None = None
    scripts: bool = True
    audit: AuditLog | None = None
    caller: Caller | None = None
    identity: Identity | None = None
    workspace: str | os.PathLike[str] | None = None
    write: bool = False
    expose_location: bool = True
    artifacts_dir: str | os.PathLike[str] | None = None
    tools: str | Iterable[str] = ()
    extra_tools: Iterable[Tool] = ()
    host_tools: HostTools | None = None
    exposure: ExposureName = "tools"
    commands: bool = False
    first_argument: FirstArgument | None = None
    fork_runner: ForkRunner | None = None
    agent_types: Iterable[AgentType] = ()
    fork_workspace: bool = False
    policy: Policy | PolicyInForce | None = None
    approve: Callable[[ApprovalRequest], object] | None = None
    approver: Approver | None = None
    allowed_tools: RestrictionMode | None = None
    profile: str | None = None
    clock: Callable[[], float] = time.time
    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None
    keep_events: int = 0
    observers: Iterable[EventObserver] = ()
    on_event: Callable[[SessionEvent], object] | None = None

    def __post_init__(self) -> None:
        # The id becomes a directory name for artifacts, so it must not contain path separators or be "..".
        if self.session_id is not None and not re.fullmatch(_SESSION_ID, self.session_id):
            problem = "session_id must be 1 to 128 letters, digits, '.', '_' or '-', and begin with a letter or digit"
            raise InvalidArgumentsError((problem,))
        if self.cap < 1:
            raise InvalidArgumentsError(("cap must be at least 1",))
        if self.first_argument not in (None, 0, 1):
            raise InvalidArgumentsError(("first_argument must be 0 or 1",))
        checked_exposure(self.exposure)
        if self.allowed_tools not in (None, *RESTRICTION_MODES):
            problem = f"allowed_tools must be one of {', '.join(RESTRICTION_MODES)}, not {self.allowed_tools!r}"
            raise InvalidArgumentsError((problem,))
        if self.profile is not None:
            profile_named(self.profile)
        if not 0 <= self.keep_events <= MAX_KEPT_EVENTS:
            raise InvalidArgumentsError((f"keep_events must be from 0 to {MAX_KEPT_EVENTS}",))
        if self.keep_events and self.store is not None and not isinstance(self.store, EventStore):
            problem = f"{type(self.store).__name__} cannot keep events; leave keep_events out"
            raise InvalidArgumentsError((problem,))
        force_setattr(self, "approver", approver_of(self.approve, self.approver))
        force_setattr(self, "approve", None)
        force_setattr(self, "tools", builtin.builtin_named(self.tools))
        for name in ("extra_tools", "agent_types", "observers"):  # may be iterators, which are consumed by one use
            force_setattr(self, name, tuple(getattr(self, name)))
        if self.host_tools is not None and not isinstance(self.host_tools, Mapping):
            force_setattr(self, "host_tools", tuple(self.host_tools))
        self._check_workspace()

    def _check_workspace(self) -> None:
        used = {root for tool in self.extra_tools if (root := _workspace_of(tool)) is not None}
        if self.workspace is not None:
            named = os.path.abspath(self.workspace)
            force_setattr(self, "workspace", named)
            real, refused = usable_workspace(named)
            if real is None:
                why = f"{named} cannot be a workspace" if refused is None else refused.message.partition(";")[0]
                raise InvalidArgumentsError((why,))
            used.add(real)
        if len(used) > 1:
            problem = f"a session and its tools must have one workspace; given are {', '.join(sorted(used))}"
            raise InvalidArgumentsError((problem,))
        if self.tools and self.workspace is None:
            problem = "built-in tools need a workspace; pass the directory that they work on as workspace="
            raise InvalidArgumentsError((problem,))

    @classmethod
    def of(cls, given: SessionOptions | None, keywords: Mapping[str, Any]) -> Self:
        """Return options from a `SessionOptions`, from keywords, or from both. Keywords take precedence."""
        known = {} if given is None else {name: getattr(given, name) for name in given.__struct_fields__}
        if keywords.get("approve") is not None:
            known.pop("approver", None)
        return cls(**{**known, **keywords})

    def view_of(self, catalog: Catalog) -> Catalog:
        """Return the catalog as the audience of this session sees it."""
        return catalog.seen_by(agent=self.agent, tenant=self.tenant, environment=self.environment)

    def for_fork(self, tools: Iterable[Tool], caller: Caller) -> Self:
        """Return options for a fork's session: new state, and only those parent options that this method names."""
        return type(self)(
            cap=self.cap,
            sandbox=self.sandbox,
            scripts=self.scripts,
            audit=self.audit,
            caller=caller,
            workspace=self.workspace if self.fork_workspace else None,
            write=self.write and self.fork_workspace,
            expose_location=self.expose_location,
            artifacts_dir=self.artifacts_dir,
            extra_tools=tools,
            host_tools=self.host_tools,
            commands=self.commands,
            first_argument=self.first_argument,
            fork_runner=self.fork_runner,
            agent_types=self.agent_types,
            fork_workspace=self.fork_workspace,
            policy=self.policy,
            approver=self.approver,
            allowed_tools=self.allowed_tools,
            profile=self.profile,
        )

    @property
    def pattern_root(self) -> str | None:
        """Directory that path patterns are relative to: the session's workspace, else a built-in tool's, else None."""
        if self.workspace is not None:
            return os.fspath(self.workspace)
        return next((root for tool in self.extra_tools if (root := _workspace_of(tool)) is not None), None)


def _workspace_of(tool: Tool) -> str | None:
    """Return the workspace of a built-in tool, even inside wrappers; None if the tool is not built-in."""
    inner: object = tool
    while inner is not None:
        if isinstance(root := getattr(inner, "workspace_root", None), str):
            return root
        inner = getattr(inner, "wrapped", None)
    return None


class SessionKeywords(TypedDict, total=False):
    """The fields of `SessionOptions` as keywords, without `on_event`: `Agent` has its own `on_event` for its steps."""

    store: SessionStore | None
    session_id: str | None
    cap: int
    ttl_seconds: float
    body: Body
    sandbox: Sandbox | None
    scripts: bool
    audit: AuditLog | None
    caller: Caller | None
    identity: Identity | None
    workspace: str | os.PathLike[str] | None
    write: bool
    expose_location: bool
    artifacts_dir: str | os.PathLike[str] | None
    tools: str | Iterable[str]
    extra_tools: Iterable[Tool]
    host_tools: HostTools | None
    exposure: ExposureName
    commands: bool
    first_argument: FirstArgument | None
    fork_runner: ForkRunner | None
    agent_types: Iterable[AgentType]
    fork_workspace: bool
    policy: Policy | PolicyInForce | None
    approve: Callable[[ApprovalRequest], object] | None
    approver: Approver | None
    allowed_tools: RestrictionMode | None
    profile: str | None
    clock: Callable[[], float]
    agent: str | None
    tenant: str | None
    environment: str | None
    keep_events: int
    observers: Iterable[EventObserver]


class ListeningKeywords(SessionKeywords, total=False):
    """All fields of `SessionOptions` as keywords."""

    on_event: Callable[[SessionEvent], object] | None
