"""Spans as an exporter gets them, from the real SDK with its exporter in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.runtime import ForkOutcome, Session
from prowess.tools import ToolSpec
from tests.runtime.making import write_skill

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from prowess.adapters.opentelemetry import MAX_CONTENT, OpenTelemetryObserver

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan

    from prowess.runtime import ForkRequest
    from prowess.tools import ToolCall

pytestmark = pytest.mark.anyio


class Telemetry:
    """A provider of its own for each test, and what it exported."""

    def __init__(self) -> None:
        self.provider, self._exporter = TracerProvider(), InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("host")

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def parent(self, span: ReadableSpan) -> str | None:
        if span.parent is None:
            return None
        return next(other.name for other in self.spans if other.context.span_id == span.parent.span_id)


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


class _Tool:
    """A tool of the host with a span of its own, which waits until it is let go."""

    def __init__(self, telemetry: Telemetry, name: str = "work") -> None:
        self.spec = ToolSpec(name=name, description="Work.", input_schema={"type": "object"})
        self._telemetry = telemetry
        self.go = anyio.Event()
        self._started, self._running = anyio.Condition(), 0

    async def runs(self, number: int) -> None:
        """Wait until that many calls have begun."""
        async with self._started:
            while self._running < number:
                await self._started.wait()

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        async with self._started:
            self._running += 1
            self._started.notify_all()
        with self._telemetry.tracer.start_as_current_span(f"inside {call.id}"):
            if arguments.get("wait"):
                await self.go.wait()
        if arguments.get("fail"):
            raise ValueError("t0p-s3cret")
        return {"answer": "r3sult"}


def _attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_calls_carry_the_names_of_the_conventions(tmp_path: Path, telemetry: Telemetry) -> None:
    write_skill(tmp_path, "notes", files={"references/a.md": "s3cret text\n"}, extra="allowed-tools: Read\n")
    observer = OpenTelemetryObserver(telemetry.provider)
    session = Session(Catalog(tmp_path), observers=[observer], extra_tools=[_Tool(telemetry)])
    await session.call("skills_load", {"names": ["notes"]}, "c1")
    await session.call("skills.read", {"path": "references/a.md"}, "c2")
    await session.call("work", {"text": "s3cret"}, "c3")

    load = telemetry.named("execute_tool skills.load notes")
    digest = session.active_skills[0].digest
    assert _attributes(load) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "skills.load",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.conversation.id": session.session_id,
        "gen_ai.skill.name": "notes",
        "prowess.skill.digest": digest,
        "prowess.outcome": "success",
    }
    assert (load.kind, load.status.status_code) == (trace.SpanKind.INTERNAL, trace.StatusCode.UNSET)
    read = _attributes(telemetry.named("execute_tool skills.read notes references/a.md"))
    assert (read["gen_ai.skill.name"], read["gen_ai.skill.resource.name"]) == ("notes", "references/a.md")
    refused = telemetry.named("execute_tool work")
    assert _attributes(refused)["error.type"] == "tool_not_allowed"
    assert _attributes(refused)["prowess.rule"].startswith("allowed-tools:")
    assert refused.status.status_code is trace.StatusCode.ERROR
    told = str(
        [
            (span.name, span.attributes, [(event.name, event.attributes) for event in span.events], span.status)
            for span in telemetry.spans
        ]
    )
    assert "s3cret" not in told


async def test_content_is_recorded_where_it_is_asked_for_and_bounded(tmp_path: Path, telemetry: Telemetry) -> None:
    write_skill(tmp_path, "notes")
    observer = OpenTelemetryObserver(telemetry.provider, content=True)
    session = Session(Catalog(tmp_path), observers=[observer], extra_tools=[_Tool(telemetry)])
    await session.call("work", {"text": "x" * 50_000})
    attributes = _attributes(telemetry.named("execute_tool work"))
    assert attributes["gen_ai.tool.call.arguments"].startswith('{"text": "xxx')
    assert len(attributes["gen_ai.tool.call.arguments"]) == MAX_CONTENT + 1
    assert attributes["gen_ai.tool.call.result"] == '{"answer": "r3sult"}'


async def test_calls_that_overlap_each_have_their_own_children_and_parent(tmp_path: Path, telemetry: Telemetry) -> None:
    write_skill(tmp_path, "notes")
    tool = _Tool(telemetry)
    session = Session(Catalog(tmp_path), observers=[OpenTelemetryObserver(telemetry.provider)], extra_tools=[tool])
    before = trace.get_current_span()

    async def turn(number: int) -> None:
        with telemetry.tracer.start_as_current_span(f"turn {number}") as span:
            await session.call("work", {"wait": True}, f"c{number}")
            assert trace.get_current_span() is span

    async with anyio.create_task_group() as group:
        for number in range(16):
            group.start_soon(turn, number)
        await tool.runs(16)
        tool.go.set()
    assert trace.get_current_span() is before
    inside = [span for span in telemetry.spans if span.name.startswith("inside")]
    assert len(inside) == 16
    for span in inside:
        assert span.parent is not None
        call = next(other for other in telemetry.spans if other.context.span_id == span.parent.span_id)
        assert _attributes(call)["gen_ai.tool.call.id"] == span.name.removeprefix("inside ")
        assert telemetry.parent(call) == span.name.replace("inside c", "turn ")


async def test_failures_and_cancelled_calls_end_their_spans(tmp_path: Path, telemetry: Telemetry) -> None:
    write_skill(tmp_path, "notes")
    tool = _Tool(telemetry)
    session = Session(Catalog(tmp_path), observers=[OpenTelemetryObserver(telemetry.provider)], extra_tools=[tool])
    await session.call("work", {"fail": True}, "broken")
    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "work", {"wait": True}, "left")
        await tool.runs(2)
        group.cancel_scope.cancel()
    ends = {
        attributes["gen_ai.tool.call.id"]: (attributes["error.type"], attributes["prowess.outcome"])
        for span in telemetry.spans
        if "gen_ai.tool.call.id" in (attributes := _attributes(span))
    }
    assert ends == {"broken": ("internal", "failure"), "left": ("cancelled", "cancelled")}
    assert all("t0p-s3cret" not in str(_attributes(span)) for span in telemetry.spans if "inside" not in span.name)


async def test_several_skills_in_one_load_are_listed(tmp_path: Path, telemetry: Telemetry) -> None:
    for name in ("one", "two"):
        write_skill(tmp_path, name)
    session = Session(Catalog(tmp_path), observers=[OpenTelemetryObserver(telemetry.provider)])
    await session.load(["one", "two"])
    await session.unload(all=True)
    assert _attributes(telemetry.named("execute_tool skills.load"))["prowess.skill.names"] == ("one", "two")
    unload = telemetry.named("execute_tool skills.unload")
    assert [event.name for event in unload.events] == ["skill.unloaded", "skill.unloaded"]


@pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")
async def test_scripts_hooks_commands_and_forks_have_their_place_in_the_tree(
    tmp_path: Path, telemetry: Telemetry
) -> None:
    scripts = {"scripts/ok.py": "print('x')\n", "scripts/bad.py": "raise SystemExit(3)\n"}
    extra = "hooks:\n  pre: scripts/ok.py\n  post: scripts/bad.py\n"
    write_skill(tmp_path, "hooked", body="Now: !`echo hi`\n", extra=extra, files=scripts)
    write_skill(tmp_path, "forked", extra="context: fork\n", files={"a.md": "Text.\n"})

    class _Runner:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            await request.session.call("skills.read", {"path": "a.md"})
            return ForkOutcome(output="done", turns=2)

    session = Session(
        Catalog(tmp_path),
        commands=True,
        fork_runner=_Runner(),
        observers=[OpenTelemetryObserver(telemetry.provider)],
    )
    await session.load(["hooked"])
    await session.call("skills.run_script", {"path": "scripts/bad.py"})
    await session.call("skill", {"skill": "forked"})
    await session.unload(["hooked"])

    tree = {span.name: telemetry.parent(span) for span in telemetry.spans}
    assert tree == {
        "execute_tool skills.load hooked": None,
        "hook pre": "execute_tool skills.load hooked",
        "command echo": "execute_tool skills.load hooked",
        "execute_tool skills.run_script hooked scripts/bad.py": None,
        "execute_tool skill forked": None,
        "invoke_agent forked": "execute_tool skill forked",
        "execute_tool skills.read forked a.md": "invoke_agent forked",
        "execute_tool skills.unload": None,
        "hook post": "execute_tool skills.unload",
    }
    run = _attributes(telemetry.named("execute_tool skills.run_script hooked scripts/bad.py"))
    assert run["process.exit.code"] == 3
    assert "error.type" not in run  # the call did what it should; the script's status is its result
    assert _attributes(telemetry.named("hook post"))["error.type"] == "exit"
    fork = _attributes(telemetry.named("invoke_agent forked"))
    inner = _attributes(telemetry.named("execute_tool skills.read forked a.md"))
    assert fork["gen_ai.conversation.id"] == inner["gen_ai.conversation.id"] != session.session_id
    assert fork["prowess.fork.turns"] == 2


async def test_without_a_provider_spans_go_nowhere_and_the_session_works(tmp_path: Path) -> None:
    write_skill(tmp_path, "notes")
    session = Session(Catalog(tmp_path), observers=[OpenTelemetryObserver()])
    assert (await session.call("skills.load", {"names": ["notes"]})).success
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_an_observer_that_comes_in_the_middle_of_a_call_makes_no_half_span(
    tmp_path: Path, telemetry: Telemetry
) -> None:
    write_skill(tmp_path, "notes")
    tool = _Tool(telemetry)
    session = Session(Catalog(tmp_path), extra_tools=[tool])
    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "work", {"wait": True}, "c1")
        await tool.runs(1)
        session.observe(OpenTelemetryObserver(telemetry.provider))
        tool.go.set()
    assert [span.name for span in telemetry.spans] == ["inside c1"]
