"""A Prowess that is killed by SIGKILL, at any moment of a run, leaves no process that goes on without supervision.

`PROWESS_KILLS` is the number of random kills for each user; 20 by default.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource  # noqa: F401 -- the other user may not be able to read this Python's library, where it would come from
import select
import signal
import tempfile
import time
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from prowess.execution.backends import bubblewrap, bubblewrap_start, start_gate
from prowess.execution.backends.bubblewrap_options import Layout
from prowess.execution.environment import base_environment
from prowess.execution.request import ExecLimits, ExecRequest
from tests.execution.bench import processes_with, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.execution.backends.bubblewrap import BubblewrapSandbox
    from tests.execution.bench import Bench

_KILLS = int(os.environ.get("PROWESS_KILLS", "20"))
_SOMEBODY = 12345
_LATEST_KILL = 0.06  # seconds after the start of the run; a run starts within 20 ms
_SCRIPT = "while :; do echo x >> beats; sleep 0.02; done\n"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
_USERS = [pytest.param(os.geteuid(), id="this user"), pytest.param(_SOMEBODY, id="another", marks=needs_root)]


class _Place:
    """A directory that both users can use, with one skill and a workspace for each run."""

    def __init__(self, root: str, sandbox: BubblewrapSandbox) -> None:
        self.root, self.sandbox = root, sandbox
        self.tokens: list[str] = []
        os.mkdir(f"{root}/skill")
        with open(f"{root}/skill/run.sh", "w", encoding="ascii") as file:
            file.write(_SCRIPT)
        for name in ("", "/skill"):
            os.chmod(f"{root}{name}", 0o777)

    def start(self, uid: int, before: Callable[[], None] = lambda: None) -> int:
        """Start a run in a process of its own and return its number; `before` is called in that process."""
        token = f"kill-test-{os.getpid()}-{uid}-{len(self.tokens)}"
        self.tokens.append(token)
        workspace = f"{self.root}/{token}"
        os.mkdir(workspace)
        os.chmod(workspace, 0o777)
        child = os.fork()
        if child:
            return child
        try:
            os.environ["PROWESS_HOME"] = f"{self.root}/home-{uid}"
            if uid != os.geteuid():
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            before()
            request = ExecRequest(
                skill_dir=f"{self.root}/skill",
                script="run.sh",
                args=(token,),
                workspace=workspace,
                write=len(self.tokens) % 2 == 0,  # with it Prowess waits once more before the start
                limits=ExecLimits(wall_seconds=20),
            )
            self.sandbox.run_blocking(request, os.pipe()[0])
        finally:
            os._exit(0)

    def beats(self) -> list[int]:
        return [
            os.stat(path).st_size if os.path.exists(path := f"{self.root}/{token}/beats") else 0
            for token in self.tokens
        ]

    def alive(self) -> list[str]:
        """Return the processes of runs, without those that wait for bubblewrap's own monitor."""
        found = [process for token in self.tokens for process in processes_with(token)]
        return [process for process in found if not start_gate._is_orphan(process)]


@pytest.fixture
def place(sandbox: BubblewrapSandbox) -> Iterator[_Place]:
    with tempfile.TemporaryDirectory(prefix="prowess-test-") as root:
        made = _Place(root, sandbox)
        yield made
        for token in made.tokens:
            for process in processes_with(token):
                with contextlib.suppress(ProcessLookupError):  # it died with the one before
                    os.kill(int(process), signal.SIGKILL)


def _kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _assert_nothing_is_left(place: _Place) -> None:
    assert within(2, lambda: not place.alive()), f"{len(place.alive())} of {len(place.tokens)} are alive"
    before = place.beats()
    start_gate.end_orphans.__wrapped__()  # what the next start does
    assert within(1, lambda: not any(map(processes_with, place.tokens)))
    time.sleep(0.3)
    assert place.beats() == before


@pytest.mark.proves("runtime.run.sandboxed")
@pytest.mark.parametrize("uid", _USERS)
def test_a_kill_at_a_random_moment_leaves_no_process_and_no_write(place: _Place, uid: int) -> None:
    for _ in range(_KILLS):
        process = place.start(uid)
        time.sleep(random.uniform(0, _LATEST_KILL))
        _kill(process)
    _assert_nothing_is_left(place)


def _end_this_process(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("uid", _USERS)
@pytest.mark.parametrize("moment", ["bubblewrap started", "set-up known", "bounds set", "script released"])
def test_a_kill_at_each_step_of_the_start_leaves_no_process_and_no_write(
    place: _Place, monkeypatch: pytest.MonkeyPatch, moment: str, uid: int
) -> None:
    module, name = {
        "bubblewrap started": (bubblewrap_start, "_first_report"),
        "set-up known": (os, "pidfd_open"),
        "bounds set": (bubblewrap_start.Started, "release"),
        "script released": (bubblewrap, "supervise"),
    }[moment]
    for _ in range(4):
        os.waitpid(place.start(uid, lambda: monkeypatch.setattr(module, name, _end_this_process)), 0)
    _assert_nothing_is_left(place)


def test_a_run_that_nobody_kills_writes(place: _Place) -> None:
    """The tests above would pass without a run as well."""
    place.start(os.geteuid())
    process = place.start(os.geteuid())
    assert within(5, lambda: place.beats()[1] > 0)
    _kill(process)


def test_the_next_start_ends_what_waits_for_a_monitor_that_is_gone(sandbox: BubblewrapSandbox) -> None:
    program = sandbox.probe().program
    assert program is not None
    left, running = (
        bubblewrap_start.start(program, Layout(skill=None, cwd="/tmp"), ("/usr/bin/true",), stdin=False)
        for _ in range(2)
    )
    try:
        left.process.kill()
        left.process.wait()  # its first process waits; another Prowess that starts now may end it before we do
        start_gate.end_orphans.__wrapped__()
        assert _has_ended(left, seconds=2)
        assert not _has_ended(running, seconds=0)
    finally:
        left.close()
        running.close()


def _has_ended(started: bubblewrap_start.Started, *, seconds: float) -> bool:
    return bool(select.select([started.init_pidfd], [], [], seconds)[0])


@pytest.mark.anyio
async def test_the_gate_changes_no_variable_no_argument_and_no_input(bench: Bench) -> None:
    given = dict.fromkeys(("OPTIND", "PPID", "LINENO", "UID", "SHLVL", "_", "PS1", "RANDOM", "A"), "7 *")
    source = "import os, sys, json; print(json.dumps([dict(os.environ), sys.argv[1:], sys.stdin.read()]))"
    arguments = ("", "a b", "$HOME", "-c", "\n", "'")
    env, argv, stdin = json.loads((await bench.python(source, *arguments, env=given, stdin=b" a\nb")).stdout)
    base = base_environment(session_id="", workspace=False)
    assert {**env, "LC_CTYPE": ""} == {**base, **given, "PWD": "/tmp/work", "LC_CTYPE": ""}
    assert (argv, stdin) == (list(arguments), " a\nb")
    without = await bench.python("import os; print(os.readlink('/proc/self/fd/0'), os.listdir('/proc/self/fd'))")
    assert without.stdout == b"/dev/null ['0', '1', '2', '3']\n"


@pytest.mark.anyio
@pytest.mark.parametrize("stdin", [b"", None])
async def test_a_script_may_have_very_few_open_files(bench: Bench, stdin: bytes | None) -> None:
    source = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    request = bench.request("run.py", source, limits=ExecLimits(open_files=6, wall_seconds=10))
    result = await bench.sandbox.run(structs.replace(request, stdin=stdin))
    assert result.stdout == b"(6, 6)\n"
