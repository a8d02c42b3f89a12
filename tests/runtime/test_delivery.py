from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest

from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, StoreError
from prowess.execution import default_sandbox
from prowess.runtime import ForkOutcome, Session, SyncSession
from prowess.runtime.events.event import KINDS, EventsDropped, SessionEvent, from_dict
from prowess.runtime.events.stream import MAX_WAITING
from prowess.store import MemorySessionStore, SqliteSessionStore
from prowess.tools import ToolSpec
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prowess.runtime import ForkRequest
    from prowess.store import SessionRow
    from prowess.tools import ToolCall

pytestmark = pytest.mark.anyio
SANDBOXED = pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")
SECONDS = 0.3  # of silence, after which a stream ends here


class _Tool:
    """A tool of the host that waits until it is let go, where it is told to."""

    def __init__(self, name: str = "other", *, waits: bool = False) -> None:
        self.spec = ToolSpec(name=name, description="Something else.", input_schema={"type": "object"})
        self.begun, self.go = anyio.Event(), anyio.Event()
        self._waits = waits

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        self.begun.set()
        if self._waits:
            await self.go.wait()
        return {"secret": "r3sult"}


class _Runner:
    async def run(self, request: ForkRequest) -> ForkOutcome:
        await request.session.call("skills.read", {"path": "notes.md"})
        return ForkOutcome(output="done", turns=3)


def _kinds(events: tuple[SessionEvent, ...] | list[SessionEvent]) -> list[str]:
    return [event.kind for event in events]


async def _rest(session: Session, since: int | None = None) -> list[SessionEvent]:
    return [event async for event in session.events(since, seconds=SECONDS)]


@SANDBOXED
@pytest.mark.proves("runtime.events.kinds")
async def test_everything_that_happens_is_an_event_with_session_call_skill_digest_and_time(tmp_path: Path) -> None:
    hooks = "hooks:\n  pre: scripts/pass.py\n  post: scripts/fail.py\n"
    scripts = {"scripts/pass.py": "print('x')\n", "scripts/fail.py": "raise SystemExit(3)\n", "notes.md": "Notes.\n"}
    write_skill(
        tmp_path / "skills", "a", body="Now: !`echo hi`\n", extra=f"allowed-tools: Read\n{hooks}", files=scripts
    )
    write_skill(tmp_path / "skills", "f", extra="context: fork\n", files=scripts)
    stream_of: list[SessionEvent] = []
    session = Session(
        Catalog(tmp_path / "skills"),
        commands=True,
        extra_tools=[_Tool()],
        fork_runner=_Runner(),
        clock=lambda: 1_700_000_000.25,
        on_event=stream_of.append,
    )
    stream = session.events()
    await session.call("skills.load", {"names": ["a"]}, "load")
    await session.call("other", {"text": "s3cret"}, "prevented")
    await session.call("skills.read", {"path": "notes.md"}, "read")
    await session.call("skills.run_script", {"path": "scripts/pass.py"}, "run")
    await session.call("skill", {"skill": "f", "args": "s3cret"}, "fork")
    await session.call("skills.unload", {"all": True}, "unload")
    await session.close()
    events = [event async for event in stream]

    by_call: dict[str | None, list[str]] = {}
    for event in events:
        by_call.setdefault(event.call_id, []).append(event.kind)
    assert by_call["load"] == [
        *("tool.started", "skill.loading", "skill.activating", "hook.started", "hook.finished"),
        *("command.started", "command.finished", "skill.loaded", "restriction.changed", "tool.finished"),
    ]
    assert by_call["prevented"] == ["tool.refused", "restriction.prevented"]
    assert by_call["read"] == ["tool.started", "resource.read", "tool.finished"]
    assert by_call["run"] == [
        *("tool.started", "script.started", "script.output", "script.finished", "tool.finished"),
    ]
    assert by_call["fork"] == [
        *("tool.started", "skill.loading", "skill.activating", "fork.started", "fork.finished", "tool.finished"),
    ]
    assert by_call["unload"] == [
        *("tool.started", "hook.started", "hook.finished", "hook.failed"),
        *("skill.unloaded", "restriction.changed", "tool.finished"),
    ]
    assert events[-1].kind == "session.closed"
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert {event.session_id for event in events} == {session.session_id}
    assert {event.at.isoformat() for event in events} == {"2023-11-14T22:13:20.250000+00:00"}
    about = [
        event for event in events if event.kind.startswith(("skill.", "hook.", "script.", "command.", "resource."))
    ]
    assert {event.skill for event in about} == {"a", "f"}
    for event in about:
        assert event.kind == "skill.loading" or str(event.digest).startswith("sha256:"), event
    finished = next(event for event in events if event.kind == "script.finished").as_dict()
    assert (finished["path"], finished["exit_code"], finished["timed_out"]) == ("scripts/pass.py", 0, False)
    fork = next(event for event in events if event.kind == "fork.finished").as_dict()
    assert (fork["skill"], fork["turns"], fork["depth"]) == ("f", 3, 1)
    # A fork's own events bear its own session, and nobody's words are in any of them.
    assert "resource.read" in [event.kind for event in stream_of if event.session_id == fork["child_session_id"]]
    told = str([event.as_dict() for event in stream_of])
    assert "s3cret" not in told
    assert "r3sult" not in told
    assert "Notes." not in told


@SANDBOXED
@pytest.mark.proves("runtime.events.activating")
async def test_a_stream_in_progress_shows_the_activation_before_anything_of_the_skill_takes_effect(
    tmp_path: Path,
) -> None:
    hook = "import os\nopen(os.path.join(os.environ['WORKSPACE'], 'ran'), 'w').close()\n"
    extra = "allowed-tools: Read\nhooks:\n  pre: scripts/hook.py\n"
    write_skill(tmp_path / "skills", "code-review", extra=extra, files={"scripts/hook.py": hook})
    (tmp_path / "work").mkdir()
    seen: list[tuple[str | None, bool, tuple[str, ...], bool]] = []
    session = Session(
        Catalog(tmp_path / "skills"), workspace=tmp_path / "work", write=True, extra_tools=[_Tool()], sandbox=None
    )

    class _Watch:
        async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
            if event.kind == "skill.activating":
                free = await session.decide("other", {}, by_skills_alone=True)
                state = tuple(skill.name for skill in session.active_skills)
                hooked = (tmp_path / "work" / "ran").exists()
                seen.append((event.message, hooked, state, type(free).__name__ == "Allow"))

    session.observe(_Watch())
    await session.load(["code-review"])
    await session.load(["code-review"])  # active already: nothing is activated

    assert seen == [("Activating 'code-review' skill…", False, (), True)]
    assert (tmp_path / "work" / "ran").exists()


async def test_a_load_that_is_refused_is_announced_and_never_loaded(tmp_path: Path) -> None:
    write_skill(tmp_path, "a", extra="hooks:\n  pre: scripts/none.py\n", files={"scripts/x.py": ""})
    write_skill(tmp_path, "b")
    session = Session(Catalog(tmp_path))
    stream = session.events(seconds=SECONDS)
    assert failure(await session.call("skills.load", {"names": ["b", "a"]}))["code"] == "hook_failed"
    assert "skill.loaded" not in _kinds(events := [event async for event in stream])
    assert (events[-1].kind, events[-1].as_dict()["code"]) == ("tool.finished", "hook_failed")


@pytest.mark.proves("runtime.restrict.logged")
async def test_a_prevented_call_is_an_event_and_an_audit_record_with_tool_skill_and_reason(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "looker", extra="allowed-tools: Read Bash(git:*)\n")
    log = tmp_path / "audit.jsonl"
    session = Session(Catalog(tmp_path / "skills"), extra_tools=[_Tool("publish")], audit=JsonlAuditLog(str(log)))
    await session.load(["looker"])
    stream = session.events(seconds=SECONDS)
    await session.call("publish", {"text": "s3cret"}, "one")
    events = [event async for event in stream]

    assert _kinds(events) == ["tool.refused", "restriction.prevented"]
    prevented = events[1].as_dict()
    assert (prevented["tool"], prevented["skill"], prevented["call_id"]) == ("publish", "looker", "one")
    assert str(prevented["reason"]).startswith("allowed-tools:")
    assert prevented["digest"] == session.active_skills[0].digest
    (record,) = [line for line in log.read_text().splitlines() if '"tool.refused"' in line]
    for part in (f'"rule":"{prevented["reason"]}"', '"skill":"looker"', '"tool":"publish"'):
        assert part in record


async def test_what_leaves_says_why_and_a_restriction_that_stays_is_no_change(tmp_path: Path) -> None:
    write_skill(tmp_path, "strict", extra="allowed-tools: Read\n")
    write_skill(tmp_path, "free")
    write_skill(tmp_path, "other")
    session = Session(Catalog(tmp_path))
    stream = session.events(seconds=SECONDS)
    await session.load(["strict"])
    await session.load(["free"], mode="add")
    await session.load(["other"])
    await session.unload(all=True)
    await session.load(["free"])
    await session.close()
    events = [event async for event in stream]
    left = [(event.skill, event.as_dict()["reason"]) for event in events if event.kind == "skill.unloaded"]
    assert left == [("strict", "replaced"), ("free", "replaced"), ("other", "unloaded"), ("free", "closed")]
    changes = [event.as_dict()["restricting"] for event in events if event.kind == "restriction.changed"]
    assert changes == [["strict"], []]


async def test_a_skill_that_leaves_the_catalog_leaves_an_event_and_so_does_its_restriction(tmp_path: Path) -> None:
    gone = write_skill(tmp_path, "gone", extra="allowed-tools: Read\n")
    write_skill(tmp_path, "free")
    session = Session(Catalog(tmp_path))
    await session.load(["gone", "free"])
    stream = session.events(seconds=SECONDS)
    (gone / "SKILL.md").unlink()
    await session.refresh()
    left, changed = [event.as_dict() async for event in stream]
    assert (left["kind"], left["skill"], left["reason"]) == ("skill.unloaded", "gone", "removed")
    assert (changed["kind"], changed["restricting"]) == ("restriction.changed", [])


@pytest.mark.proves("runtime.events.subscribers")
async def test_a_slow_and_a_failing_subscriber_hold_nothing_up_and_the_others_get_all_in_order(
    catalog: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[int] = []
    stuck = threading.Event()

    def slow_and_failing(event: SessionEvent) -> None:
        stuck.wait(30)
        seen.append(event.sequence)
        raise ValueError("t0p-s3cret of the host")

    class _Failing:
        async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
            raise KeyError(event.kind)

    session = Session(catalog, on_event=slow_and_failing, observers=[_Failing()])
    one, two = session.events(), session.events()
    for _ in range(MAX_WAITING // 2):
        assert (await session.call("nothing", {})).success is False
    first = [await anext(one) for _ in range(3)]
    for _ in range(MAX_WAITING):
        await session.call("nothing", {})
    assert seen == []  # the callback still sits at the first event, and the session is here already
    stuck.set()
    await session.close()
    assert session.drain_events(30)

    assert [event.sequence for event in first] == [1, 2, 3]
    ready = [event async for event in two]
    dropped = ready[0]
    assert isinstance(dropped, EventsDropped)
    assert (dropped.count, dropped.sequence) == (513, 513)  # 512 + 1024 calls and the end, of which 1024 wait
    assert [event.sequence for event in ready[1:]] == list(range(514, 1538))
    # The callback was told as well what it missed: up to 512 or 513, for it was let go at the same moment.
    assert (seen[0], seen[-1]) == (1, 1537)
    assert seen[1:] == list(range(seen[1], 1538))
    assert seen[1] in {512, 513}
    # Each failure reached the log once, and nothing else.
    told = [record.getMessage() for record in caplog.records if record.name == "prowess.events"]
    assert sorted(text.partition(" failed")[0] for text in told) == ["an observer of events", "on_event"]


async def test_nothing_is_made_while_nobody_listens(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr("prowess.runtime.events.delivery.moment", made.append)
    session = Session(catalog)
    stream = session.events()
    del stream  # letting go is enough
    await session.load(["alpha"])
    await session.call("nothing", {})
    await session.close()
    assert made == []


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_events_are_kept_replayed_from_a_number_and_followed(catalog: Catalog, tmp_path: Path, kind: str) -> None:
    store = MemorySessionStore() if kind == "memory" else SqliteSessionStore(tmp_path / "state.db")
    session = Session(catalog, store=store, session_id="one", keep_events=100)
    await session.load(["alpha"])
    before = await session.replay()
    assert _kinds(before) == [
        *("tool.started", "skill.loading", "skill.activating", "skill.loaded"),
        *("restriction.changed", "tool.finished"),
    ]
    assert [event.sequence for event in before] == [1, 2, 3, 4, 5, 6]
    assert await session.replay(4, 1) == before[4:5]

    later = Session(catalog, store=store, session_id="one", keep_events=100)
    stream = later.events(since=5)
    assert await anext(stream) == before[5]
    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "skills.unload", {"all": True})  # another session object, as another process
        seen = [await anext(stream) for _ in range(4)]
    assert _kinds(seen) == ["tool.started", "skill.unloaded", "restriction.changed", "tool.finished"]
    assert [event.sequence for event in seen] == [7, 8, 9, 10]
    await session.close()
    assert _kinds([event async for event in stream]) == ["session.closed"]
    # The end can be read afterwards, and a session of the same name goes on counting.
    again = Session(catalog, store=store, session_id="one", keep_events=100)
    await again.call("nothing", {})
    assert (await again.replay())[-1].sequence == 12
    assert _kinds(await _rest(again, 10)) == ["session.closed", "tool.refused"]
    await store.close()


async def test_a_stream_of_kept_events_begins_where_it_was_made(catalog: Catalog) -> None:
    session = Session(catalog, keep_events=10)
    await session.call("nothing", {}, "before")
    stream = session.events(seconds=SECONDS)
    await session.call("nothing", {}, "after")
    assert [event.call_id async for event in stream] == ["after"]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_what_is_kept_is_bounded_and_a_replay_says_where_it_is_cut(
    catalog: Catalog, tmp_path: Path, kind: str
) -> None:
    store = MemorySessionStore() if kind == "memory" else SqliteSessionStore(tmp_path / "state.db")
    session = Session(catalog, store=store, keep_events=16)
    for _ in range(64):
        await session.call("nothing", {})
    dropped, *kept = await session.replay()
    assert isinstance(dropped, EventsDropped)
    assert (dropped.count, dropped.sequence) == (48, 48)
    assert [event.sequence for event in kept] == list(range(49, 65))
    stream = session.events(since=0, seconds=SECONDS)
    assert (await anext(stream)).as_dict()["count"] == 48
    await store.close()


_WORKER = """
import sys
import anyio
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.store import SqliteSessionStore

async def main(root, database, name):
    store = SqliteSessionStore(database)
    session = Session(Catalog(root), store=store, session_id="shared", keep_events=1000)
    for number in range(60):
        await session.call("nothing", {}, f"{name}-{number}")
    await store.close()

anyio.run(main, *sys.argv[1:])
"""


async def test_two_processes_on_one_file_give_one_order_without_gaps(
    catalog: Catalog, skills: Path, tmp_path: Path
) -> None:
    database = tmp_path / "state.db"
    arguments = [sys.executable, "-c", _WORKER, str(skills), str(database)]
    workers = [subprocess.Popen([*arguments, name], stderr=subprocess.PIPE) for name in ("a", "b")]  # noqa: ASYNC220 -- they run beside this test
    store = SqliteSessionStore(database)
    session = Session(catalog, store=store, session_id="shared", keep_events=1000)
    followed: list[SessionEvent] = []
    with anyio.fail_after(60):
        stream = session.events(since=0)
        while len(followed) < 120:
            followed.append(await anext(stream))
    for worker in workers:
        _, errors = worker.communicate(timeout=30)
        assert worker.returncode == 0, errors
    assert [event.sequence for event in followed] == list(range(1, 121))
    for name in ("a", "b"):
        own = [event.call_id for event in followed if str(event.call_id).startswith(name)]
        assert own == [f"{name}-{number}" for number in range(60)]
    assert await session.replay() == tuple(followed)
    await store.close()


class _Full(MemorySessionStore):
    """A store that takes no events any more, as on a full disk."""

    async def append_event(self, session_id: str, body: str, *, at: float, keep: int) -> int:
        raise StoreError("memory:", "no space is left")


class _Rows:
    """A store of the host that keeps rows alone."""

    async def get(self, session_id: str) -> SessionRow | None:
        raise NotImplementedError


async def test_a_store_that_takes_no_events_stops_no_call(catalog: Catalog, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[SessionEvent] = []
    session = Session(catalog, store=_Full(), keep_events=10, on_event=seen.append)
    assert [skill.name for skill in (await session.load(["beta"])).active_skills] == ["beta"]
    assert session.drain_events(5)
    assert _kinds(seen)[0] == "tool.started"
    assert {event.sequence for event in seen} == {0}  # they happened, and were not kept
    assert "could not be kept" in caplog.text
    await session.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_numbers_that_no_event_has_give_nothing_or_everything(
    catalog: Catalog, tmp_path: Path, kind: str
) -> None:
    store = MemorySessionStore() if kind == "memory" else SqliteSessionStore(tmp_path / "state.db")
    session = Session(catalog, store=store, keep_events=10)
    await session.call("nothing", {})
    assert await session.replay(10**30, 10**9) == ()
    assert [event.sequence for event in await session.replay(-(10**9))] == [1]
    assert await _rest(session, 10**30) == []
    await store.close()


async def test_keeping_and_following_say_what_they_need(catalog: Catalog) -> None:
    for number in (-1, 10**7):
        with pytest.raises(InvalidArgumentsError, match="keep_events must be from 0"):
            Session(catalog, keep_events=number)
    with pytest.raises(InvalidArgumentsError, match="_Rows cannot keep events"):
        Session(catalog, store=cast("Any", _Rows()), keep_events=10)
    session = Session(catalog)
    with pytest.raises(InvalidArgumentsError, match="keep_events"):
        session.events(since=0)
    with pytest.raises(InvalidArgumentsError, match="keep_events"):
        await session.replay()


async def test_a_cancelled_call_ends_with_an_event(catalog: Catalog) -> None:
    tool = _Tool(waits=True)
    session = Session(catalog, extra_tools=[tool])
    stream = session.events(seconds=SECONDS)
    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "other", {}, "gone")
        await tool.begun.wait()
        group.cancel_scope.cancel()
    events = [event async for event in stream]
    assert [(event.kind, event.call_id) for event in events] == [("tool.started", "gone"), ("tool.finished", "gone")]
    assert events[1].as_dict()["outcome"] == "cancelled"


async def test_a_stream_ends_with_the_session_and_streams_do_not_disturb_each_other(catalog: Catalog) -> None:
    session = Session(catalog)
    left, stayed = session.events(), session.events()
    await session.call("nothing", {})
    assert (await anext(left)).kind == "tool.refused"
    del left
    await session.close()
    assert session.is_closed
    assert _kinds([event async for event in stayed]) == ["tool.refused", "session.closed"]
    assert [event async for event in session.events()] == []


def test_a_program_without_an_event_loop_gets_callback_stream_and_replay(catalog: Catalog) -> None:
    seen: list[SessionEvent] = []
    with SyncSession(catalog, on_event=seen.append, keep_events=50) as session:
        stream = session.events()
        session.load(["alpha"])
        assert next(stream).kind == "tool.started"
        assert session.drain_events(5)
        assert len(seen) == len(session.replay()) == 6
        assert _kinds(list(session.events(4, seconds=0.05))) == ["restriction.changed", "tool.finished"]
        session.call("nothing", {})
    assert _kinds(list(stream))[-2:] == ["restriction.changed", "session.closed"]
    assert seen[-1].kind == "session.closed"


def test_a_reader_of_a_detached_session_is_let_go(catalog: Catalog) -> None:
    session = SyncSession(catalog)
    stream = session.events()
    ended: list[bool] = []

    def read() -> None:
        ended.extend(False for _ in stream)
        ended.append(True)

    reader = threading.Thread(target=read)
    reader.start()
    session.detach()
    reader.join(5)
    assert ended == [True]


def test_a_callback_may_call_the_session(catalog: Catalog) -> None:
    outcomes: list[bool] = []

    def look(event: SessionEvent) -> None:
        if event.kind == "skill.loaded":
            outcomes.append(session.read("SKILL.md", skill="alpha").skill == "alpha")
            outcomes.append(session.drain_events(5))

    with SyncSession(catalog, on_event=look) as session:
        session.load(["alpha"])
        session.drain_events(5)
    assert outcomes == [True, False]  # a callback that waited for itself would wait for ever


async def test_hostile_names_stay_one_short_printable_line(tmp_path: Path) -> None:
    write_skill(tmp_path, "evil", extra='allowed-tools: "Read"\n')
    session = Session(Catalog(tmp_path), keep_events=10)
    stream = session.events(seconds=SECONDS)
    await session.call("\x1b[2J" + "x" * 5000 + "\n", {}, "id\n\x1b" + "y" * 5000)
    await session.call("skills.load", {"names": ["no\x1b[31m\ud800" + "z" * 1000]})
    async for event in stream:
        for value in event.as_dict().values():
            assert not isinstance(value, str) or (len(value) < 400 and value.isprintable()), value


def test_every_kind_survives_being_written_and_read() -> None:
    for kind, made in KINDS.items():
        event = from_dict({"kind": kind, "session_id": "s", "at": "2026-11-28T02:00:00.000001Z"}, 7)
        assert type(event) is made
        assert from_dict(event.as_dict(), 7) == event
        assert list(event.as_dict())[:2] == ["kind", "session_id"]


async def test_a_line_of_another_version_in_the_store_is_passed_over(catalog: Catalog) -> None:
    store = MemorySessionStore()
    session = Session(catalog, store=store, session_id="one", keep_events=10)
    for body in ('{"kind": "of.tomorrow"}', "no json", "[]", '{"kind": "tool.started"}'):
        await store.append_event("one", body, at=time.time(), keep=10)
    await session.call("nothing", {})
    assert [event.sequence for event in await session.replay()] == [5]
    stream = session.events(since=0, seconds=SECONDS)
    assert (await anext(stream)).sequence == 5


async def test_many_lines_of_another_version_hold_no_reader_up(catalog: Catalog) -> None:
    store = MemorySessionStore()
    session = Session(catalog, store=store, session_id="one", keep_events=20)
    for _ in range(12):
        await store.append_event("one", '{"kind": "of.tomorrow"}', at=time.time(), keep=20)
    assert await session.replay(limit=5) == ()
    await session.call("nothing", {})
    assert [event.sequence for event in await session.replay(limit=5)] == [13]


async def test_a_replay_that_says_what_is_missing_keeps_to_its_limit(catalog: Catalog) -> None:
    session = Session(catalog, store=MemorySessionStore(), keep_events=16)
    for _ in range(40):
        await session.call("nothing", {})
    dropped, *kept = await session.replay(limit=3)
    assert isinstance(dropped, EventsDropped)
    assert [event.sequence for event in kept] == [dropped.sequence + 1, dropped.sequence + 2]
    following = await session.replay(kept[-1].sequence, limit=3)
    assert [event.sequence for event in following] == [kept[-1].sequence + number for number in (1, 2, 3)]


async def test_a_fork_that_is_cancelled_or_breaks_leaves_its_end(tmp_path: Path) -> None:
    write_skill(tmp_path, "f", extra="context: fork\n")
    begun = anyio.Event()

    class _Stuck:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            if request.input == "break":
                raise ZeroDivisionError
            begun.set()
            await anyio.sleep_forever()
            raise AssertionError

    session = Session(Catalog(tmp_path), fork_runner=_Stuck())
    stream = session.events(seconds=SECONDS)
    with suppress(ZeroDivisionError):
        await session.call("skill", {"skill": "f", "args": "break"})
    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "skill", {"skill": "f"})
        await begun.wait()
        group.cancel_scope.cancel()
    ends = [event.as_dict()["code"] for event in [e async for e in stream] if event.kind == "fork.finished"]
    assert ends == ["internal", "cancelled"]


async def test_the_events_of_a_call_carry_the_result_to_no_stream(catalog: Catalog) -> None:
    contents: list[Mapping[str, object]] = []

    class _Watch:
        async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
            contents.append(content)

    session = Session(catalog, extra_tools=[_Tool()], observers=[_Watch()])
    assert result(await session.call("other", {"a": 1})) == {"secret": "r3sult"}
    assert contents == [{"arguments": {"a": 1}}, {"result": {"secret": "r3sult"}}]
