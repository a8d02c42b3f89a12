"""Bounds hold from the first instruction, and nothing outlives a run."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import anyio
import pytest
from msgspec import structs

from prowess.execution.request import MEBIBYTE, ExecLimits
from tests.execution.bench import processes_with, within

if TYPE_CHECKING:
    from tests.execution.bench import Bench

pytestmark = pytest.mark.anyio

_DAEMON = """
import os, sys, time, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("before", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)  # holds the pipes
    os._exit(0)
"""


@pytest.mark.proves("runtime.run.timeout-tree")
async def test_at_the_time_limit_the_whole_tree_dies_and_the_output_so_far_is_kept(bench: Bench) -> None:
    token = uuid.uuid4().hex
    began = time.monotonic()
    source = f"{_DAEMON}\nprint('unflushed'); time.sleep(60)"
    result = await bench.python(source, token, limits=ExecLimits(wall_seconds=0.4))
    assert result.timed_out
    assert result.exit_code == 137
    assert result.stdout == b"before\nunflushed\n"
    assert time.monotonic() - began < 20
    assert processes_with(token) == []


async def test_a_grandchild_that_holds_the_pipe_does_not_delay_the_answer(bench: Bench) -> None:
    token = uuid.uuid4().hex
    result = await bench.python(_DAEMON, token)
    assert (result.exit_code, result.stdout, result.timed_out) == (0, b"before\n", False)
    assert result.duration_ms < 3000
    assert processes_with(token) == []


@pytest.mark.proves("runtime.run.output-cap")
async def test_output_over_the_limit_is_cut_flagged_and_counted_by_stream(bench: Bench) -> None:
    source = "import sys; sys.stdout.write('o' * 3_000_000); sys.stderr.write('e' * 10)"
    result = await bench.python(source)
    assert (len(result.stdout), result.stdout_bytes, result.stdout_truncated) == (1_000_000, 3_000_000, True)
    assert (result.stderr, result.stderr_bytes, result.stderr_truncated) == (b"e" * 10, 10, False)


async def test_output_of_exactly_the_limit_is_not_cut(bench: Bench) -> None:
    result = await bench.python("print('x' * 99)", limits=ExecLimits(output_bytes=100))
    assert (len(result.stdout), result.stdout_truncated) == (100, False)


async def test_a_flood_is_drained_until_the_time_limit(bench: Bench) -> None:
    result = await bench.sh("yes", limits=ExecLimits(wall_seconds=0.3, output_bytes=1000))
    assert result.timed_out
    assert len(result.stdout) == 1000
    assert result.stdout_bytes > 1_000_000


async def test_no_time_limit_means_none(bench: Bench) -> None:
    result = await bench.sh("sleep 0.1; echo done", limits=ExecLimits(wall_seconds=None))
    assert result.stdout == b"done\n"
    assert "wall_time" not in result.guarantees.enforced


async def test_a_cancelled_run_leaves_no_process(bench: Bench) -> None:
    token = uuid.uuid4().hex
    with anyio.move_on_after(0.15) as scope:
        await bench.python("import time; time.sleep(60)", token)
    assert scope.cancelled_caught
    assert processes_with(token) == []


@pytest.mark.parametrize("directory", ["/tmp", "/out", "/dev/shm"])
async def test_no_writable_place_takes_more_than_its_size(bench: Bench, directory: str) -> None:
    source = f"for i in 1 2 3 4 5 6; do head -c 4000000 /dev/zero > {directory}/f$i || exit 9; done"
    limits = ExecLimits(tmp_bytes=8 * MEBIBYTE, out_bytes=8 * MEBIBYTE, wall_seconds=10)
    assert (await bench.sh(source, limits=limits)).exit_code == 9


@pytest.mark.proves("runtime.run.path-limits")
@pytest.mark.parametrize("directory", ["/", "/dev", "/etc", "/usr", "/skill", "/proc", "/interpreters"])
async def test_every_other_place_is_read_only(bench: Bench, directory: str) -> None:
    result = await bench.sh(f"echo x > {directory}/new 2>/dev/null || echo refused")
    assert result.stdout == b"refused\n"


async def test_one_file_cannot_grow_beyond_its_limit(bench: Bench) -> None:
    source = (
        "f = open('/tmp/f', 'wb', 0)\ntry:\n    while f.write(b'x' * 65536): pass\nexcept OSError:\n    print(f.tell())"
    )
    result = await bench.python(source, limits=ExecLimits(file_bytes=MEBIBYTE, wall_seconds=10))
    assert result.stdout == f"{MEBIBYTE}\n".encode()


async def test_processor_time_is_bounded_where_asked(bench: Bench) -> None:
    result = await bench.sh("while :; do :; done", limits=ExecLimits(cpu_seconds=1, wall_seconds=10))
    assert not result.timed_out
    assert result.exit_code in (128 + 9, 128 + 24)
    assert "cpu_time" in result.guarantees.enforced


async def test_processes_are_bounded_in_number_or_the_result_says_so(bench: Bench) -> None:
    source = """
import os, time
made = 0
try:
    while made < 200 and os.fork(): made += 1
except OSError:
    pass
else:
    time.sleep(5)
print(made)
"""
    result = await bench.python(source, limits=ExecLimits(processes=20, wall_seconds=10))
    if "processes" in result.guarantees.enforced:
        assert 0 < int(result.stdout.split()[-1]) < 20
    else:
        assert "control group" in dict(result.guarantees.not_enforced)["processes"]


async def test_memory_of_all_processes_together_is_bounded_or_the_result_says_so(bench: Bench) -> None:
    source = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        held = b'x' * 60_000_000
        time.sleep(0.2)
        os._exit(0)
print(sum(os.wait()[1] != 0 for _ in range(6)))
"""
    result = await bench.python(source, limits=ExecLimits(memory_bytes=128 * MEBIBYTE, wall_seconds=10))
    if "memory" in result.guarantees.enforced:
        assert result.exit_code != 0 or int(result.stdout) >= 3
        assert [notice.message for notice in result.notices] == ["a process was killed; the memory limit is 128 MiB"]
    else:
        assert "control group" in dict(result.guarantees.not_enforced)["memory"]


async def test_the_guarantees_say_what_is_not_enforced(bench: Bench) -> None:
    plain = (await bench.sh("exit 0")).guarantees.as_dict()
    assert plain["network"] == "none"
    assert "no workspace" in str(plain["filesystem"])
    assert isinstance(plain["not_enforced"], dict)
    assert "cpu_time" in plain["not_enforced"]
    written = (await bench.sh("exit 0", workspace=True, write=True)).guarantees.as_dict()
    assert "workspace read-write" in str(written["filesystem"])
    assert isinstance(written["not_enforced"], dict)
    assert {"workspace_size", "workspace_sockets"} <= set(written["not_enforced"])


async def test_without_a_control_group_each_process_by_itself_is_bounded(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.execution.cgroup._purposes", lambda *_: ())
    limits = ExecLimits(memory_bytes=128 * MEBIBYTE, wall_seconds=10)
    result = await bench.python("print(len(bytearray(200 << 20)))", limits=limits)
    assert b"MemoryError" in result.stderr
    assert "data_size" in result.guarantees.enforced
    assert "each process is limited to 134217728 bytes" in dict(result.guarantees.not_enforced)["memory"]
    assert (await bench.python("print(len(bytearray(64 << 20)))", limits=limits)).exit_code == 0


async def test_bounds_that_were_lifted_are_not_claimed(bench: Bench) -> None:
    limits = ExecLimits(wall_seconds=10, file_bytes=None, memory_bytes=None, processes=None, open_files=None)
    guarantees = (await bench.sh("exit 0", limits=limits)).guarantees
    lifted = {"file_size", "memory", "processes", "open_files"}
    assert not lifted & set(guarantees.enforced)
    assert lifted <= {name for name, why in guarantees.not_enforced if why == "no limit was requested"}


async def test_no_descriptor_is_left_open_in_this_process(bench: Bench) -> None:
    import os  # here, because only this test looks

    await bench.sh("exit 0")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await bench.sh("echo x > /out/a; exit 1", stdin=b"x")
    assert within(1, lambda: len(os.listdir("/proc/self/fd")) <= before)


@pytest.mark.parametrize("limits", [ExecLimits(open_files=12), ExecLimits(file_bytes=512)], ids=["files", "bytes"])
async def test_a_bound_too_tight_for_the_set_up_holds_for_the_script_alone(bench: Bench, limits: ExecLimits) -> None:
    request = bench.request("run.sh", "ulimit -n; ulimit -f; echo done", limits=limits)
    result = await bench.sandbox.run(structs.replace(request, out_dir=None))
    assert result.exit_code == 0
    files = limits.open_files
    assert result.stdout == f"{files}\n{limits.file_bytes and limits.file_bytes // 512}\ndone\n".encode()


async def test_the_bounds_hold_from_the_first_instruction_where_nobody_takes_what_is_left_in_out(bench: Bench) -> None:
    source = "ulimit -Hn; ulimit -Sn; ulimit -c; touch /out/dropped && echo written"
    request = structs.replace(bench.request("run.sh", source), out_dir=None)
    for _ in range(10):
        result = await bench.sandbox.run(request)
        assert result.stdout == b"256\n256\n0\nwritten\n"
        assert result.artifacts == ()
    assert not bench.out.exists()
