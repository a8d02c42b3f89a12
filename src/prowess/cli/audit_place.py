"""The home where the log of the commands lies, whichever of them writes it."""

from __future__ import annotations

import os

from prowess._internal.files.privacy import NotPrivateError
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess._internal.text.terminal_text import printable_line
from prowess.audit.log import JsonlAuditLog
from prowess.cli import output


def writable_home(consequence: str) -> str | None:
    """Return the home of this user; None, with a note that says what follows, where it cannot be written."""
    home, why = home_and_fault()
    if why is None:
        return home
    output.note(printable_line(f"{why}: {consequence}"))
    return None


def home_and_fault() -> tuple[str, str | None]:
    """Return the home of this user, made where it is missing, and why it cannot be written; None where it can."""
    home = prowess_home()
    try:
        ensure_private_directory(home)
        return home, None if os.access(home, os.W_OK) else f"{home} cannot be written"
    except NotPrivateError as fault:
        return home, f"{home} is not used, because {fault.strerror}"
    except OSError:
        return home, f"{home} cannot be written"


def audit_log(home: str | None) -> JsonlAuditLog | None:
    """Return the log below this home, one flush to disk a record; None without a home."""
    return None if home is None else JsonlAuditLog(audit_path(home), fsync="record")


def audit_path(home: str) -> str:
    """Return the path of the log below this home."""
    return os.path.join(home, "audit", "audit.jsonl")
