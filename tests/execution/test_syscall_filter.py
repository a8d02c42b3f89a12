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
from prowess.execution.backends.syscall_filter import ABSENT, ARCHITECTURES, REFUSED, SETS_MODE, syscall_filter

if TYPE_CHECKING:
    from tests.execution.bench import Bench

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
REFUSE, UNKNOWN = FAIL | errno.EPERM, FAIL | errno.ENOSYS
MACHINES = sorted(ARCHITECTURES)


def _answer(machine: str, number: int, *arguments: int, mark: int | None = None, program: bytes | None = None) -> int:
    """Run the filter as the kernel does."""
    program = syscall_filter(machine) if program is None else program
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
    refused = {numbers[column] for numbers in (*REFUSED.values(), *ABSENT.values())}
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
    for numbers in ABSENT.values():
        assert _answer(machine, numbers[ARCHITECTURES[machine].column]) == UNKNOWN


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


# The numbers and arguments of linux/unistd.h, written down a second time.
_MODES = {
    "x86_64": {90: 1, 91: 1, 268: 2, 452: 2, 85: 1, 83: 1, 258: 2, 133: 1, 259: 2, 2: 2, 257: 3},
    "aarch64": {52: 1, 53: 2, 452: 2, 34: 2, 33: 2, 56: 3},
}
_FLAGS = {"x86_64": {2: 1, 257: 2}, "aarch64": {56: 2}}


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_sets_the_bits_of_another_user(machine: str) -> None:
    for number, mode in _MODES[machine].items():
        at_flags = _FLAGS[machine].get(number)
        for bits, garbage in ((0o4755, 0), (0o2755, 0), (0o6000, 0), (0o4755, 1 << 40)):
            arguments = [0] * 4
            arguments[mode] = bits | garbage
            if at_flags is not None:
                assert _answer(machine, number, *arguments) == ALLOW  # nothing is made: the register holds anything
            for flags in (0o100, 0o101, 0o20200000) if at_flags is not None else (0,):
                arguments[at_flags or 0] |= flags
                assert _answer(machine, number, *arguments) == REFUSE, number
        arguments = [0o100] * 4
        arguments[mode] = 0o101777
        assert _answer(machine, number, *arguments) == ALLOW, number


@pytest.mark.parametrize("machine", MACHINES)
def test_modes_can_be_refused_altogether(machine: str) -> None:
    number = SETS_MODE["fchmodat"][0][ARCHITECTURES[machine].column]
    assert number is not None
    program = syscall_filter(machine, chmod=False)
    assert _answer(machine, number, 0, 0, 0o644) == ALLOW
    assert _answer(machine, number, 0, 0, 0o644, program=program) == REFUSE
    assert _answer(machine, SETS_MODE["openat"][0][ARCHITECTURES[machine].column] or 0, program=program) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_leases_and_notices_of_files_are_refused(machine: str) -> None:
    fcntl = ARCHITECTURES[machine].fcntl
    assert [_answer(machine, fcntl, 3, command) for command in (1024, 1026)] == [REFUSE, REFUSE]
    assert [_answer(machine, fcntl, 3, command) for command in (0, 4, 6, 37, 1030)] == [ALLOW] * 5


_SET_ID = """
import os, errno, ctypes
libc = ctypes.CDLL(None, use_errno=True)
os.umask(0)
open('plain', 'w').close()
os.mkdir('d')
here = os.open('.', os.O_RDONLY)
create = os.O_CREAT | os.O_WRONLY
attempts = {
    'chmod': lambda: os.chmod('plain', 0o4755),
    'fchmod': lambda: os.chmod(os.open('plain', os.O_RDONLY), 0o2755),
    'fchmodat': lambda: os.chmod('plain', 0o6755, dir_fd=here),
    'directory': lambda: os.chmod('d', 0o2777),
    'open': lambda: os.open('opened', create, 0o4755),
    'openat': lambda: os.open('openedat', create, 0o4755, dir_fd=here),
    'temporary': lambda: os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755),
    'mkdir': lambda: os.mkdir('made', 0o2755),
    'mkdirat': lambda: os.mkdir('madeat', 0o2755, dir_fd=here),
    'mknod': lambda: os.mknod('node', 0o104755),
    'mknodat': lambda: os.mknod('nodeat', 0o104755, dir_fd=here),
    'mkfifo': lambda: os.mkfifo('fifo', 0o4755),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except PermissionError:
        continue
    print(name, 'was possible')
openat2 = libc.syscall(437, -100, b'plain', b'\\0' * 24, 24)
print('openat2', openat2, errno.errorcode[ctypes.get_errno()])
os.chmod('plain', 0o1777)
os.close(os.open('plain', os.O_RDONLY))
"""


@pytest.mark.anyio
async def test_a_script_leaves_no_set_id_file_in_the_workspace(bench: Bench) -> None:
    if syscall_filter() is None:
        pytest.skip("no filter here")
    result = await bench.python(_SET_ID, workspace=True, write=True)
    assert (result.stdout, result.stderr) == (b"openat2 -1 ENOSYS\n", b"")
    shell = await bench.sh(
        "exec 2>&1; cp /bin/sh sh; chmod u+s sh; install -m 2755 sh sh2; chmod g+s .", workspace=True, write=True
    )
    assert b"Operation not permitted" in shell.stdout
    assert [path.name for path in bench.workspace.rglob("*") if path.lstat().st_mode & 0o6000] == []
    assert bench.workspace.stat().st_mode & 0o6000 == 0


@pytest.mark.anyio
async def test_a_script_holds_no_lock_lease_or_queue_of_the_host(bench: Bench) -> None:
    if syscall_filter() is None:
        pytest.skip("no filter here")
    (bench.workspace / "file").write_text("")
    source = (
        "import fcntl, ctypes, errno, os\n"
        "file = open('file')\n"
        "def told(call):\n"
        "    try:\n        call()\n"
        "    except OSError as fault:\n        print(errno.errorcode[fault.errno])\n"
        "told(lambda: fcntl.flock(file, fcntl.LOCK_EX))\n"
        "told(lambda: fcntl.flock(os.open('.', os.O_RDONLY), fcntl.LOCK_EX))\n"
        "told(lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK))\n"
        "told(lambda: fcntl.fcntl(os.open('.', os.O_RDONLY), fcntl.F_NOTIFY, 2))\n"
        f"number = {REFUSED['io_setup'][ARCHITECTURES[os.uname().machine].column]}\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.syscall(number, 1000, ctypes.byref(ctypes.c_ulong())), errno.errorcode[ctypes.get_errno()])\n"
    )
    result = await bench.python(source, workspace=True)
    assert result.stdout.decode().split() == ["ENOSYS", "ENOSYS", "EPERM", "EPERM", "-1", "EPERM"]


def test_the_program_is_built_once() -> None:
    assert syscall_filter() is syscall_filter()


def test_on_another_machine_there_is_none() -> None:
    assert syscall_filter("riscv64") is None


@pytest.mark.anyio
async def test_without_a_filter_the_result_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bubblewrap, bubblewrap_start):
        monkeypatch.setattr(module, "syscall_filter", lambda **_: None)
    result = await bench.sh("exit 0")
    assert "syscalls" not in result.guarantees.enforced
    assert dict(result.guarantees.not_enforced)["syscalls"] == "Prowess has no system call filter for this machine"


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
