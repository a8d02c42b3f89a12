"""The home where the log of the commands lies, whichever of them writes it."""

from __future__ import annotations

import os

from prowess._internal.files.privacy import NotPrivateError
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess._internal.text.terminal_text import printable_line
from prowess.audit.log import JsonlAuditLog
from prowess.cli import output


def writable_home(consequence: str) -> str | None:
    """Return the home of this user, made if missing; None, with a note that says what follows, if it is no use."""
    home = prowess_home()
    why = "cannot be written"
    try:
        ensure_private_directory(home)
        if os.access(home, os.W_OK):
            return home
    except NotPrivateError as fault:
        why = f"is not used, because {fault.strerror}"
    except OSError:
        pass
    output.note(printable_line(f"{home} {why}: {consequence}"))
    return None


def audit_log(home: str | None) -> JsonlAuditLog | None:
    """Return the log below this home, one flush to disk a record; None without a home."""
    return None if home is None else JsonlAuditLog(audit_path(home), fsync="record")


def audit_path(home: str) -> str:
    """Return the path of the log below this home."""
    return os.path.join(home, "audit", "audit.jsonl")
