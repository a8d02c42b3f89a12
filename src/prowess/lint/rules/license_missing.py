"""The rule `license.missing`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 500  # characters


class LicenseMissing(LintRule):
    """A `license` field that names a missing file.

    What it does:
        Takes each word of `license` that ends in .txt or .md as a file name, and looks for the file in the skill.

    Why it matters:
        Users of the skill must be able to read its terms.

    Example:
        `license: See LICENSE.txt`, and LICENSE.txt does not exist

    Instead:
        Add the file.
    """

    meta = RuleMeta(
        id="license.missing",
        order=43,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="The file that license names exists.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each missing file that the field names."""
        text = subject.document.text_of("license") or ""
        if subject.document.directory is None or len(text) > _LONG:
            return
        for word in text.replace(",", " ").split():
            path = word.strip("().;:`'\"")
            if (
                path.lower().endswith((".txt", ".md"))
                and "://" not in path
                and subject.files.look_for(path).kind == "missing"
            ):
                yield self.meta.found(
                    f"license names {path}, which does not exist in the skill; add the file",
                    subject.field_place("license"),
                )
