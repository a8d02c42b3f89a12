"""Try each known escape from the sandbox, and print the outcomes as one JSON object.

This program runs inside the sandbox. Its only argument is a JSON object of facts about the host: `secret`, `outside`,
`link`, `socket` (paths), `abstract` (a name), `tcp`, `udp` (ports), `victim` (a process id), `token` (in the victim's
command line) and `names` (the variables that may be set). In the output a value is null if the attempt was stopped,
else a description of its success. A successful attempt does no damage: it opens, connects, or creates an object of its
own and removes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import stat
import struct
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_USER, _NEW_MOUNT = 0x10000000, 0x00020000
_MOST_NAMESPACE_PROCESSES = 20

_MACHINES = ("x86_64", "aarch64")
_NUMBERS = {
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "name_to_handle_at": (303, 264),
    "fsopen": (430, 430),
    "personality": (135, 92),
    "io_setup": (206, 0),
    "openat2": (437, 437),
}


def _is_open(fd: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(fd)
        return True
    return False


FACTS = json.loads(sys.argv[1])
_INHERITED = [fd for fd in range(3, 256) if _is_open(fd)]  # before this program opens a descriptor itself


def _called(status: int) -> int:
    if status < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return status


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return f"{path} gives {len(file.read(64))} bytes"


def _make(path: str) -> str:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return f"{path} was made"


def _make_for_a_moment(path: str) -> str:
    outcome = _make(path)
    os.unlink(path)
    return outcome


def _open_for_writing(path: str) -> str:
    os.close(os.open(path, os.O_WRONLY))
    return f"{path} was opened for writing"


def _first(*attempts: Callable[[], str | None]) -> str | None:
    """Return the outcome of the first successful attempt; None if all are stopped."""
    for attempt in attempts:
        with contextlib.suppress(OSError):
            if outcome := attempt():
                return outcome
    return None


def _write_system() -> str | None:
    places = ("/usr", "/usr/bin", "/etc", "/", "/dev", "/proc")
    return _first(
        lambda: _open_for_writing("/etc/passwd"),
        lambda: _open_for_writing("/usr/bin/env"),
        *(lambda place=place: _make_for_a_moment(f"{place}/prowess-probe") for place in places),
    )


def _environment() -> str | None:
    foreign = sorted(set(os.environ) - set(FACTS["names"]))
    return f"variables {foreign}" if foreign else None


def _read_process() -> str | None:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                if FACTS["token"].encode() in file.read() and int(name) not in (os.getpid(), os.getppid(), 1):
                    return f"process {name} of the host is visible"
    return None


def _signal_process() -> str | None:
    if FACTS["victim"] <= _MOST_NAMESPACE_PROCESSES:
        return None  # the id may belong to a process of this namespace; the host watches the victim
    os.kill(FACTS["victim"], signal.SIGKILL)
    return "a process of the host was signalled"


def _tcp() -> str | None:
    with socket.create_connection(("127.0.0.1", FACTS["tcp"]), timeout=2):
        return "a listener of the host answered"


def _udp() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"probe", ("127.0.0.1", FACTS["udp"]))
    return None  # a successful send proves nothing: the host checks for an arrived datagram


def _interfaces() -> str | None:
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    return f"interfaces {names}" if names else None


def _abstract_socket() -> str | None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + FACTS["abstract"])
    return "an abstract socket of the host answered"


def _path_socket() -> str | None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(FACTS["socket"])
    return "a socket file of the host answered"


def _user_namespace() -> str | None:
    _called(_LIBC.unshare(_NEW_USER))
    return "a user namespace was made"


def _mount() -> str | None:
    def at_home() -> str:
        _called(_LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None))
        _LIBC.umount2(b"/tmp", 2)
        return "a file system was mounted"

    def in_a_namespace() -> str:
        _called(_LIBC.unshare(_NEW_MOUNT))
        return "a mount namespace was made"

    return _first(at_home, in_a_namespace)


def _device_node() -> str | None:
    os.mknod("/tmp/prowess-probe", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    os.unlink("/tmp/prowess-probe")
    return "a device node was made"


def _device_modes() -> str | None:
    def change(name: str) -> str:
        os.chmod(f"/dev/{name}", stat.S_IMODE(os.stat(f"/dev/{name}").st_mode))  # the mode is set to its present value
        return f"the mode of /dev/{name} can be changed"

    return _first(*(lambda name=name: change(name) for name in ("null", "zero", "full", "urandom")))


def _kernel_log() -> str | None:
    def by_call() -> str:
        buffer = ctypes.create_string_buffer(64)
        if _LIBC.klogctl(3, buffer, 64) < 0:
            raise OSError
        return "the kernel's log was read"

    return _first(lambda: _read("/dev/kmsg"), lambda: _read("/proc/kmsg"), by_call)


def _kernel_settings() -> str | None:
    places = ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/kcore")
    return _first(*(lambda path=path: _open_for_writing(path) for path in places))


def _change_root() -> str | None:
    os.chroot("/tmp")
    return "the root was changed"


def _superuser() -> str | None:
    os.setuid(0)
    return "the user was changed to root"


def _capabilities() -> str | None:
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    held = {name: value.strip() for name, value in fields.items() if name.startswith("Cap") and int(value, 16)}
    return f"capabilities {held}" if held or fields["NoNewPrivs"].strip() != "1" else None


def _terminal() -> str | None:
    def controlling() -> str:
        _open_for_writing("/dev/tty")
        return "the terminal was opened"

    def inject() -> str:
        for fd in range(3):
            fcntl.ioctl(fd, termios.TIOCSTI, b"x")
        return "a key was typed into the terminal"

    return _first(controlling, inject)


def _system_call(name: str, *arguments: object) -> int:
    number = _NUMBERS[name][_MACHINES.index(os.uname().machine)]
    return _called(int(_LIBC.syscall(number, *arguments)))


def _key_rings() -> str | None:
    session_ring = ctypes.c_int(-3)

    def ask() -> str:
        return f"key ring {_system_call('keyctl', 0, session_ring, 0, 0, 0)} answered"

    def add() -> str:
        return f"key {_system_call('add_key', b'user', b'prowess-probe', b'x', 1, ctypes.c_int(-2))} was added"

    def request() -> str:
        return f"key {_system_call('request_key', b'user', b'prowess-probe', None, 0)} was found"

    def listed() -> str | None:
        with open("/proc/keys", "rb") as file:
            return "/proc/keys names keys" if file.read(64) else None

    return _first(ask, add, request, listed)


def _kernel_programs() -> str | None:
    attributes = ctypes.create_string_buffer(128)  # a map of one entry: type 2, an array, of 4 and 4 bytes
    ctypes.memmove(attributes, struct.pack("=IIII", 2, 4, 4, 1), 16)
    return f"a map was made: {_system_call('bpf', 0, attributes, 128)}"


def _page_faults() -> str | None:
    user_mode_only = 1
    return f"page faults are handled: {_system_call('userfaultfd', user_mode_only)}"


def _performance_events() -> str | None:
    attributes = ctypes.create_string_buffer(128)
    # a software clock (type 1, config 0) of this process, without the kernel and the hypervisor (bits 5 and 6)
    ctypes.memmove(attributes, struct.pack("=IIQQQQQ", 1, 128, 0, 0, 0, 0, 0x60), 48)
    return f"an event was opened: {_system_call('perf_event_open', attributes, 0, -1, -1, 0)}"


def _trace() -> str | None:
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)

    def attach() -> str:
        _system_call("ptrace", 0x4206, child, 0, 0)  # PTRACE_SEIZE, which does not stop the process
        return "a process was traced"

    def read_memory() -> str:
        here = ctypes.create_string_buffer(8)
        piece = struct.pack("=QQ", ctypes.addressof(here), 8)
        _system_call("process_vm_readv", child, piece, 1, piece, 1, 0)
        return "the memory of a process was read"

    try:
        return _first(attach, read_memory)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _file_handles() -> str | None:
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136)
    mount = ctypes.c_int()
    _system_call("name_to_handle_at", -100, b"/usr", handle, ctypes.byref(mount), 0)
    return "a handle of a file was given"


def _sockets() -> str | None:
    families = {"AF_ALG": 38, "AF_VSOCK": 40, "AF_KEY": 15, "AF_TIPC": 30, "AF_RDS": 21, "AF_XDP": 44}

    def open_one(name: str, family: int) -> str:
        for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            with contextlib.suppress(OSError), socket.socket(family, kind):
                return f"a socket of {name} was made"
        raise OSError

    def netlink() -> str:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4):  # NETLINK_SOCK_DIAG
            return "a netlink socket for more than routes was made"

    return _first(
        *(lambda name=name, family=family: open_one(name, family) for name, family in families.items()), netlink
    )


def _personality() -> str | None:
    no_random_addresses = 0x0040000
    _system_call("personality", no_random_addresses)
    return "the layout of memory was made predictable"


def _set_id_files() -> str | None:
    path = "/tmp/prowess-probe"

    def made(mode: int) -> str:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        try:
            os.chmod(path, stat.S_ISUID | 0o700)
        finally:
            os.unlink(path)
        return "a file has the set-user-ID bit"

    def past_the_filter() -> str:
        _system_call("openat2", -100, b"/tmp", struct.pack("=QQQ", 0, 0, 0), 24)
        return "a file was opened with a mode that no filter sees"

    return _first(lambda: made(stat.S_ISUID | 0o700), lambda: made(0o700), past_the_filter)


def _locks_on_host_files() -> str | None:
    file = os.open(sys.executable, os.O_RDONLY)

    def lock() -> str:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return "a file of the host was locked"

    def lease() -> str:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        return "a lease on a file of the host was taken"

    return _first(lock, lease)


ATTEMPTS: dict[str, Callable[[], str | None]] = {
    "read-shadow": lambda: _read("/etc/shadow"),
    "read-secret": lambda: _read(FACTS["secret"]),
    "read-through-link": lambda: _read(f"/workspace/{FACTS['link']}"),
    "read-homes": lambda: _first(lambda: str(os.listdir("/root")), lambda: str(os.listdir("/home"))),
    "write-outside": lambda: _make(f"{FACTS['outside']}/escaped"),  # not removed, so that the host can see the file
    "write-system": _write_system,
    "write-skill": lambda: _first(
        lambda: _make_for_a_moment("/skill/prowess-probe"), lambda: _open_for_writing("/skill/escape.py")
    ),
    "write-workspace": lambda: _make_for_a_moment("/workspace/prowess-probe"),
    "environment": _environment,
    "descriptors": lambda: f"descriptors {_INHERITED}" if _INHERITED else None,
    "read-process": _read_process,
    "signal-process": _signal_process,
    "tcp": _tcp,
    "udp": _udp,
    "interfaces": _interfaces,
    "abstract-socket": _abstract_socket,
    "path-socket": _path_socket,
    "user-namespace": _user_namespace,
    "mount": _mount,
    "device-node": _device_node,
    "device-modes": _device_modes,
    "kernel-log": _kernel_log,
    "kernel-settings": _kernel_settings,
    "kernel-tree": lambda: f"/sys has {len(os.listdir('/sys'))} entries",
    "change-root": _change_root,
    "superuser": _superuser,
    "capabilities": _capabilities,
    "terminal": _terminal,
}

# Called by number, so only on machines with known numbers. Other machines have no filter, which the guarantees state.
CALLS: dict[str, Callable[[], str | None]] = {
    "key-rings": _key_rings,
    "queues": lambda: f"an io_uring was made: {_system_call('io_uring_setup', 1, ctypes.create_string_buffer(120))}",
    "kernel-programs": _kernel_programs,
    "page-faults": _page_faults,
    "performance-events": _performance_events,
    "trace": _trace,
    "file-handles": _file_handles,
    "mount-calls": lambda: f"a file system was begun: {_system_call('fsopen', b'tmpfs', 0)}",
    "sockets": _sockets,
    "personality": _personality,
    "set-id-files": _set_id_files,
    "asynchronous-queues": lambda: f"a context: {_system_call('io_setup', 1, ctypes.byref(ctypes.c_ulong()))}",
    "locks-on-host-files": _locks_on_host_files,
}


def main() -> None:
    """Make every attempt, each in its own process, so that no attempt affects the next."""
    outcomes: dict[str, str | None] = {}
    known = os.uname().machine in _MACHINES
    for name, attempt in {**ATTEMPTS, **(CALLS if known else {})}.items():
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            outcome = None
            with contextlib.suppress(OSError):
                outcome = attempt()
            os.write(writer, json.dumps(outcome).encode())
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as answer:
            outcomes[name] = json.loads(answer.read() or b'"it crashed"')
        os.waitpid(child, 0)
    sys.stdout.write(json.dumps(outcomes))


main()
