"""The rule `portability.refusedKeys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_FACTORY = frozenset({"license", "compatibility", "metadata", "allowed-tools"})


class PortabilityRefusedKeys:
    """A field that a named host refuses.

    What it does:
        Looks for `license`, `compatibility`, `metadata` and `allowed-tools`, which Factory refuses.

    Why it matters:
        The fields belong to the specification, and still one host drops a skill that has them.

    Example:
        `license: MIT` in a skill for Factory

    Instead:
        Keep the field, and leave it out of the copy for that host.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="portability.refusedKeys",
        family="lint",
        severity=Severity.INFO,
        summary="No field stands that a known host refuses.",
        source="reports on Factory",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding at the first such field."""
        keys = [field.key for field in subject.document.fields if field.key in _FACTORY]
        if keys:
            yield self.meta.found(f"Factory refuses {', '.join(keys)}", subject.field_place(keys[0]))
