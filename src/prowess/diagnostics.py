"""What is wrong, and where. A diagnostic is plain data.

Every check in Prowess, whether of the format, of quality or of the catalog, yields `Diagnostic` values.
Nothing here decides what to do about one: a report renders it, a profile sets its severity, a command turns
severities into an exit code. Rule ids are stable for ever and spelled `family-noun.fault`, for example
`name.matchesDirectory`.

The values are named tuples: what makes data classes takes as long to import as one skill takes to check. Build them by
keywords.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Severity(StrEnum):
    """How bad a finding is: an error fails a check, a warning and an info do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class FixSafety(StrEnum):
    """Whether a fix keeps the meaning (`safe`) or may change it (`unsafe`)."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Location(Struct, frozen=True, kw_only=True):
    """A place in a file. Lines and columns are 1-based, columns count code points.

    The end is exclusive in its column, as an editor's selection is. Without an end the location is a point.
    """

    path: str | None = None
    line: int = 1
    column: int = 1
    end_line: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        """`path:line:column`, as compilers print it."""
        return f"{self.path or '<input>'}:{self.line}:{self.column}"


class Edit(Struct, frozen=True, kw_only=True):
    """Replace the text from (line, column) up to (end_line, end_column) by `text`; positions as in `Location`."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(Struct, frozen=True, kw_only=True):
    """A set of edits that removes the fault; they do not overlap and apply together or not at all.

    `changes` names the top-level fields whose value it changes, adds or takes away. Every other field reads the same
    afterwards, and so does the body unless an edit lies in it; a fix that breaks its word is not applied.

    With `lf` the fix has no edits: every CRLF of the file becomes LF, which no edit of lines and columns can state.
    """

    safety: FixSafety
    title: str
    edits: tuple[Edit, ...] = ()
    changes: tuple[str, ...] = ()
    lf: bool = False


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One finding of one rule at one place.

    `family` is `spec`, `lint`, `security` or `catalog`; `detail` names the construct where a rule covers several
    (for `frontmatter.syntax`: `anchor`, `tag`, `depth` ...); `skill` is the name of the skill's directory.
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
        """Return the same finding at another severity."""
        return self if severity is self.severity else replace(self, severity=severity)
