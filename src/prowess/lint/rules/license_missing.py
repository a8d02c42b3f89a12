"""The rule `license.missing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_LONG = 500  # characters


class LicenseMissing:
    """A licence that names a file which is not there.

    What it does:
        Looks for the words of license that end in .txt or .md, or begin with LICENSE, among the files of the skill.

    Why it matters:
        Whoever wants to use the skill has to know its terms.

    Example:
        `license: See LICENSE.txt`, and there is no LICENSE.txt

    Instead:
        Add the file.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="license.missing",
        family="lint",
        severity=Severity.WARNING,
        summary="The file that license names is there.",
        source="Agent Skills specification",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each missing file."""
        text = subject.document.text_of("license") or ""
        if subject.files is None or len(text) > _LONG:
            return
        for word in text.replace(",", " ").split():
            path = word.strip("().;:`'\"")
            if (
                path.lower().endswith((".txt", ".md"))
                and "://" not in path
                and subject.files.look_for(path).kind == "missing"
            ):
                yield self.meta.found(
                    f"license names {path}, which the skill does not contain", subject.field_place("license")
                )
