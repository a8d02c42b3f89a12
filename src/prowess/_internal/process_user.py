"""The login name of the user of this process, from the operating system: environment variables can be forged."""

from __future__ import annotations

import os
import sys


def login() -> str | None:
    """Return the login name of this process's user; `None` if the user has no entry, as in a container."""
    if sys.platform == "win32":
        return os.getlogin()
    import pwd  # Imported here, not at the top: the module does not exist on Windows.

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None
