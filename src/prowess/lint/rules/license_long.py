"""The rule `license.long`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 200  # characters


class LicenseLong(LintRule):
    """A full licence text in the `license` field.

    What it does:
        Reports a `license` field of more than 200 characters.

    Why it matters:
        The field is read together with the other fields of every skill. A licence text is useless at that moment.

    Example:
        The text of the MIT licence

    Instead:
        `license: MIT`, or `license: Proprietary. LICENSE.txt has the terms`
    """

    meta = RuleMeta(
        id="license.long",
        order=42,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="license is a name or points to a file.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the licence."""
        text = subject.document.text_of("license") or ""
        if len(text) > _LONG:
            yield self.meta.found(
                f"license has {len(text)} characters; write its name, or the file that has its text",
                subject.field_place("license"),
            )
