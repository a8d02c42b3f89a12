"""OpenTelemetry spans for a session: `Session(catalog, observers=[OpenTelemetryObserver()])`.

Each tool call is one span, `execute_tool`, with the attributes that the semantic conventions for generative AI define
for tools and Agent Skills (status Development, as of November 2026): the skill that was loaded, the file that was read,
the script that ran. A fork is an `invoke_agent` span below the call that started it, and contains the calls of its
sub-agent. Hooks and commands in bodies have spans of their own. A span is current while its tool runs, so spans from
the tool's own code become its children.

Names, codes and digests are recorded. Arguments and results are recorded only with `content=True`. The observer sends
no data: the host's tracer provider sends the spans. Without a provider every span is a no-op.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import TYPE_CHECKING

from msgspec import Struct, field

import prowess
from prowess.errors import ApprovalRequiredError, MissingExtraError
from prowess.runtime.events import event as events

try:
    from opentelemetry import context as otel_context
    from opentelemetry import trace
    from opentelemetry.trace import SpanKind, Status, StatusCode
except ImportError as fault:
    raise MissingExtraError(__name__, "otel", str(fault)) from fault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from prowess.runtime.events.event import SessionEvent

MAX_CONTENT = 16_384  # limit on the characters of arguments, and of a result, if content is recorded

Key = tuple[str, str, str | None, str | None]
Attributes = dict[str, str | int]


class _Open(Struct):
    """A span that has begun in this task. `skills` are the skills that were loaded inside it."""

    key: Key
    span: Span
    token: Token[Context]
    title: str
    skills: dict[str, str | None] = field(default_factory=dict)


# Per task, so that overlapping calls have separate stacks and a fork inherits the spans around it.
_open: ContextVar[tuple[_Open, ...]] = ContextVar("prowess_open_spans", default=())


class OpenTelemetryObserver:
    """An `EventObserver` that creates spans with the tracer of `provider`. Defaults to the global provider."""

    def __init__(self, provider: TracerProvider | None = None, *, content: bool = False) -> None:
        self._tracer: Tracer = trace.get_tracer("prowess", prowess.__version__, tracer_provider=provider)
        self._content = content

    async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
        """Begin, describe or end a span."""
        match event:
            case events.ToolStarted():
                self._call_started(event, content)
            case events.ToolFinished():
                self._call_finished(event, content)
            case events.ToolRefused():
                self._refused(event)
            case events.SkillLoaded(skill=str(skill)):
                _loaded(skill, event)
            case events.ResourceRead(path=path) | events.ScriptStarted(path=path):
                _resource(event, path)
            case events.ScriptFinished(exit_code=int(code)):
                _describe({"process.exit.code": code})
            case events.HookStarted() | events.CommandStarted():
                self._program_started(event)
            case events.HookFinished(exit_code=code) | events.CommandFinished(exit_code=code):
                _end(_key(event), {} if code is None else {"process.exit.code": code}, "exit" if code else None)
            case events.ForkStarted():
                self._fork_started(event)
            case events.ForkFinished(turns=turns, code=error):
                _end(_key(event), {} if turns is None else {"prowess.fork.turns": turns}, error)
            case events.RestrictionPrevented() | events.SkillUnloaded() | events.HookFailed():
                _note(event)
            case _:
                pass

    def _call_started(self, event: events.ToolStarted, content: Mapping[str, object]) -> None:
        attributes = _of_call(event.tool, event)
        if self._content and "arguments" in content:
            attributes["gen_ai.tool.call.arguments"] = _json(content["arguments"])
        self._begin(_key(event), f"execute_tool {event.tool}", attributes)

    def _call_finished(self, event: events.ToolFinished, content: Mapping[str, object]) -> None:
        attributes: Attributes = {"prowess.outcome": event.outcome}
        if self._content and "result" in content:
            attributes["gen_ai.tool.call.result"] = _json(content["result"])
        _end(_key(event), attributes, event.code)

    def _refused(self, event: events.ToolRefused) -> None:
        attributes = _of_call(event.tool, event)
        if event.rule is not None:
            attributes["prowess.rule"] = event.rule
        self._begin(_key(event), f"execute_tool {event.tool}", attributes)
        waits = event.code == ApprovalRequiredError.code  # waiting for approval is not an error
        _end(_key(event), {"prowess.outcome": "refused"}, None if waits else event.code)

    def _program_started(self, event: events.HookStarted | events.CommandStarted) -> None:
        what = event.event if isinstance(event, events.HookStarted) else event.program
        kind = "hook" if isinstance(event, events.HookStarted) else "command"
        self._begin(_key(event), f"{kind} {what}", {"gen_ai.conversation.id": event.session_id, **_of_skill(event)})

    def _fork_started(self, event: events.ForkStarted) -> None:
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": event.skill or "",
            "gen_ai.conversation.id": event.child_session_id,
            "prowess.fork.depth": event.depth,
            **_of_skill(event),
        }
        self._begin(_key(event), f"invoke_agent {event.skill}", attributes)

    def _begin(self, key: Key, title: str, attributes: Attributes) -> None:
        span = self._tracer.start_span(title, kind=SpanKind.INTERNAL, attributes=attributes)
        _open.set((*_open.get(), _Open(key, span, otel_context.attach(trace.set_span_in_context(span)), title)))


def _key(event: SessionEvent) -> Key:
    """Return the key that a start event and its end event share."""
    stem, skill = event.kind.partition(".")[0], event.skill
    return (event.session_id, stem, event.call_id, None if stem == "tool" else skill)


def _end(key: Key, attributes: Attributes, error: str | None) -> None:
    """End the span of `key`. First end spans that were begun inside this span and have not ended."""
    stack = _open.get()
    at = max((at for at, known in enumerate(stack) if known.key == key), default=len(stack))
    for inner in reversed(stack[at + 1 :]):
        _close(inner, {}, "cancelled")
    for ended in stack[at : at + 1]:
        _close(ended, attributes, error)
        _open.set(stack[:at])


def _close(ended: _Open, attributes: Attributes, error: str | None) -> None:
    span = ended.span
    if len(ended.skills) == 1:
        ((skill, digest),) = ended.skills.items()
        span.update_name(f"{ended.title} {skill}")
        span.set_attribute("gen_ai.skill.name", skill)
        if digest is not None:
            span.set_attribute("prowess.skill.digest", digest)
    elif ended.skills:
        span.set_attribute("prowess.skill.names", tuple(ended.skills))
    span.set_attributes(attributes)
    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    otel_context.detach(ended.token)
    span.end()


def _loaded(skill: str, event: SessionEvent) -> None:
    for opened in reversed(_open.get()):
        if opened.key[1] == "tool":
            opened.skills[skill] = event.digest
            return


def _resource(event: SessionEvent, path: str) -> None:
    for opened in _open.get()[-1:]:
        opened.span.update_name(f"{opened.title} {event.skill} {path}")
        opened.span.set_attributes({**_of_skill(event), "gen_ai.skill.resource.name": path})


def _describe(attributes: Attributes) -> None:
    for opened in _open.get()[-1:]:
        opened.span.set_attributes(attributes)


def _note(event: SessionEvent) -> None:
    """Add an event without duration to the current span."""
    for opened in _open.get()[-1:]:
        opened.span.add_event(event.kind, _of_skill(event))


def _of_call(tool: str, event: SessionEvent) -> Attributes:
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": event.session_id,
    }
    if event.call_id is not None:
        attributes["gen_ai.tool.call.id"] = event.call_id
    if event.skill is not None:  # an active skill; the skill that the call is about is recorded as gen_ai.skill.name
        attributes["prowess.skill.in_force"] = event.skill
    return attributes


def _of_skill(event: SessionEvent) -> Attributes:
    known = {"gen_ai.skill.name": event.skill, "prowess.skill.digest": event.digest}
    return {name: value for name, value in known.items() if value is not None}


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_CONTENT else f"{text[:MAX_CONTENT]}…"
