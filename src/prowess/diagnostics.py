"""Diagnostics: findings with their rule, message and location, as plain data.

Every check in Prowess (format, lint, security, catalog) yields `Diagnostic` values. This module only defines the
values: a report renders them, a profile sets their severity, a command turns severities into an exit code. Rule ids
never change and are spelled `family-noun.fault`, for example `name.matchesDirectory`.

The values are `msgspec` structs, because importing `dataclasses` takes as long as checking one skill. Create them with
keyword arguments.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Severity(StrEnum):
    """Severity of a finding. A check fails on an error, but not on a warning or an info."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class FixSafety(StrEnum):
    """Whether a fix keeps the meaning of the file (`safe`) or may change it (`unsafe`)."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Location(Struct, frozen=True, kw_only=True):
    """A position, or a range with an exclusive end. Lines and columns are 1-based; columns count code points."""

    path: str | None = None
    line: int = 1
    column: int = 1
    end_line: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        """Return `path:line:column`, as compilers print it."""
        return f"{self.path or '<input>'}:{self.line}:{self.column}"


class Edit(Struct, frozen=True, kw_only=True):
    """Replace the text from (line, column) up to (end_line, end_column) by `text`; positions as in `Location`."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(Struct, frozen=True, kw_only=True):
    """A set of edits that removes a fault. The edits do not overlap, and all or none are applied.

    `changes` names the top-level fields whose value the fix changes, adds or removes. A fix is applied only if every
    other field keeps its value. The body must also stay unchanged unless an edit is in the body.

    With `lf` the fix has no edits: every CRLF of the file becomes LF, which edits by line and column cannot express.
    """

    safety: FixSafety
    title: str
    edits: tuple[Edit, ...] = ()
    changes: tuple[str, ...] = ()
    lf: bool = False


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One finding of one rule at one location.

    `family` is `spec`, `lint`, `security` or `catalog`. If a rule covers several constructs, `detail` names the one
    that was found (for `frontmatter.syntax`: `anchor`, `tag`, `depth` ...). `skill` is the name of the skill's
    directory.
    """

    rule: str
    family: str
    severity: Severity
    message: str
    location: Location
    skill: str | None = None
    detail: str | None = None
    fix: Fix | None = None

    def with_severity(self, severity: Severity) -> Diagnostic:
        """Return a copy of the finding with `severity`."""
        return self if severity is self.severity else replace(self, severity=severity)
