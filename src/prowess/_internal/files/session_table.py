"""The table `[session]` of the user's `config.toml`: defaults for the sessions of this user.

    [session]
    profile = "claude-code"
    environment = "production"
    agent = "reviewer"
    tenant = "acme"
    first_argument = 1

Arguments of a caller take precedence over the table. The settings file of a project cannot have this table: the author
of a project must not decide how the project's skills are treated.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, cast

from prowess._internal.files.toml_file import TomlFile, read_toml_bytes
from prowess._internal.places import USER_FILE, prowess_home
from prowess.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION = "session"
SESSION_KEYS: Mapping[str, type] = {
    "environment": str,
    "agent": str,
    "tenant": str,
    "profile": str,
    "first_argument": int,
}


def session_setting(key: Literal["environment", "agent", "tenant", "profile"]) -> str | None:
    """Return the user's setting; None if it is not set. Raises ConfigurationError as in `session_table`."""
    return cast("str | None", session_table().get(key))


def first_argument_setting() -> Literal[0, 1]:
    """Return the user's number of the first argument, by default 0. Raises ConfigurationError as in `session_table`."""
    return cast("Literal[0, 1]", session_table().get("first_argument", 0))


def session_table() -> dict[str, object]:
    """Return the user's settings. Raises ConfigurationError for a fault in the table or if the file is not TOML."""
    path = os.path.join(prowess_home(), USER_FILE)
    if not os.path.lexists(path):
        return {}
    try:
        file = TomlFile(path, read_toml_bytes(path))
    except ValueError as fault:
        raise ConfigurationError((str(fault),)) from None
    table = read_session_table(file)
    if file.faults:
        raise ConfigurationError(file.faults)
    return table


def read_session_table(file: TomlFile) -> dict[str, object]:
    """Return the table's valid settings; add its faults to `file`."""
    table = file.content.get(SESSION, {})
    if not isinstance(table, dict):
        file.fault("must be a table", SESSION)
        return {}
    read: dict[str, object] = {}
    for key, value in table.items():
        if key not in SESSION_KEYS:
            file.fault(f"is no setting here; known here: {', '.join(SESSION_KEYS)}", SESSION, key)
        elif type(value) is not SESSION_KEYS[key]:
            file.fault("must be a text" if SESSION_KEYS[key] is str else "must be 0 or 1", SESSION, key)
        elif isinstance(value, int) and value not in (0, 1):
            file.fault("must be 0 or 1", SESSION, key)
        elif not isinstance(value, str):
            read[key] = value
        elif text := value.strip():
            read[key] = text
    return read
