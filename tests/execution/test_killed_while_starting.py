"""A Prowess that is killed by SIGKILL, at any moment of a run, leaves no process that goes on without supervision.

`PROWESS_KILLS` is the number of random kills for each user; 20 by default.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import resource  # noqa: F401 -- the other user may not be able to read this Python's library, where it would come from
import select
import signal
import struct
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from prowess.execution.backends import bubblewrap, bubblewrap_start, start_gate, syscall_filter
from prowess.execution.backends.bubblewrap_options import Layout
from prowess.execution.cgroup import ControlGroup
from prowess.execution.environment import base_environment
from prowess.execution.request import ExecLimits, ExecRequest
from tests import forked
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
            forked.end(0)

    def beats(self) -> list[int]:
        return [
            os.stat(path).st_size if os.path.exists(path := f"{self.root}/{token}/beats") else 0
            for token in self.tokens
        ]

    def alive(self) -> list[str]:
        """Return the processes of runs, without those that wait for bubblewrap's own monitor."""
        return [process for process in self.processes() if not self._waits_for_a_monitor(process)]

    def processes(self) -> list[str]:
        return [process for token in self.tokens for process in processes_with(token)]

    @staticmethod
    def _waits_for_a_monitor(process: str) -> bool:
        try:
            return start_gate._is_orphan(process)
        except FileNotFoundError:  # it has just ended
            return True


@pytest.fixture
def place(sandbox: BubblewrapSandbox) -> Iterator[_Place]:
    with tempfile.TemporaryDirectory(prefix="prowess-test-") as root:
        made = _Place(root, sandbox)
        yield made
        _signal(made, signal.SIGKILL)


def _signal(place: _Place, number: signal.Signals) -> None:
    for process in place.processes():
        with contextlib.suppress(ProcessLookupError):  # it died with the one before
            os.kill(int(process), number)


def _kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _assert_nothing_is_left(place: _Place) -> None:
    assert within(2, lambda: not place.alive()), f"{len(place.alive())} of {len(place.tokens)} are alive"
    before = place.beats()
    start_gate.end_orphans.__wrapped__()  # what the next start does
    assert within(1, lambda: not place.processes())
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


def _signal_of(process: int) -> int:
    return -os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


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
        "script released": (ControlGroup, "prepare_next"),
    }[moment]
    for _ in range(4):
        process = place.start(uid, lambda: monkeypatch.setattr(module, name, _end_this_process))
        assert _signal_of(process) == signal.SIGKILL
    _assert_nothing_is_left(place)


@pytest.mark.parametrize("filtered", [False, True], ids=["plain", "in a filter"])
def test_the_line_waits_until_the_sandbox_dies_with_prowess(
    place: _Place, monkeypatch: pytest.MonkeyPatch, *, filtered: bool
) -> None:
    """The first process stops before it can ask for that. In most containers every process has a filter before."""

    def bound_and_stopped(process: int, limits: ExecLimits) -> tuple[str, ...]:
        os.kill(process, signal.SIGSTOP)
        return ()

    def prepare() -> None:
        monkeypatch.setattr(bubblewrap, "set_bounds", bound_and_stopped)
        monkeypatch.setattr(ControlGroup, "prepare_next", _end_this_process)
        if filtered:
            _take_a_filter()

    process = place.start(os.geteuid(), prepare)
    time.sleep(0.5)
    assert os.waitpid(process, os.WNOHANG) == (0, 0)  # the line is not written
    _kill(process)
    _signal(place, signal.SIGCONT)
    _assert_nothing_is_left(place)


def _take_a_filter() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    program = ctypes.create_string_buffer(syscall_filter.ALLOW_EVERYTHING, 8)
    code = struct.pack("HP", 1, ctypes.addressof(program))
    set_no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    assert libc.prctl(set_no_new_privileges, 1, 0, 0, 0) == 0
    assert libc.prctl(set_seccomp, filter_mode, ctypes.create_string_buffer(code), 0, 0) == 0


@pytest.mark.parametrize("shell", ["/bin/dash", "/bin/bash", "/bin/busybox"])
def test_each_shell_keeps_the_gate(shell: str) -> None:
    if not os.access(shell, os.X_OK):
        pytest.skip(f"no {shell} here")
    env = {"PWD": "/", "SHLVL": "3", "OPTIND": "x", "A": "b c"}
    (_, *words), kept = start_gate.gated(("/usr/bin/env",), env, ExecLimits(), stdin=True)

    def run(line: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["sh", *words], executable=shell, env=kept, input=line, capture_output=True, cwd="/", check=False
        )

    assert sorted(run(b"go\n").stdout.decode().splitlines()) == sorted(f"{name}={env[name]}" for name in env)
    for line in (b"", b"go", b"\n"):
        ended = run(line)
        assert (ended.returncode, ended.stdout, ended.stderr) == (125, b"", b"")
    words[2] = "/usr/bin/no-such-program"
    assert run(b"go\n").stderr == b"go\n"


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
