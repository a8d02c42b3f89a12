"""A session that watches emits an event for each change of its catalog, and lists the skills as they are."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.catalog import Catalog
from prowess.runtime import Session, SyncSession
from tests.fork_server import prowess
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

BOUND = 20.0  # seconds that a test waits at most


@pytest.mark.anyio
async def test_a_session_emits_an_event_for_each_batch_of_changes(skills: Path) -> None:
    session = Session(Catalog(skills))
    stream = session.events()
    async with anyio.create_task_group() as tasks:
        session.catalog.entries()  # changes from now on are told
        tasks.start_soon(session.watch)
        write_skill(skills, "delta")
        with anyio.fail_after(BOUND):
            event = await anext(stream)
        assert (event.kind, event.as_dict()["added"]) == ("catalog.changed", ["delta"])
        assert "delta" in [entry.name for entry in session.catalog.entries()]
        tasks.cancel_scope.cancel()
    assert not [thread for thread in threading.enumerate() if thread.name == "prowess-watch"]
    await session.close()


@pytest.mark.anyio
async def test_the_watch_of_a_session_ends_when_the_session_is_closed(skills: Path) -> None:
    session = Session(Catalog(skills))
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.watch)
            await session.close()


@pytest.mark.parametrize("end", ["close", "detach"])
def test_a_session_without_await_watches_in_a_thread_until_its_end(skills: Path, end: str) -> None:
    heard: list[object] = []
    session = SyncSession(Catalog(skills), on_event=heard.append)
    session.catalog.entries()  # changes from now on are told
    thread = threading.Thread(target=session.watch)
    thread.start()
    write_skill(skills, "delta")
    limit = time.monotonic() + BOUND
    while not heard:
        assert time.monotonic() < limit
        time.sleep(0.01)
    getattr(session, end)()
    thread.join(BOUND)
    assert not thread.is_alive()
    assert not [thread for thread in threading.enumerate() if thread.name == "prowess-watch"]


def test_a_session_over_json_lines_prints_changes_between_two_answers(skills: Path) -> None:
    command = [prowess(), "session", "--root", str(skills), "--events"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        session.stdin.write('{"id":1,"method":"tools"}\n')
        session.stdin.flush()
        assert json.loads(session.stdout.readline())["id"] == 1
        write_skill(skills, "delta")
        event = json.loads(session.stdout.readline())["event"]
        assert (event["kind"], event["added"]) == ("catalog.changed", ["delta"])
        session.communicate(timeout=BOUND)
    assert session.returncode == 0
