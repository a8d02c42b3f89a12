"""Locations of Prowess's own files, and checks whether another user could change them.

There is one home and one cache. `PROWESS_HOME` moves every file that belongs to the user; without it the home is
`~/.prowess`. If `PROWESS_HOME` is set, the cache is below it, otherwise in the XDG cache. The environment is read at
each call, so that a host or a test can change it.

Before Prowess trusts, keeps or runs a file, it checks whether another user could change the file behind the path. A
user who may write to a directory can exchange its entries between a check and their use. This is also true for every
directory above, up to a sticky directory such as /tmp, in which users cannot exchange files of other users. Owners are
checked up to the first directory that belongs to this user. The owners of the directories above it are not checked:
they gave the directory to this user, and in containers root may have another user id.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import lru_cache

from prowess.errors import UnavailableError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MACHINE_POLICY, POLICY_FILE = "/etc/prowess/policy.toml", "policy.toml"  # `POLICY_FILE` is in the home
USER_FILE, TRUST_FILE = "config.toml", "trust.json"  # in the home
PUBLISHERS_FILE = "publishers.toml"  # in the home, and beside the machine's policy
BLOCKS_FILE = "blocks.json"  # in the home, and beside the machine's policy
LOCK_FILE = "prowess.lock"  # in the home, and at the root of a project
ENROLMENT_FILE = "/etc/prowess/enterprise.toml"
MACHINE_STATE, CONFIRMED_NAME, EXPIRES_FILE = "/var/lib/prowess", "confirmed", "expires"
SIGNED_BUNDLE = "bundle.json"  # in `BUNDLE_FOLDER`
CONFIRMED_FILE = f"{MACHINE_STATE}/{CONFIRMED_NAME}"
BUNDLE_FOLDER = f"{MACHINE_STATE}/bundle"  # of an enrolled machine; it has files as `/etc/prowess`
TENANT_FOLDER = "tenant"  # below the machine's state; the skills that the machine's tenant deploys
_NAMED_POLICY = re.compile(r"(organisation|tenant)\.[A-Za-z0-9][A-Za-z0-9._-]{0,79}\.toml")
_ROOT = 0


def bundle_folder(machine_file: str = MACHINE_POLICY) -> str | None:
    """Return the directory of the organisation's files on an enrolled machine, else None."""
    return BUNDLE_FOLDER if machine_file == MACHINE_POLICY and os.path.lexists(ENROLMENT_FILE) else None


def policy_places(machine_file: str = MACHINE_POLICY) -> tuple[str, ...]:
    """Return the policy files that always apply if they exist, the stronger first.

    They are those of the organisation if the machine is enrolled, the machine's and the user's. Beside the last two in
    TOML there may be one in YAML.
    """
    bundle = bundle_folder(machine_file)
    both = machine_file, os.path.join(prowess_home(), POLICY_FILE)
    own = tuple(path for place in both for path in (place, f"{place.removesuffix('.toml')}.yaml"))
    return own if bundle is None else (os.path.join(bundle, POLICY_FILE), *_named_policies(bundle), *own)


def is_named_policy(name: str) -> bool:
    """Whether a file of a bundle is one of several policies: `organisation.NAME.toml` or `tenant.NAME.toml`."""
    return _NAMED_POLICY.fullmatch(name) is not None


def _named_policies(bundle: str) -> list[str]:
    """Return the policies of a bundle by name. If it cannot be read, everything is denied for that reason."""
    try:
        names = sorted(os.listdir(bundle))
    except OSError:
        return []
    return [os.path.join(bundle, name) for name in names if is_named_policy(name)]


def block_places(machine_file: str = MACHINE_POLICY) -> tuple[str, str]:
    """Return the files of blocked skills, which may not exist: the machine's and the user's."""
    return os.path.join(os.path.dirname(machine_file), BLOCKS_FILE), os.path.join(prowess_home(), BLOCKS_FILE)


class NotPrivateError(PermissionError):
    """Another user could change the files at this path. `strerror` names the reason and, if known, the remedy."""


def exposure(path: str, *, bits: int = OTHERS_WRITE) -> str | None:
    """Return why `path`, a file or a directory, is not private to this user; None if it is private.

    `bits` are the rights that other users must not have on `path`: to write, or with `OTHERS` also to read. Directories
    above are checked for write access only. On Windows, modes do not show access, so the result is always None.

    Raises:
        OSError: `path` does not exist or cannot be examined.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows has access lists, which the modes do not show
    return _foreign_link(path) or exposed(os.stat(path), path, bits=bits) or _exposed_above(os.path.realpath(path))


def exposed(found: os.stat_result, path: str, *, bits: int = OTHERS_WRITE) -> str | None:
    """Return the result of `exposure` for the `stat` result `found` of `path`, without a check of directories above."""
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if found.st_mode & bits and not (bits == OTHERS_WRITE and _shares_with_private_group(found)):
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        open_to = "open to other users" if bits == OTHERS else "writable by other users"
        return f"{path} is {open_to}; run `chmod {mode} {path}`"
    return None


def owned(path: str, owner: int) -> os.stat_result | str:
    """Return the status of a path itself, not of a link's target; or why `owner` does not own it, as a sentence."""
    try:
        found = os.lstat(path)
    except OSError as fault:
        return f"{path} cannot be examined ({os.strerror(fault.errno or 0)})"
    return found if found.st_uid == owner else f"{path} belongs to user {found.st_uid}, not to user {owner}"


def weakness_above(path: str, owner: int) -> str | None:
    """Return why someone other than `owner` could change `path`, or None.

    Checks the target of `path`, every directory above it, and every symbolic link on the way.
    """
    if not hasattr(os, "getuid"):
        return "this system has no owners and modes that could be checked"
    pending = [part for part in reversed(os.path.abspath(path).split("/")) if part]
    here = "/"
    hops = 0
    while pending:
        here = os.path.join(here, pending.pop())
        if isinstance(found := owned(here, owner), str):
            return found
        if stat.S_ISLNK(found.st_mode):
            hops += 1
            if hops > 40:  # noqa: PLR2004 -- the limit of Linux
                return f"{here} is one of too many links"
            target = os.readlink(here)
            pending += [part for part in reversed(target.split("/")) if part not in ("", ".")]
            here = "/" if target.startswith("/") else os.path.dirname(here)
        # In a sticky directory (such as /tmp) others can add entries but not replace this one.
        elif found.st_mode & OTHERS_WRITE and not (pending and found.st_mode & stat.S_ISVTX):
            return f"{here} can be written by its group or by others"
    return None


def others_can_change(path: str, *, is_machine: bool) -> str | None:
    """Return why someone who may not decide here could change an existing file; None if nobody else can.

    Only root may be able to change a file of the machine, and for any other file also this user. Raises OSError.
    """
    return weakness_above(path, _ROOT) if is_machine and hasattr(os, "getuid") else exposure(path)


def _exposed_above(real: str) -> str | None:
    here, given = real, False
    while (above := os.path.dirname(here)) != here:
        here = above
        found = os.lstat(here)
        if found.st_mode & stat.S_ISVTX and found.st_uid in {os.geteuid(), _ROOT}:
            return None
        if found.st_mode & OTHERS_WRITE and not _shares_with_private_group(found):
            return f"{here}, a directory above it, is writable by other users"
        given = given or found.st_uid == os.geteuid()
        if not given and found.st_uid != _ROOT:
            return f"{here}, a directory above it, belongs to another user"
    return None


def _foreign_link(path: str) -> str | None:
    """Return a sentence about a link in the path that another user owns and could replace (not root), or None."""
    here = os.path.abspath(path)
    while (above := os.path.dirname(here)) != here:
        found = os.lstat(here)
        if stat.S_ISLNK(found.st_mode) and found.st_uid not in {os.geteuid(), _ROOT}:
            return f"{here} is a symbolic link that belongs to another user"
        here = above
    return None


def _shares_with_private_group(found: os.stat_result) -> bool:
    """Return whether write access is shared only with this user's private group, which many systems give each user."""
    if found.st_mode & stat.S_IWOTH:
        return False
    import grp  # Imported here, not at the top: few directories are writable by a group.
    import pwd

    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
        group = grp.getgrgid(found.st_gid)
    except KeyError:
        return False
    return group.gr_name == name and not set(group.gr_mem) - {name}


_PRIVATE = 0o700


class WorkingDirectoryError(UnavailableError):
    """The working directory of this process was deleted."""

    def __init__(self) -> None:
        super().__init__("the working directory")
        self.args = ()

    def __str__(self) -> str:
        return "the working directory no longer exists; change to a directory that does"


def working_directory() -> str:
    """Return the absolute path of the working directory. Raises WorkingDirectoryError if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise WorkingDirectoryError from None


def user_home() -> str:
    """Return the absolute path of the user's home directory (`$HOME`, else the home in the system's account data)."""
    return os.path.abspath(os.path.expanduser("~"))


def prowess_home() -> str:
    """Return the absolute path of the Prowess home; it may not exist yet."""
    chosen = os.environ.get("PROWESS_HOME")
    return _at_first_use(chosen) if chosen else os.path.join(user_home(), ".prowess")


@lru_cache
def _at_first_use(path: str) -> str:
    """Return the absolute path of `path`, cached at first use, so that a change of directory keeps the policy."""
    return os.path.abspath(path)


def store_home(home: str | None = None) -> str:
    """Return the path of the store of installed skills in a Prowess home, by default in the present one."""
    return os.path.join(home or prowess_home(), "store")


def is_stored(real: str) -> bool:
    """Whether a real path is in the store. Only a lock offers what is there, after it was compared with its digest."""
    return real.startswith(f"{os.path.realpath(store_home())}/")


def audit_path() -> str:
    """Return the path of the audit log of this user's commands; it may not exist yet."""
    return os.path.join(prowess_home(), "audit", "audit.jsonl")


def cache_home() -> str:
    """Return the absolute path of the cache; everything below it may be deleted at any time."""
    if os.environ.get("PROWESS_HOME"):
        return os.path.join(prowess_home(), "cache")
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification requires that relative values are ignored.
    root = base if os.path.isabs(base) else os.path.join(user_home(), ".cache")
    return os.path.join(root, "prowess")


def ensure_private_directory(path: str) -> None:
    """Create `path` and missing directories above it, for this user alone (mode 0700). A private directory may exist.

    The mode of an existing directory is not changed: the user chose the mode, and a stricter one could lock others out.
    A directory that other users could change is refused (see `exposure`). A link is accepted if it belongs to this user
    and leads to a private directory.

    Raises:
        NotPrivateError: another user could change the content of the directory.
        OSError: the directory cannot be created, or another kind of file is at its path.
    """
    make_directory(path)
    if (why := exposure(path)) is not None:
        raise NotPrivateError(errno.EPERM, why, path)


def make_directory(path: str) -> None:
    """Create `path` and missing parents (mode 0700). Existing directories may belong to any user. Raises OSError."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_directory(parent)
    try:
        os.mkdir(path, _PRIVATE)
    except FileExistsError:
        if not os.path.isdir(path):  # if it is a directory, another process created it first
            raise
