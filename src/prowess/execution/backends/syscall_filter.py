"""The system call filter (seccomp): refuses calls that scripts do not need. It is assembled here, without a library.

Namespaces limit which resources a script can reach. The filter limits which parts of the kernel it can use. Key rings
belong to no namespace, so without the filter a script could read the keys of the user who started Prowess.

Refused calls fail with EPERM, as for a user without the rights. Calls that would give a file the set-user-ID or
set-group-ID bit also fail with EPERM. Some calls fail with ENOSYS, so that programs use an older call:

- `clone3` and `openat2`: their arguments are in memory, which a filter cannot read.
- `flock`: it reaches files of the host.
- Every call newer than this list.

A call with the numbers of another architecture kills the process, because its number would mean another call.

The program is classic BPF as `seccomp(2)` takes it, eight bytes per instruction. bubblewrap reads it from a descriptor.
"""

from __future__ import annotations

import errno
import os
import struct
from functools import cache
from typing import Final

from msgspec import Struct, field

# linux/seccomp.h and linux/bpf_common.h
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _RETURN = 0x20, 0x06
_EQUAL, _GREATER, _AT_LEAST, _ANY_BIT = 0x15, 0x25, 0x35, 0x45
# Offsets in struct seccomp_data. For an argument, the offset of its lower half: these calls ignore the upper half.
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, (16, 24, 32, 40)
_PERMITTED, _REFUSED, _UNKNOWN, _FOREIGN = "permitted", "refused", "unknown", "foreign"

_NEWEST_KNOWN = 469  # file_setattr; from 424 on, numbers are equal on all architectures
_OTHER_CONVENTION = 0x40000000  # x32 on x86_64; no other architecture has numbers this large

_NAMESPACES = 0x7E020080  # all CLONE_NEW* flags, including CLONE_NEWTIME
_EXIT_SIGNAL = 0x000000FF  # in `clone` these bits are the exit signal, not CLONE_NEWTIME
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_FAMILIES = (1, 2, 10)  # AF_UNIX; AF_INET and AF_INET6, in an empty network namespace
# Interpreters list interfaces with NETLINK_ROUTE; other netlink protocols are large and not needed.
_NETLINK, _NETLINK_ROUTE = 16, 0
_SET_ID = 0o6000
# O_CREAT, and the bit that only O_TMPFILE has. A call without either of them has no mode argument.
_CREATES = 0o100 | 0o20000000
_ON_HOST_FILES = (1024, 1026)  # F_SETLEASE, F_NOTIFY
_PERSONALITIES = (0, 0xFFFFFFFF)  # the default, and the query for the current one

# name -> (number on x86_64, number on aarch64); None if the architecture never had the call
REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    # calls on key rings: a script inherits those of the caller
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # calls that run programs in the kernel, and queues that bypass every filter
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),  # the limit on its contexts is shared by the whole machine
    "io_destroy": (207, 1),
    "io_submit": (209, 2),
    "io_cancel": (210, 3),
    "io_getevents": (208, 4),
    "io_pgetevents": (333, 292),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    # calls that read or change other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # access to files without their paths
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # calls that change the file system tree
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    # calls that change the whole machine
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "query_module": (178, None),
    "get_kernel_syms": (177, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "vhangup": (153, 58),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
}

ABSENT: Final = {"clone3": (435, 435), "openat2": (437, 437), "flock": (73, 32)}

# name -> (its numbers as above, index of the mode argument, index of the flags that decide whether the mode counts)
SETS_MODE: Final[dict[str, tuple[tuple[int | None, int | None], int, int | None]]] = {
    "chmod": ((90, None), 1, None),
    "fchmod": ((91, 52), 1, None),
    "fchmodat": ((268, 53), 2, None),
    "fchmodat2": ((452, 452), 2, None),
    "mkdir": ((83, None), 1, None),
    "mkdirat": ((258, 34), 2, None),
    "mknod": ((133, None), 1, None),
    "mknodat": ((259, 33), 2, None),
    "creat": ((85, None), 1, None),
    "open": ((2, None), 2, 1),
    "openat": ((257, 56), 3, 2),
}


class Architecture(Struct, frozen=True, kw_only=True):
    """System call numbers of one architecture.

    `mark` is the architecture's value in `seccomp_data`, and `column` its column in `REFUSED`. The other fields are the
    numbers of calls whose arguments are checked.
    """

    mark: int
    column: int
    clone: int
    unshare: int
    ioctl: int
    socket: int
    socketpair: int
    personality: int
    fcntl: int


ARCHITECTURES: Final = {
    "x86_64": Architecture(
        mark=0xC000003E, column=0, clone=56, unshare=272, ioctl=16, socket=41, socketpair=53, personality=135, fcntl=72
    ),
    "aarch64": Architecture(
        mark=0xC00000B7, column=1, clone=220, unshare=97, ioctl=29, socket=198, socketpair=199, personality=92, fcntl=25
    ),
}


ALLOW_EVERYTHING: Final = struct.pack("=HBBI", _RETURN, 0, 0, _ALLOW)


@cache  # all runs of this process use the same bytes
def syscall_filter(machine: str | None = None, *, chmod: bool = True) -> bytes | None:
    """Return the filter for `machine`, or None if the machine is not known.

    `machine` is a name as printed by `uname -m`, by default this machine. With `chmod=False` the filter refuses every
    change of a file's mode.
    """
    architecture = ARCHITECTURES.get(machine or os.uname().machine)
    return None if architecture is None else _program(architecture, chmod=chmod)


def _program(architecture: Architecture, *, chmod: bool) -> bytes:
    code = _Assembly()
    code.add(_LOAD, _ARCHITECTURE)
    code.jump(_EQUAL, architecture.mark, otherwise=_FOREIGN)
    code.add(_LOAD, _NUMBER)
    code.jump(_AT_LEAST, _OTHER_CONVENTION, then=_FOREIGN)
    code.jump(_GREATER, _NEWEST_KNOWN, then=_UNKNOWN)
    for calls, answer in ((ABSENT, _UNKNOWN), (REFUSED, _REFUSED)):
        for numbers in calls.values():
            code.jump_for(numbers[architecture.column], answer)
    for name, (numbers, mode, flags) in SETS_MODE.items():
        code.jump_for(
            numbers[architecture.column], f"mode {mode} {flags}" if chmod or "chmod" not in name else _REFUSED
        )
    with_arguments = ("clone", "unshare", "ioctl", "socket", "socketpair", "personality", "fcntl")
    for name in with_arguments:
        code.jump(_EQUAL, getattr(architecture, name), then=name)
    code.add(_RETURN, _ALLOW)

    code.starts("clone", argument=0)
    code.jump(_ANY_BIT, _NAMESPACES & ~_EXIT_SIGNAL, then=_REFUSED, otherwise=_PERMITTED)
    code.starts("unshare", argument=0)
    code.jump(_ANY_BIT, _NAMESPACES, then=_REFUSED, otherwise=_PERMITTED)
    code.starts("ioctl", argument=1)
    code.one_of(_TERMINAL_INJECTION, then=_REFUSED, otherwise=_PERMITTED)
    code.starts("fcntl", argument=1)
    code.one_of(_ON_HOST_FILES, then=_REFUSED, otherwise=_PERMITTED)
    for mode, flags in dict.fromkeys((mode, flags) for _, mode, flags in SETS_MODE.values()):
        code.starts(f"mode {mode} {flags}", argument=mode if flags is None else flags)
        if flags is not None:
            code.jump(_ANY_BIT, _CREATES, otherwise=_PERMITTED)
            code.add(_LOAD, _ARGUMENT[mode])
        code.jump(_ANY_BIT, _SET_ID, then=_REFUSED, otherwise=_PERMITTED)
    code.starts("personality", argument=0)
    code.one_of(_PERSONALITIES, then=_PERMITTED, otherwise=_REFUSED)
    code.starts("socketpair", argument=0)
    code.one_of(_FAMILIES, then=_PERMITTED, otherwise=_REFUSED)
    code.starts("socket", argument=0)
    for family in _FAMILIES:
        code.jump(_EQUAL, family, then=_PERMITTED)
    code.jump(_EQUAL, _NETLINK, otherwise=_REFUSED)
    code.add(_LOAD, _ARGUMENT[2])
    code.jump(_EQUAL, _NETLINK_ROUTE, then=_PERMITTED, otherwise=_REFUSED)

    code.ends(_PERMITTED, _ALLOW)
    code.ends(_REFUSED, _FAIL | errno.EPERM)
    code.ends(_UNKNOWN, _FAIL | errno.ENOSYS)
    code.ends(_FOREIGN, _KILL)
    return code.bytes()


class _Assembly(Struct):
    """Assembler with named jump targets. Jumps only go forward. The target None means the next instruction."""

    _lines: list[tuple[int, int, str | None, str | None]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, operation: int, value: int) -> None:
        self._lines.append((operation, value, None, None))

    def jump(self, test: int, value: int, *, then: str | None = None, otherwise: str | None = None) -> None:
        self._lines.append((test, value, then, otherwise))

    def jump_for(self, number: int | None, then: str) -> None:
        """Jump if the call is `number`. None means that the architecture does not have the call."""
        if number is not None:
            self.jump(_EQUAL, number, then=then)

    def one_of(self, values: tuple[int, ...], *, then: str, otherwise: str) -> None:
        for value in values[:-1]:
            self.jump(_EQUAL, value, then=then)
        self.jump(_EQUAL, values[-1], then=then, otherwise=otherwise)

    def starts(self, name: str, *, argument: int) -> None:
        self._places[name] = len(self._lines)
        self.add(_LOAD, _ARGUMENT[argument])

    def ends(self, name: str, answer: int) -> None:
        self._places[name] = len(self._lines)
        self.add(_RETURN, answer)

    def bytes(self) -> bytes:
        return b"".join(
            struct.pack("=HBBI", operation, self._distance(at, then), self._distance(at, otherwise), value)
            for at, (operation, value, then, otherwise) in enumerate(self._lines)
        )

    def _distance(self, at: int, name: str | None) -> int:
        return 0 if name is None else self._places[name] - at - 1
