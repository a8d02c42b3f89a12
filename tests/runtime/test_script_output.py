"""The output of a script reaches callbacks and events while the script runs, in the very characters of the result."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.catalog import Catalog
from prowess.errors import SandboxUnavailableError
from prowess.execution import ExecResult, Guarantees, SandboxReport, default_sandbox
from prowess.runtime import OutputChunk, Session, SyncSession
from prowess.runtime.events.event import ScriptOutput, SessionEvent
from prowess.runtime.script_output import OutputRelay
from prowess.store import SqliteSessionStore
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution import ExecRequest
    from prowess.execution.request import StreamName

pytestmark = pytest.mark.anyio
needs_sandbox = pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")

_ASKS = """\
import os, sys, time
print("first", flush=True)
print("aside", file=sys.stderr, flush=True)
while not os.path.exists(os.environ["WORKSPACE"] + "/go"):
    time.sleep(0.02)
print("last")
"""
_BYTES = """\
import sys, time
for byte in "naïve ⚠ 🙂\\x1b[31m\\n".encode() + b"\\xff\\xe2\\x82":
    sys.stdout.buffer.write(bytes([byte]))
    sys.stdout.buffer.flush()
    time.sleep(0.03)
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "tools"
    scripts = {
        "scripts/asks.py": _ASKS,
        "scripts/bytes.py": _BYTES,
        "scripts/flood.sh": "head -c 1500000 /dev/zero | tr '\\0' x; echo err >&2\n",
        "scripts/slow.sh": "echo begun; sleep 30\n",
        "scripts/say.sh": "echo out; echo err >&2; exit 3\n",
    }
    write_skill(root, "kit", files=scripts)
    return root


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "work"
    place.mkdir()
    return place


class _Scripted:
    """A sandbox that hands over what it is told to, in its own thread, and answers with the whole."""

    def __init__(
        self, *parts: tuple[StreamName, bytes], streams: bool = True, failure: Exception | None = None
    ) -> None:
        self.parts, self.streams, self.failure = parts, streams, failure

    async def run(self, request: ExecRequest) -> ExecResult:
        return await anyio.to_thread.run_sync(self._run, request)

    def _run(self, request: ExecRequest) -> ExecResult:
        whole: dict[StreamName, bytes] = {"stdout": b"", "stderr": b""}
        for stream, data in self.parts:
            whole[stream] += data
            if self.streams and request.on_output is not None:
                request.on_output(stream, data)
        if self.failure is not None:
            raise self.failure
        return ExecResult(
            exit_code=0,
            stdout=whole["stdout"],
            stderr=whole["stderr"],
            stdout_bytes=len(whole["stdout"]),
            stderr_bytes=len(whole["stderr"]),
            timed_out=False,
            duration_ms=1,
            guarantees=Guarantees(
                backend="none", version="", tier=0, network="", filesystem="", enforced=(), not_enforced=()
            ),
        )

    def probe(self) -> SandboxReport:
        return SandboxReport(available=True, backend="none", tier=0, version=None, program=None, hint="")


async def _loaded(tools: Path, **options: Any) -> Session:  # noqa: ANN401 -- for Session
    session = Session(Catalog(tools), **options)
    await session.load(["kit"])
    return session


def _joined(chunks: list[OutputChunk] | list[ScriptOutput], stream: str) -> str:
    return "".join(chunk.text for chunk in chunks if chunk.stream == stream)


@needs_sandbox
@pytest.mark.proves("runtime.run.streaming")
async def test_a_callback_sees_the_first_line_before_the_script_ends(tools: Path, work: Path) -> None:
    chunks: list[OutputChunk] = []

    def follow(chunk: OutputChunk) -> None:
        chunks.append(chunk)
        if _joined(chunks, "stdout") and _joined(chunks, "stderr"):
            (work / "go").touch()  # the script waits for this

    session = await _loaded(tools, workspace=work)
    result = await session.run_script("scripts/asks.py", on_output=follow, timeout=20)
    assert not result.timed_out
    assert (_joined(chunks, "stdout"), _joined(chunks, "stderr")) == (result.stdout, result.stderr)
    assert result.stdout == "first\nlast\n"
    assert str(chunks[0]) == chunks[0].text


@needs_sandbox
@pytest.mark.proves("runtime.run.streaming")
async def test_events_have_the_output_while_the_script_runs(tools: Path, work: Path) -> None:
    session = await _loaded(tools, workspace=work)
    stream, found = session.events(), list[SessionEvent]()

    async def follow() -> None:
        async for event in stream:
            found.append(event)
            if isinstance(event, ScriptOutput):
                (work / "go").touch()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        result = await session.run_script("scripts/asks.py", timeout=20)
        await session.close()
    kinds = [event.kind for event in found]
    assert kinds[: kinds.index("script.output") + 1] == ["tool.started", "script.started", "script.output"]
    assert kinds.index("script.finished") > max(at for at, kind in enumerate(kinds) if kind == "script.output")
    outputs = [event for event in found if isinstance(event, ScriptOutput)]
    assert (_joined(outputs, "stdout"), _joined(outputs, "stderr")) == (result.stdout, result.stderr)
    assert {event.path for event in outputs} == {"scripts/asks.py"}
    assert {event.call_id for event in outputs} == {found[0].call_id}
    assert outputs[0].skill == "kit"


@needs_sandbox
async def test_an_async_callback_and_a_blocking_session_follow_too(tools: Path, work: Path) -> None:
    (work / "go").touch()
    chunks: list[OutputChunk] = []

    async def follow(chunk: OutputChunk) -> None:
        await anyio.lowlevel.checkpoint()
        chunks.append(chunk)

    session = await _loaded(tools, workspace=work)
    result = await session.run_script("scripts/asks.py", on_output=follow)
    assert _joined(chunks, "stdout") == result.stdout

    def blocking() -> None:
        chunks.clear()
        with SyncSession(Catalog(tools), workspace=work) as other:
            other.load(["kit"])
            for callback in (chunks.append, lambda chunk: follow(chunk)):  # noqa: PLW0108 -- it returns an awaitable
                chunks.clear()
                result = other.run_script("scripts/asks.py", on_output=callback)
                assert _joined(chunks, "stdout") == result.stdout

    await anyio.to_thread.run_sync(blocking)


@needs_sandbox
async def test_characters_that_come_byte_by_byte_are_never_split(tools: Path) -> None:
    chunks: list[OutputChunk] = []
    session = await _loaded(tools)
    result = await session.run_script("scripts/bytes.py", on_output=chunks.append)
    assert len(chunks) > 3
    assert _joined(chunks, "stdout") == result.stdout == "naïve ⚠ 🙂\x1b[31m\n\ufffd\ufffd"


@needs_sandbox
async def test_a_flood_is_bounded_as_the_result_is(tools: Path) -> None:
    chunks: list[OutputChunk] = []
    events: list[SessionEvent] = []
    session = await _loaded(tools, on_event=events.append)
    result = await session.run_script("scripts/flood.sh", on_output=chunks.append)
    await session.close()
    assert result.stdout_bytes == 1_500_000
    assert result.stdout_truncated
    assert _joined(chunks, "stdout") == result.stdout
    assert max(len(chunk.text) for chunk in chunks) <= 16_384
    outputs = [event for event in events if isinstance(event, ScriptOutput)]
    assert _joined(outputs, "stdout") == result.stdout
    assert _joined(outputs, "stderr") == result.stderr == "err\n"
    assert len(outputs) < 200


@needs_sandbox
async def test_the_result_is_the_same_with_followers_and_without(tools: Path) -> None:
    plain = (await (await _loaded(tools)).run_script("scripts/say.sh")).as_dict()
    session = await _loaded(tools, on_event=lambda _: None)
    followed = (await session.run_script("scripts/say.sh", on_output=lambda _: None)).as_dict()
    for result in (plain, followed):
        del result["duration_ms"]
    assert plain == followed


async def test_an_exception_in_a_callback_is_told_once_and_loses_nothing(
    tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[OutputChunk] = []

    def fail(chunk: OutputChunk) -> None:
        seen.append(chunk)
        raise ValueError("no")

    sandbox = _Scripted(("stdout", b"a"), ("stderr", b"b"))
    session = await _loaded(tools, sandbox=sandbox)
    result = await session.run_script("scripts/say.sh", on_output=fail)
    assert (result.stdout, result.stderr) == ("a", "b")
    assert [chunk.text for chunk in seen] == ["a", "b"]
    assert [record.name for record in caplog.records] == ["prowess.events"]


async def test_a_callback_that_never_returns_is_left_after_some_seconds(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.runtime.script_output.LAST_SECONDS", 0.2)
    held = threading.Event()

    async def hang(_: OutputChunk) -> None:
        await anyio.sleep_forever()

    session = await _loaded(tools, sandbox=_Scripted(("stdout", b"x" * 100_000)))
    for callback in (lambda _: held.wait(), hang):
        begun = time.monotonic()
        result = await session.run_script("scripts/say.sh", on_output=callback)
        assert time.monotonic() - begun < 5
        assert result.stdout_bytes == 100_000
    held.set()


async def test_a_sandbox_that_does_not_stream_is_followed_at_its_end(tools: Path) -> None:
    chunks: list[OutputChunk] = []
    session = await _loaded(tools, sandbox=_Scripted(("stdout", b"a\n"), ("stderr", b"b\n"), streams=False))
    await session.run_script("scripts/say.sh", on_output=chunks.append)
    assert [(chunk.stream, chunk.text) for chunk in chunks] == [("stdout", "a\n"), ("stderr", "b\n")]


async def test_a_sandbox_that_fails_raises_its_own_error_and_what_it_wrote_was_seen(tools: Path) -> None:
    chunks: list[OutputChunk] = []
    sandbox = _Scripted(("stdout", b"half"), failure=SandboxUnavailableError("none", "gone"))
    session = await _loaded(tools, sandbox=sandbox)
    with pytest.raises(SandboxUnavailableError, match="gone"):
        await session.run_script("scripts/say.sh", on_output=chunks.append)
    assert _joined(chunks, "stdout") == "half"


@needs_sandbox
async def test_a_cancelled_run_ends_with_its_followers(tools: Path) -> None:
    chunks: list[OutputChunk] = []
    session = await _loaded(tools, on_event=lambda _: None)
    with anyio.move_on_after(1.0) as scope:
        await session.run_script("scripts/slow.sh", on_output=chunks.append)
    assert scope.cancelled_caught
    assert _joined(chunks, "stdout") == "begun\n"


async def test_kept_events_have_the_output(tools: Path, tmp_path: Path) -> None:
    store = SqliteSessionStore(tmp_path / "state.db")
    session = await _loaded(tools, sandbox=_Scripted(("stdout", "ü\n\x1b[2J".encode())), store=store, keep_events=50)
    await session.run_script("scripts/say.sh")
    outputs = [event for event in await session.replay() if isinstance(event, ScriptOutput)]
    assert [(event.stream, event.text) for event in outputs] == [("stdout", "ü\n\x1b[2J")]
    await store.close()


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=12)), max_size=12))
def test_chunks_of_any_bytes_join_to_the_text_of_the_result(parts: list[tuple[StreamName, bytes]]) -> None:
    chunks: list[OutputChunk] = []

    async def take(chunk: OutputChunk) -> None:
        chunks.append(chunk)

    async def follow() -> None:
        relay = OutputRelay(take, pause=0.0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relay.run)
            for stream, data in parts:
                relay.put(stream, data)
                await anyio.lowlevel.checkpoint()
            relay.end()

    anyio.run(follow)
    for stream in ("stdout", "stderr"):
        whole = b"".join(data for name, data in parts if name == stream)
        assert _joined(chunks, stream) == whole.decode("utf-8", "replace")
