"""The rule `license.long`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_LONG = 200  # characters


class LicenseLong:
    """A licence in full where a name belongs.

    What it does:
        Counts the characters of license, at most 200.

    Why it matters:
        It is read with the fields of every skill, and nobody reads a licence there.

    Example:
        The text of the MIT licence

    Instead:
        `license: MIT`, or `license: Proprietary. LICENSE.txt has the terms`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="license.long",
        family="lint",
        severity=Severity.INFO,
        summary="license is a name or points to a file.",
        source="Agent Skills specification",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding at the licence."""
        text = subject.document.text_of("license") or ""
        if len(text) > _LONG:
            yield self.meta.found(
                f"license has {len(text)} characters; name it, or the file that has its text",
                subject.field_place("license"),
            )
