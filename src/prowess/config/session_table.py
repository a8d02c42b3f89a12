"""The table `[session]` of the user's `config.toml`: what the sessions of this user start with.

    [session]
    profile = "claude-code"

An option of a command, or an argument in Python, wins over it. A project's file has no such table: who wrote a project
must not decide how its skills are held.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.toml_file import TomlFile, read_toml_bytes
from prowess._internal.places import prowess_home
from prowess._internal.text.near_words import near_words
from prowess.errors import ConfigurationError
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

USER_FILE, SESSION = "config.toml", "session"
# The keys, and what each may be; a schema is made from this.
SESSION_CHOICES: Mapping[str, tuple[str, ...]] = {"profile": tuple(PROFILES)}


class SessionDefaults(Struct, frozen=True, kw_only=True):
    """What a user set for sessions; None where nothing is set."""

    profile: str | None = None


_NOTHING_SET = SessionDefaults()


def session_defaults() -> SessionDefaults:
    """Return what the file of this user sets for sessions; faults elsewhere in the file are not looked at.

    Raises:
        ConfigurationError: the file cannot be read, or its table has a fault; every fault is named.
    """
    path = os.path.join(prowess_home(), USER_FILE)
    if not os.path.lexists(path):
        return _NOTHING_SET
    try:
        file = TomlFile(path, read_toml_bytes(path))
    except ValueError as fault:
        raise ConfigurationError((str(fault),)) from None
    read = read_session_table(file)
    if file.faults:
        raise ConfigurationError(file.faults)
    return read


def read_session_table(file: TomlFile) -> SessionDefaults:
    """Read the table; what is wrong is added to the faults of `file`."""
    table = file.content.get(SESSION, {})
    if not isinstance(table, dict):
        file.fault("must be a table", SESSION)
        return _NOTHING_SET
    read: dict[str, str] = {}
    for key, value in table.items():
        choices = SESSION_CHOICES.get(key)
        if choices is None:
            near = near_words(key, SESSION_CHOICES)
            meant = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(SESSION_CHOICES)}"
            file.fault(f"is no setting here; {meant}", SESSION, key)
        elif value not in choices:
            file.fault(f"must be one of {', '.join(choices)}", SESSION, key)
        else:
            read[key] = value
    return SessionDefaults(**read)
