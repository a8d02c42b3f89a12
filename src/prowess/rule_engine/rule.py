"""A rule is a class in a file of its own: `meta` says what it is, its docstring is its page, `check` finds.

The docstring has the sections *What it does*, *Why it matters*, *Example* and *Instead*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.diagnostics import Diagnostic, Fix, Location, Severity

Subject_contra = TypeVar("Subject_contra", contravariant=True)


class RuleMeta(NamedTuple):
    """What is known of a rule before it runs; `severity` is the default, a profile may change it.

    `source` is whose advice it is; `since` the version that brought the rule; `fixes` what its fix does, where it has
    one.
    """

    id: str
    family: str
    severity: Severity
    summary: str
    source: str = "Agent Skills specification"
    since: str = "0.1.0"
    fixes: str | None = None

    def found(self, message: str, location: Location, *, fix: Fix | None = None) -> Diagnostic:
        """Return a finding of this rule at its default severity."""
        # Imported here, not at the top: the table of rules is read without building a finding.
        from prowess.diagnostics import Diagnostic

        return Diagnostic(
            rule=self.id, family=self.family, severity=self.severity, message=message, location=location, fix=fix
        )


class Rule(Protocol[Subject_contra]):
    """One rule over one kind of subject. It reads nothing but the subject and raises nothing."""

    meta: ClassVar[RuleMeta]

    def check(self, subject: Subject_contra) -> Iterable[Diagnostic]:
        """Return every place where the subject breaks the rule."""
        ...
