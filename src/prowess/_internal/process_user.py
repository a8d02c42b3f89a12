"""The login name and groups of this process's user, from the operating system: environment variables can be forged."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def login() -> str | None:
    """Return the login name of this process's user; `None` if the user has no entry, as in a container."""
    if sys.platform == "win32":
        return os.getlogin()
    import pwd  # Imported here, not at the top: the module does not exist on Windows.

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def groups_of_process() -> frozenset[str]:
    """Return the names of the groups of this process, as the kernel has them; groups without a name are left out."""
    if sys.platform == "win32":
        return frozenset()
    import grp  # Imported here for the same reason.

    names = set()
    for number in {os.getegid(), *os.getgroups()}:
        with suppress(KeyError):
            names.add(grp.getgrgid(number).gr_name)
    return frozenset(names)


def groups_of_user(name: str) -> frozenset[str]:
    """Return the names of the groups of a user of this system; empty if there is no such user."""
    if sys.platform == "win32":
        return frozenset()
    import grp  # Imported here for the same reason.
    import pwd

    try:
        account = pwd.getpwnam(name)
    except KeyError:
        return frozenset()
    names = set()
    for number in os.getgrouplist(name, account.pw_gid):
        with suppress(KeyError):
            names.add(grp.getgrgid(number).gr_name)
    return frozenset(names)
