"""Try to leave the sandbox in every way of the list and print, as one JSON object, what came of each.

Run inside the sandbox; the one argument is a JSON object of facts about the host: `secret`, `outside`, `link`, `socket`
(paths), `abstract` (a name), `tcp`, `udp` (ports), `victim` (a process id), `token` (in the victim's command line) and
`names` (the variables that may be set). A value of the answer is null where the attempt was stopped, else how it went.
An attempt that succeeds changes nothing of worth: it opens, connects, or makes something of its own and takes it away.
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
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_USER, _NEW_MOUNT = 0x10000000, 0x00020000
_MOST_NAMESPACE_PROCESSES = 20


def _is_open(fd: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(fd)
        return True
    return False


FACTS = json.loads(sys.argv[1])
_INHERITED = [fd for fd in range(3, 256) if _is_open(fd)]  # before this program opens one itself


def _called(status: int) -> None:
    if status != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


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
    """Return the first attempt that succeeds, None where each is stopped."""
    for attempt in attempts:
        with contextlib.suppress(OSError):
            if outcome := attempt():
                return outcome
    return None


def _read_shadow() -> str | None:
    return _read("/etc/shadow")


def _read_secret() -> str | None:
    return _read(FACTS["secret"])


def _read_through_link() -> str | None:
    return _read(f"/workspace/{FACTS['link']}")


def _read_homes() -> str | None:
    return _first(lambda: str(os.listdir("/root")), lambda: str(os.listdir("/home")))


def _write_outside() -> str | None:
    return _make(f"{FACTS['outside']}/escaped")  # it stays, for the host to see


def _write_system() -> str | None:
    places = ("/usr", "/usr/bin", "/etc", "/", "/dev", "/proc")
    return _first(
        lambda: _open_for_writing("/etc/passwd"),
        lambda: _open_for_writing("/usr/bin/env"),
        *(lambda place=place: _make_for_a_moment(f"{place}/prowess-probe") for place in places),
    )


def _write_skill() -> str | None:
    return _first(lambda: _make_for_a_moment("/skill/prowess-probe"), lambda: _open_for_writing("/skill/escape.py"))


def _write_workspace() -> str | None:
    return _make_for_a_moment("/workspace/prowess-probe")


def _environment() -> str | None:
    foreign = sorted(set(os.environ) - set(FACTS["names"]))
    return f"variables {foreign}" if foreign else None


def _descriptors() -> str | None:
    return f"descriptors {_INHERITED}" if _INHERITED else None


def _read_process() -> str | None:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                if FACTS["token"].encode() in file.read() and int(name) not in (os.getpid(), os.getppid(), 1):
                    return f"process {name} of the host is visible"
    return None


def _signal_process() -> str | None:
    if FACTS["victim"] <= _MOST_NAMESPACE_PROCESSES:
        return None  # the same number may mean a process of this namespace; the host looks after the victim
    os.kill(FACTS["victim"], signal.SIGKILL)
    return "a process of the host was signalled"


def _tcp() -> str | None:
    with socket.create_connection(("127.0.0.1", FACTS["tcp"]), timeout=2):
        return "a listener of the host answered"


def _udp() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"probe", ("127.0.0.1", FACTS["udp"]))
    return None  # sending says nothing: the host looks at what arrived


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


def _kernel_tree() -> str | None:
    return f"/sys has {len(os.listdir('/sys'))} entries"


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


ATTEMPTS = (
    _read_shadow,
    _read_secret,
    _read_through_link,
    _read_homes,
    _write_outside,
    _write_system,
    _write_skill,
    _write_workspace,
    _environment,
    _descriptors,
    _read_process,
    _signal_process,
    _tcp,
    _udp,
    _interfaces,
    _abstract_socket,
    _path_socket,
    _user_namespace,
    _mount,
    _device_node,
    _kernel_log,
    _kernel_settings,
    _kernel_tree,
    _change_root,
    _superuser,
    _capabilities,
    _terminal,
)


def main() -> None:
    """Make every attempt, each in a process of its own, so that none spoils the next."""
    outcomes: dict[str, str | None] = {}
    for attempt in ATTEMPTS:
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
            outcomes[attempt.__name__[1:].replace("_", "-")] = json.loads(answer.read() or b'"it crashed"')
        os.waitpid(child, 0)
    sys.stdout.write(json.dumps(outcomes))


main()
