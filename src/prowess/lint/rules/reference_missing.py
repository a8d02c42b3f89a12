"""The rule `reference.missing`."""

from __future__ import annotations

import re

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_MAX_SUGGESTIONS = 20  # Limit, because each suggestion is a search through all files.
# Matches link targets in capital letters, which usually are not files: `[Open](LINK)` in a template, `[0](MON/WED)` in
# prose. `_CAPITALS` has the real file names of this form.
_SHOUTED = r"[A-Z]+(?:[/_-][A-Z]+)*"
_CAPITALS = frozenset(
    {"AUTHORS", "CHANGELOG", "CONTRIBUTING", "COPYING", "LICENCE", "LICENSE", "NOTICE", "README", "VERSION"}
)


class ReferenceMissing(LintRule):
    """A link to a file that does not exist in the skill.

    What it does:
        Looks for the target of each link and image in the skill's directory. Links in code or in comments, web
        addresses, anchors and targets in capital letters such as `LINK` are ignored. A symbolic link counts as a file.

    Why it matters:
        A model that follows the link gets an error in the middle of its task.

    Example:
        `See [the tax table](references/VAT.md).`, and `references/VAT.md` does not exist.

    Instead:
        Add the file, or link to an existing file.
    """

    meta = RuleMeta(
        id="reference.missing",
        order=1,
        most=100,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING, lenient=WARNING),
        summary="A linked file exists.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each link whose file is missing."""
        if subject.document.directory is None:
            return
        found = 0
        for link in subject.links:
            sighting = subject.files.look_for(link.path)
            if sighting.kind != "missing" or (re.fullmatch(_SHOUTED, link.target) and link.target not in _CAPITALS):
                continue
            near = subject.files.suggest(sighting.path) if found < _MAX_SUGGESTIONS else None
            found += 1
            hint = f"; did you mean {near}?" if near else ""
            location = subject.document.origin.location(link.start, link.end)
            yield self.meta.found(f"{sighting.path} does not exist{hint}", location)
