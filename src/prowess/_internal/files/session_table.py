"""The table `[session]` of the user's `config.toml`: what the sessions of this user start with.

    [session]
    profile = "claude-code"
    environment = "production"

What a caller names wins over it. A project's file has no such table: who wrote a project must not decide how its skills
are held.
"""

from __future__ import annotations

import os

from prowess._internal.files.toml_file import TomlFile, read_toml_bytes
from prowess._internal.places import prowess_home
from prowess.errors import ConfigurationError

USER_FILE, SESSION = "config.toml", "session"
SESSION_KEYS = ("environment", "profile")


def session_setting(key: str) -> str | None:
    """Return what the table of this user says; None if it says nothing. Faults elsewhere in the file do not count.

    Raises:
        ConfigurationError: the file cannot be read, or its table has a fault.
    """
    path = os.path.join(prowess_home(), USER_FILE)
    if not os.path.lexists(path):
        return None
    try:
        file = TomlFile(path, read_toml_bytes(path))
    except ValueError as fault:
        raise ConfigurationError((str(fault),)) from None
    table = read_session_table(file)
    if file.faults:
        raise ConfigurationError(file.faults)
    return table.get(key)


def read_session_table(file: TomlFile) -> dict[str, str]:
    """Return the table; what is wrong is added to the faults of `file`."""
    table = file.content.get(SESSION, {})
    if not isinstance(table, dict):
        file.fault("must be a table", SESSION)
        return {}
    for key, value in table.items():
        if key not in SESSION_KEYS:
            file.fault(f"is no setting here; known here: {', '.join(SESSION_KEYS)}", SESSION, key)
        elif not isinstance(value, str):
            file.fault("must be a text", SESSION, key)
    return {key: value.strip() for key, value in table.items() if isinstance(value, str) and value.strip()}
