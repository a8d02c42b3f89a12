"""The rule `reference.case`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Fix, FixSafety
from prowess.format.rules.body_rules import percent_encoded
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess.format.rules.body_rules import Reference


class ReferenceCase(LintRule):
    """A link that differs from the file's name in upper or lower case.

    What it does:
        Compares the target of each link, and each path in the text that begins with a directory of the skill, with the
        names on disk.

    Why it matters:
        The link works on the author's macOS or Windows machine and fails on Linux, where most agents run.

    Example:
        `See [the API](references/Api.md).`, and the file is `references/api.md`.

    Instead:
        `See [the API](references/api.md).`
    """

    meta = RuleMeta(
        id="reference.case",
        order=4,
        most=100,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING, lenient=WARNING),
        summary="A linked file is spelled as it is on disk.",
        fixes="writes the name as it is spelled on disk",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each link to a file that is found only if case is ignored."""
        for link in subject.named:
            sighting = subject.files.look_for(link.path)
            if sighting.kind == "other case":
                location = subject.document.origin.location(link.start, link.end)
                message = f"{link.path} is spelled {sighting.path} on disk"
                yield self.meta.found(message, location, fix=_respelled(subject, link, sighting.path))


def _respelled(subject: LintSubject, link: Reference, path: str) -> Fix | None:
    if not link.exact:
        return None
    rest = link.target[len(link.target.partition("#")[0].partition("?")[0]) :]
    edit = subject.document.origin.edit(link.start, link.end, percent_encoded(path) + rest)
    return Fix(safety=FixSafety.SAFE, title="spell it as on disk", edits=(edit,))
