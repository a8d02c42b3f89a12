"""The filter is read back by a machine of three instructions, for every architecture; then the kernel has its say."""

from __future__ import annotations

import errno
import json
import os
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.execution.backends import bubblewrap, bubblewrap_start
from prowess.execution.backends import syscall_filter as filter_module
from prowess.execution.backends.syscall_filter import ARCHITECTURES, REFUSED, syscall_filter

if TYPE_CHECKING:
    from tests.execution.bench import Bench

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
REFUSE, UNKNOWN = FAIL | errno.EPERM, FAIL | errno.ENOSYS
MACHINES = sorted(ARCHITECTURES)


def _answer(machine: str, number: int, *arguments: int, mark: int | None = None) -> int:
    """Run the filter as the kernel does."""
    program = syscall_filter(machine)
    assert program is not None
    code = list(struct.iter_unpack("=HBBI", program))
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, ARCHITECTURES[machine].mark if mark is None else mark, 0, *padded)
    at, register = 0, 0
    while True:
        operation, then, otherwise, value = code[at]
        at += 1
        match operation:
            case 0x20:
                (register,) = struct.unpack_from("=I", data, value)
            case 0x06:
                return int(value)
            case 0x15 | 0x25 | 0x35 | 0x45:
                tests = {0x15: register == value, 0x25: register > value, 0x35: register >= value}
                at += then if tests.get(operation, register & value != 0) else otherwise
            case _:
                raise AssertionError(hex(operation))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_each_listed_call_is_refused(machine: str, name: str) -> None:
    number = REFUSED[name][ARCHITECTURES[machine].column]
    if number is not None:
        assert _answer(machine, number) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_pass(machine: str) -> None:
    column = ARCHITECTURES[machine].column
    refused = {numbers[column] for numbers in REFUSED.values()} | {ARCHITECTURES[machine].clone3}
    judged = {ARCHITECTURES[machine].socket, ARCHITECTURES[machine].socketpair}
    for number in range(470):
        if number not in refused | judged:
            assert _answer(machine, number) == ALLOW, number


@pytest.mark.parametrize("machine", MACHINES)
def test_another_convention_ends_the_process(machine: str) -> None:
    foreign = next(other.mark for name, other in ARCHITECTURES.items() if name != machine)
    assert _answer(machine, 0, mark=foreign) == KILL
    assert _answer(machine, 0, mark=0x40000003) == KILL  # 32 bits on x86
    assert _answer(machine, 0x40000000) == KILL
    assert _answer(machine, 0xFFFFFFFF) == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_are_newer_than_the_list_do_not_exist(machine: str) -> None:
    assert _answer(machine, 470) == UNKNOWN
    assert _answer(machine, ARCHITECTURES[machine].clone3) == UNKNOWN


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_decide_where_the_call_alone_does_not(machine: str) -> None:
    here = ARCHITECTURES[machine]
    threads, new_user, new_mount, new_time, high = 0x3D0F00, 0x10000000, 0x00020000, 0x80, 1 << 40
    assert _answer(machine, here.clone, threads) == ALLOW
    assert _answer(machine, here.clone, 17 | new_time) == ALLOW  # there it belongs to the signal
    for flag in (new_user, new_mount, new_user | threads):
        assert _answer(machine, here.clone, flag) == REFUSE
        assert _answer(machine, here.unshare, flag) == REFUSE
    assert _answer(machine, here.unshare, new_time) == REFUSE
    assert _answer(machine, here.unshare, 0x400) == ALLOW  # a file table of its own
    for request in (0x5412, 0x541C, 0x5412 | high):  # the kernel looks at the lower half alone
        assert _answer(machine, here.ioctl, 0, request) == REFUSE
    assert _answer(machine, here.ioctl, 0, 0x5413) == ALLOW
    assert _answer(machine, here.personality, 0xFFFFFFFF) == ALLOW
    assert _answer(machine, here.personality, 0) == ALLOW
    assert _answer(machine, here.personality, 0x0040000) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_are_of_three_families_and_ask_for_routes(machine: str) -> None:
    here = ARCHITECTURES[machine]
    for family in range(64):
        expected = ALLOW if family in {1, 2, 10} else REFUSE
        assert _answer(machine, here.socketpair, family) == expected
        assert _answer(machine, here.socket, family) == (ALLOW if family == 16 else expected)
    assert _answer(machine, here.socket, 16, 3, 0) == ALLOW
    assert _answer(machine, here.socket, 16, 3, 12) == REFUSE  # netfilter


def test_the_program_is_built_once() -> None:
    assert syscall_filter() is syscall_filter()


def test_on_another_machine_there_is_none() -> None:
    assert syscall_filter("riscv64") is None


@pytest.mark.anyio
async def test_without_a_filter_the_result_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bubblewrap, bubblewrap_start):
        monkeypatch.setattr(module, "syscall_filter", lambda: None)
    result = await bench.sh("exit 0")
    assert "syscalls" not in result.guarantees.enforced
    assert dict(result.guarantees.not_enforced)["syscalls"] == "no system call filter is known for this machine"


@pytest.mark.anyio
async def test_the_kernel_holds_scripts_to_it(bench: Bench) -> None:
    result = await bench.python("print([line for line in open('/proc/self/status') if line.startswith('Seccomp:')])")
    assert b"Seccomp:\\t2" in result.stdout
    assert "syscalls" in result.guarantees.enforced


def test_a_key_of_the_caller_cannot_be_found_or_seen(bench: Bench) -> None:
    if filter_module.syscall_filter() is None or not os.path.exists("/proc/keys"):
        pytest.skip("no filter or no key rings here")
    name = f"prowess-test-{os.getpid()}"
    asks = (
        "import ctypes, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"keyctl, name = {REFUSED['keyctl'][ARCHITECTURES[os.uname().machine].column]}, {name!r}.encode()\n"
        "found = [libc.syscall(keyctl, 10, ctypes.c_int(ring), b'user', name, 0) for ring in (-1, -2, -3, -4, -5)]\n"
        "try:\n    listed = name in open('/proc/keys', 'rb').read()\nexcept OSError:\n    listed = False\n"
        "print([max(found), listed])\n"
    )
    add_key = REFUSED["add_key"][ARCHITECTURES[os.uname().machine].column]
    holder = (
        "import ctypes, subprocess, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"libc.syscall({REFUSED['keyctl'][ARCHITECTURES[os.uname().machine].column]}, 1, None, 0, 0, 0)\n"
        f"libc.syscall({add_key}, b'user', {name!r}.encode(), b'secret', 6, ctypes.c_int(-3))\n"
        "import anyio\n"
        "from prowess.execution import ExecRequest, default_sandbox\n"
        "plain = subprocess.run([sys.executable, sys.argv[1]], capture_output=True).stdout.decode()\n"
        "request = ExecRequest(skill_dir=sys.argv[2], script='scripts/ask.py')\n"
        "print(plain, anyio.run(default_sandbox().run, request).stdout.decode())\n"
    )
    path = bench.skill / "scripts" / "ask.py"
    path.write_text(asks)
    command = [sys.executable, "-c", holder, str(path), str(bench.skill)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    plain, inside = (json.loads(line.lower()) for line in done.stdout.split("\n") if line.strip())
    if plain[0] < 0:
        pytest.skip("key rings cannot be used here")
    assert inside == [-1, False]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("program", "command"),
    [
        (
            "python3",
            "python3 -c 'import multiprocessing as m, socket, ssl; m.Pool(2).map(abs, [1]); socket.if_nameindex()'",
        ),
        (
            "node",
            "node -e \"new (require('worker_threads').Worker)('1', {eval: true}); require('os').networkInterfaces()\"",
        ),
        ("git", "cd /tmp && git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m c"),
        ("bash", "bash -c 'exec 3<>/dev/null; (sleep 0) & wait; ulimit -a > /dev/null; cat <(echo x)'"),
        ("perl", "perl -e 'fork or exit 0; wait; exit $?'"),
    ],
)
async def test_the_usual_programs_run_under_it(bench: Bench, program: str, command: str) -> None:
    if not os.access(f"/usr/bin/{program}", os.X_OK):
        pytest.skip(f"no {program} here")
    result = await bench.sh(command)
    assert (result.exit_code, result.stderr) == (0, b"")
