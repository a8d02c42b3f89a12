"""Methods and properties without `await` that `Session` and `SyncSession` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, overload

from prowess.runtime.call_options import checked_exposure
from prowess.runtime.disclosure import compaction, history
from prowess.runtime.disclosure.exposure import shaped
from prowess.tools.functions.function_tool import FunctionTool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.catalog import Catalog
    from prowess.policy import Approval, ApprovalRequest, Refusal
    from prowess.runtime.activation.snapshots import SkillDirectory
    from prowess.runtime.call_options import ExposureName, OfferOptions
    from prowess.runtime.disclosure.cost import ReadTokens
    from prowess.runtime.events.delivery import EventObserver
    from prowess.runtime.session_parts import SessionParts
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolSpec
    from prowess.tools.functions.function_tool import F, FunctionOptions


class SessionView:
    """Base class of `Session` and `SyncSession`: all members that need no `await`."""

    _parts: SessionParts
    _catalog: Catalog
    _exposed: ExposureName
    _in_results: bool
    _read_tokens: ReadTokens

    def _share(self, session: SessionView) -> None:
        """Use the components of `session`, so that `self` and `session` are views of one session."""
        self._parts, self._catalog = session._parts, session._catalog
        self._exposed, self._in_results, self._read_tokens = (
            session._exposed,
            session._in_results,
            session._read_tokens,
        )

    @property
    def session_id(self) -> str:
        """The identifier of the session, a UUID of version 7 unless the host set one."""
        return self._parts.session_id

    @property
    def catalog(self) -> Catalog:
        """The catalog whose skills the session can load."""
        return self._catalog

    @property
    def active_skills(self) -> tuple[ActiveSkill, ...]:
        """The active skills, the most recently loaded last, as of the last call or `refresh`."""
        return self._parts.stored.state.active

    @property
    def permitted_skills(self) -> tuple[ActiveSkill, ...]:
        """The active skills that the policy permits now. A host must not show the contents of any other skill."""
        return self._parts.offered.permitted(self.active_skills)

    @property
    def skill_directories(self) -> tuple[SkillDirectory, ...]:
        """The directories of `permitted_skills`, for `builtin_tools(readable=…)`, with their files as loaded."""
        return self._parts.skill_directories()

    @property
    def active_skill_name(self) -> str | None:
        """The name of the most recently loaded skill, None if no skill is active."""
        latest = self._parts.stored.state.latest
        return None if latest is None else latest.name

    @property
    def is_closed(self) -> bool:
        """Whether the session was closed through this object."""
        return self._parts.events.closed

    @overload
    def function(self, function: F, **options: Unpack[FunctionOptions]) -> F: ...

    @overload
    def function(self, function: None = None, **options: Unpack[FunctionOptions]) -> Callable[[F], F]: ...

    def function(self, function: F | None = None, **options: Unpack[FunctionOptions]) -> F | Callable[[F], F]:
        """Offer a function as a tool of this session, from the next call on. `options` are those of `FunctionTool`.

        Usable as a decorator, with or without options. The function itself is returned unchanged.

        Raises:
            UnsupportedFunctionError: a part of the signature has no schema.
            ValueError: a tool with this name exists.
        """
        if function is None:
            return lambda decorated: self.function(decorated, **options)
        tool = FunctionTool(function, **options)
        self._parts.offer(tool)
        return function

    def offer_list(self) -> None:
        """Offer the tool `skills.list` in every later call, for hosts whose model does not see the list of skills.

        Without this method, the tool is offered only if the list of skills is not complete.
        """
        self._parts.exposure.always_list = True

    def approve(self, request: str, answer: Approval | Refusal) -> ApprovalRequest:
        """Answer a call that was refused with `approval_required`, and return the request.

        If the answer is an approval, send the call again to run it.

        Raises:
            InvalidArgumentsError: this session has no request with this id.
        """
        return self._parts.guard.settle(request, answer)

    def completions(self, prefix: str = "") -> tuple[str, ...]:
        """Return the sorted names of skills that a user can start and that begin with `prefix`, with or without `/`."""
        wanted = prefix.removeprefix("/")
        return tuple(name for name in self._parts.offered.names("user") if name.startswith(wanted))

    def observe(self, observer: EventObserver) -> None:
        """Add an observer of all later events. The observer runs in the emitting task, and the session waits for it."""
        self._parts.events.observe(observer)

    def drain_events(self, seconds: float | None = None) -> bool:
        """Block until `on_event` has received all events so far. Return False if that takes more than `seconds`."""
        return self._parts.events.drain(seconds)

    @overload
    def tools(self, shape: None = None, **options: Unpack[OfferOptions]) -> tuple[ToolSpec, ...]: ...

    @overload
    def tools(self, shape: str, **options: Unpack[OfferOptions]) -> list[dict[str, object]]: ...

    def tools(
        self, shape: str | None = None, **options: Unpack[OfferOptions]
    ) -> tuple[ToolSpec, ...] | list[dict[str, object]]:
        """Return the tools to offer to a model, as specifications or in a provider's `shape`.

        No skill tool is included if the model may use no skill. `skills.run_script` is left out if no script can run,
        for one of three reasons: scripts are switched off, the sandbox cannot start, or no skill has a `scripts`
        directory. The directories are checked again only after the catalog has changed. `skills.list` is included if
        the list of skills is not complete. `budget`, `task` and `compact` are those of `instructions`; they also apply
        to the list in the description of the `skill` tool. No schema contains a session id.

        Raises:
            InvalidArgumentsError: the shape or exposure does not exist.
        """
        specs = self._specs(**options)
        return specs if shape is None else shaped(specs, shape)

    def without_unloaded(self, messages: Sequence[object]) -> list[object]:
        """Return a new message history in which the content of each inactive skill is replaced by one line.

        Calling this method is optional and saves tokens. The given messages are not changed; all other content is
        copied.
        """
        return history.without(messages, {skill.name for skill in self.active_skills})

    def protected_messages(self, messages: Sequence[object]) -> tuple[int, ...]:
        """Return the positions of messages to keep when a history is compacted: the newest body of each active skill.

        Messages may have any shape made of mappings, sequences and strings. The messages are not changed.
        """
        marks = [compaction.mark_of(self._parts.session_id, skill) for skill in self.active_skills]
        return compaction.protected(messages, marks)

    def restore_after_compaction(self, budget: int | None = None) -> str:
        """Return the bodies of active skills that a compacted history has lost, the most recently loaded first.

        The result is empty with `body="instructions"`, because the instructions of each model call then contain the
        bodies. `budget` limits the text in tokens. A body that does not fit is replaced by the name of its skill.
        """
        if not self._in_results:
            return ""
        bodies = [(skill, self._parts.rendering.text(skill)) for skill in reversed(self.permitted_skills)]
        return compaction.restored(
            self._parts.session_id, [(skill, body) for skill, body in bodies if body is not None], budget
        )

    def _specs(
        self,
        exposure: ExposureName | None = None,
        budget: int | None = None,
        task: str | None = None,
        compact: str | None = None,
    ) -> tuple[ToolSpec, ...]:
        extra = [tool.spec for tool in self._parts.extra]
        return self._parts.exposure.specs(self._face(exposure), extra, budget=budget, task=task, compact=compact)

    def _face(self, exposure: ExposureName | None) -> ExposureName:
        return self._exposed if exposure is None else checked_exposure(exposure)
