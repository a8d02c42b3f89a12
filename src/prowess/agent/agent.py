"""An agent: a model, a catalog of skills, and a turn loop.

Each run opens a session and closes it at the end. The user states the task and need not mention skills: the model sees
the available skills, and the session enforces restrictions and policy.
"""

from __future__ import annotations

import inspect
import os
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Unpack

import anyio

from prowess.agent.create_skill import CreateSkillTool
from prowess.agent.instructions import ROLE, SystemPrompt, system_prompt
from prowess.agent.local.model import PREFIX, LocalModel
from prowess.agent.model import AgentStep, Budget, ModelSettings
from prowess.agent.transcript import Transcript
from prowess.agent.turn_loop import AgentForkRunner, TurnLoop
from prowess.catalog.given_catalog import catalog_of
from prowess.errors import InvalidArgumentsError
from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime import Session, SessionOptions
from prowess.tools.gates import NoApprover, approver_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from prowess.agent.model import AgentResult, Message, Model
    from prowess.catalog import Catalog
    from prowess.runtime.options import SessionKeywords

MAX_TURNS = 50


class Agent:
    """Runs tasks with `model`: a `Model`, or a name for `model_named`.

    A model that is an async context manager is entered for each run and closed after the run.

    A run ends with an answer, after `max_turns` model calls, at a limit of `budget`, or when calls keep failing.

    - `settings` apply to every request, also to those of forks: the bound on an answer, the temperature, the seed.
    - `models` are additional models by name. If a skill or its agent type names such a model, a fork of the skill runs
      with this model. If an active skill names such a model, the next turns use this model.
    - `on_event` is called with every step. The function may be async.
    - `skills` are active before the first turn, and `history` are messages that came before the task.
    - `role` is the first part of the system prompt. `project` is a directory whose AGENTS.md and CLAUDE.md are added.
    - With `skills_dir`, the agent may write new skills to this directory (`create_skill`). Each new skill needs an
      approval by `approve`.
    - All other options are those of `Session`, such as `policy` and `approve`. Without `approve`, no person is asked,
      and calls that need an approval are refused.

        agent = Agent("anthropic:claude-sonnet-4-5", catalog=Catalog.discover())
        result = await agent.run("Review the changes in the auth module")

    Raises:
        InvalidArgumentsError: `max_turns` is below 1, or the model cannot be used.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        catalog: Catalog | str | os.PathLike[str],
        role: str = ROLE,
        max_turns: int = MAX_TURNS,
        budget: Budget | None = None,
        settings: ModelSettings | None = None,
        models: Mapping[str, Model] | None = None,
        skills: Sequence[str] = (),
        history: Sequence[Message] = (),
        on_event: Callable[[AgentStep], object] | None = None,
        project: str | os.PathLike[str] | None = None,
        skills_dir: str | os.PathLike[str] | None = None,
        **options: Unpack[SessionKeywords],
    ) -> None:
        if max_turns < 1:
            raise InvalidArgumentsError(("max_turns must be at least 1",))
        self._model = model_named(model) if isinstance(model, str) else model
        self._models = dict(models or {})
        self._catalog = catalog_of(catalog).seen_by(
            agent=options.get("agent"), tenant=options.get("tenant"), environment=options.get("environment")
        )
        self._role, self._max_turns = role, max_turns
        self._skills, self._history = tuple(skills), tuple(history)
        self._budget, self._settings = budget or Budget(), settings or ModelSettings()
        self._on_event = on_event
        self._project = None if project is None else os.path.abspath(project)
        approver = approver_of(options.get("approve"), options.get("approver"))
        forks = AgentForkRunner(self._model, models=self._models, budget=self._budget, settings=self._settings)
        options.setdefault("fork_runner", forks)
        # Copy iterables: every run opens its own session, so an iterator would be empty after the first one.
        tools = tuple(options.get("extra_tools", ()))
        if skills_dir is not None:
            tools = (*tools, CreateSkillTool(skills_dir, self._catalog, approver or NoApprover()))
        options["extra_tools"] = tools
        options.setdefault("host_tools", ())  # the model can call no tools other than those of its session
        self._options = SessionOptions(**options)

    async def run(self, task: str, *, transcript: str | os.PathLike[str] | None = None) -> AgentResult:
        """Carry out one task and return the result, which also states how the run ended.

        `transcript` names a new file for all messages, one JSON line each, readable by its owner only.

        Raises:
            InvalidArgumentsError: the task is blank, the transcript file exists, or a session option is invalid.
            SkillError: one of the skills that should be active cannot be loaded.
        """
        return await self._run(task, transcript, self._tell)

    def run_sync(self, task: str, *, transcript: str | os.PathLike[str] | None = None) -> AgentResult:
        """Like `run`, for programs without an event loop."""
        return anyio.run(partial(self.run, task, transcript=transcript))

    @asynccontextmanager
    async def stream(
        self, task: str, *, transcript: str | os.PathLike[str] | None = None
    ) -> AsyncIterator[MemoryObjectReceiveStream[AgentStep]]:
        """Carry out one task and yield its steps as they happen. The last step is `Ended`.

        Leaving the block early cancels the run.

            async with agent.stream("Sum up march.csv") as steps:
                async for step in steps:
                    if isinstance(step, Said):
                        print(step.text, end="")
        """
        send, receive = anyio.create_memory_object_stream[AgentStep](0)
        faults: list[Exception] = []

        async def produce(channel: MemoryObjectSendStream[AgentStep]) -> None:
            async def emit(step: AgentStep) -> None:
                await self._tell(step)
                with suppress(anyio.BrokenResourceError):  # the reader has left
                    await channel.send(step)

            async with channel:
                try:
                    await self._run(task, transcript, emit)
                except Exception as fault:  # noqa: BLE001 -- raised below, outside the task group, so that it is not wrapped in an exception group
                    faults.append(fault)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(produce, send)
            try:
                async with receive:
                    yield receive
            except Exception as fault:  # noqa: BLE001 -- raised below, as above
                faults.insert(0, fault)
            finally:
                tasks.cancel_scope.cancel()
        if faults:
            raise faults[0]

    def system_prompt(self) -> SystemPrompt:
        """Return the constant first part of a run's instructions, with the estimated tokens of each section."""
        return self._prompt(Session(self._catalog, self._options))

    async def _run(
        self, task: str, transcript: str | os.PathLike[str] | None, emit: Callable[[AgentStep], Awaitable[None]]
    ) -> AgentResult:
        if not task.strip():
            raise InvalidArgumentsError(("the task is blank; describe what to do",))
        with ExitStack() as files:
            written = None if transcript is None else files.enter_context(Transcript(transcript))
            session = await Session.create(self._catalog, self._options, initial=self._skills)
            models = AsyncExitStack()
            try:
                for model in (self._model, *self._models.values()):
                    if isinstance(model, AbstractAsyncContextManager):
                        await models.enter_async_context(model)
                before = self._prompt(session).text
                return await TurnLoop(
                    session,
                    model=lambda: self._preferred(session),
                    instructions=lambda: "\n".join(part for part in (before, session.instructions(task=task)) if part),
                    max_turns=self._max_turns,
                    budget=self._budget,
                    emit=emit,
                    settings=self._settings,
                    transcript=written,
                    history=self._history,
                ).run(task)
            finally:
                with anyio.CancelScope(shield=True):
                    await session.close()
                    await models.aclose()

    def _prompt(self, session: Session) -> SystemPrompt:
        return system_prompt(session.tools(), role=self._role, project=self._project)

    def _preferred(self, session: Session) -> Model:
        """Return the configured model that the most recently loaded skill names; otherwise the agent's model."""
        for skill in reversed(session.active_skills):
            wanted = extended_fields(skill.properties).model
            if wanted in self._models:
                return self._models[wanted]
        return self._model

    async def _tell(self, step: AgentStep) -> None:
        if self._on_event is not None:
            told = self._on_event(step)
            if inspect.isawaitable(told):
                await told


def model_named(name: str) -> Model:
    """Return a model by name: `local:smollm2-135m`, or `provider:name` for a model of pydantic-ai.

    Raises:
        InvalidArgumentsError: the model is unknown, or a package that it needs is not installed.
    """
    if name.startswith(PREFIX):
        return LocalModel.named(name)
    from prowess.agent.pydantic_ai_model import PydanticAIModel  # optional extra, slow to import

    return PydanticAIModel(name)
