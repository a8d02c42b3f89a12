"""The rule `reference.depth`."""

from __future__ import annotations

from prowess.diagnostics import Location
from prowess.format.rules.body_rules import inner_components
from prowess.lint.rule import ERROR, INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_FOLDER = "references"
_DEPTH = 2  # references/FILE.md


class ReferenceDepth(LintRule):
    """A reference file in a subdirectory of `references/`.

    What it does:
        Looks for files in subdirectories of `references/`: in the links and paths of SKILL.md, and on disk. A path that
        is not a link is reported only if the file exists.

    Why it matters:
        A model that walks through directories reads listings instead of the text that it needs.

    Example:
        `references/api/v2/errors.md`

    Instead:
        `references/api-v2-errors.md`
    """

    meta = RuleMeta(
        id="reference.depth",
        order=5,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=ERROR, claude_code=INFO),
        summary="Reference files are directly in references/.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first file that is too deep, then the first subdirectory of `references/` without a link to it."""
        linked: set[str] = set()
        seen: dict[str, Location] = {}
        for at, link in enumerate((*subject.links, *subject.paths)):
            components = inner_components(link.path) or []
            if len(components) <= _DEPTH or components[0] != _FOLDER or link.path in seen:
                continue
            if at >= len(subject.links) and subject.files.look_for(link.path).kind == "missing":
                continue  # a path without a link may belong to another project
            seen[link.path] = subject.document.origin.location(link.start, link.end)
            linked.add(components[1])
        if seen:
            (first, location), *others = seen.items()
            more = f", and {len(others)} more are" if others else ""
            message = f"{first} is in a directory below {_FOLDER}/{more}; move the files to {_FOLDER}/"
            yield self.meta.found(message, location)
        directories = {name for name, kind in subject.files.entries(_FOLDER).items() if kind == "directory"}
        if unlinked := sorted(directories - linked):
            more = f", and {len(unlinked) - 1} more are" if len(unlinked) > 1 else ""
            message = f"{_FOLDER}/{unlinked[0]} is a directory{more}; move its files to {_FOLDER}/"
            yield self.meta.found(message, Location(path=subject.document.path))
