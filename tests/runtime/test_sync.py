from __future__ import annotations

import inspect
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.errors import SessionNotFoundError, SkillNotActiveError, SkillNotFoundError
from prowess.runtime import Session, SyncSession
from prowess.store import MemorySessionStore
from tests.runtime.making import failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def test_the_two_sessions_have_the_same_public_interface() -> None:
    def interface(kind: type) -> dict[str, list[str]]:
        members = inspect.getmembers(kind, lambda member: inspect.isfunction(member) or isinstance(member, property))
        return {
            name: []
            if isinstance(member, property)
            else [str(p) for p in inspect.signature(member).parameters.values()]
            for name, member in members
            if not name.startswith("_")
        }

    assert interface(SyncSession) == interface(Session)


def test_a_program_without_an_event_loop_loads_reads_and_runs(skills: Path) -> None:
    catalog = Catalog(skills)

    with SyncSession(catalog) as session:
        assert session.catalog is catalog
        assert session.session_id[14] == "7"
        assert names(session.load(["alpha"])) == ["alpha"]
        assert session.active_skill_name == "alpha"
        assert [skill.name for skill in session.active_skills] == ["alpha"]
        assert session.read("references/guide.md", limit=7).text == "# Guide"
        assert session.run_script("scripts/run.py", "x").stdout == "source x\n"
        assert "# Alpha" in session.instructions()
        assert next(spec.name for spec in session.tools()) == "skills.load"
        assert result(session.call("skills_unload", {"all": True}))["unloaded_skills"] == ["alpha"]
        with pytest.raises(SkillNotActiveError):
            session.read("SKILL.md")
        assert names(session.unload(["alpha"])) == []
        assert session.protected_messages([]) == ()
        assert session.restore_after_compaction() == ""


def test_instructions_are_up_to_date_without_asking(skills: Path) -> None:
    with SyncSession(Catalog(skills)) as session:
        session.instructions()
        write_skill(skills, "delta")
        assert "<name>delta</name>" in session.instructions()


def test_a_closed_session_answers_that_it_is_gone(skills: Path) -> None:
    before = threading.enumerate()
    session = SyncSession(Catalog(skills))
    session.load(["alpha"])
    session.close()
    session.close()

    assert failure(session.call("skills.read", {"path": "SKILL.md"}))["code"] == "session_not_found"
    with pytest.raises(SessionNotFoundError):
        session.instructions()
    assert [thread.name for thread in threading.enumerate() if thread not in before and "portal" in thread.name] == []


def test_creation_loads_the_initial_skills_or_fails(skills: Path) -> None:
    store = MemorySessionStore()
    with SyncSession.create(Catalog(skills), initial=["beta"], store=store) as session:
        assert session.active_skill_name == "beta"
        with pytest.raises(SkillNotFoundError):
            SyncSession.create(Catalog(skills), initial=["nonsense"], store=store)
    with SyncSession.create(Catalog(skills)) as session:
        assert session.active_skill_name is None


def test_a_detached_session_can_be_continued(skills: Path) -> None:
    store = MemorySessionStore()
    first = SyncSession(Catalog(skills), store=store, session_id="kept")
    first.load(["alpha"])
    first.detach()
    first.detach()

    with SyncSession(Catalog(skills), store=store, session_id="kept") as second:
        second.refresh()
        assert second.active_skill_name == "alpha"


def test_users_tools_costs_and_histories_work_without_an_event_loop(skills: Path) -> None:
    with SyncSession(Catalog(skills), exposure="skill") as session:
        assert [spec.name for spec in session.tools()] == ["skill"]
        assert session.completions("/a") == ("alpha",)
        started = session.invoke("/alpha now")
        assert started.args == "now"
        assert not session.user_call("/alpa").success
        assert session.fire("Stop") == []
        assert session.cost().skills.keys() == {"alpha"}
        session.unload(["alpha"])
        assert "left out" in str(session.without_unloaded([started.content]))


def test_threads_may_share_a_session(skills: Path) -> None:
    with SyncSession(Catalog(skills)) as session:
        session.load(["alpha"])
        found: list[object] = []
        threads = [
            threading.Thread(target=lambda: found.append(session.read("references/deep/note.txt").text))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert found == ["note\n"] * 8


_FORGOTTEN = """
import sys
from prowess import Catalog, SyncSession
session = SyncSession(Catalog(sys.argv[1]))
session.load(["alpha"])
print(session.read("references/guide.md", section="end").text)
"""


def test_a_program_that_forgets_to_close_ends_all_the_same(skills: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FORGOTTEN, str(skills)], capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout == "## End\n\nBye.\n\n"
    assert done.stderr == ""


_WAITING = """
import os, signal, sys, threading, time
from prowess.catalog import Catalog
from prowess.runtime import SyncSession
from prowess.tools.functions.function_tool import FunctionTool

def slow() -> str:
    "Take long."
    began.set()
    time.sleep(5)
    return "done"

class Asked(BaseException):
    pass

def ask(number: int, frame: object) -> None:
    raise Asked

def send() -> None:
    began.wait(20)
    time.sleep(0.2)  # so that the main thread waits
    # To this thread: Python notes it, and the wait of the main thread is not broken off by it.
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

began = threading.Event()
signal.signal(signal.SIGUSR1, ask)
session = SyncSession(Catalog(sys.argv[1]), extra_tools=[FunctionTool(slow)])
threading.Thread(target=send).start()
start = time.monotonic()
try:
    session.call("slow", {})
except Asked:
    print(f"{time.monotonic() - start:.1f}", flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of single threads are of POSIX")
def test_a_signal_that_does_not_break_off_the_wait_is_answered_soon(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _WAITING, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert float(run.stdout) < 3, run
