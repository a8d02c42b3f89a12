"""The rule `reference.depth`."""

from __future__ import annotations

from prowess.diagnostics import Location
from prowess.format.rules.body_rules import inner_components
from prowess.lint.rule import ERROR, INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_FOLDER = "references"
_DEPTH = 2  # references/FILE.md


class ReferenceDepth(LintRule):
    """A reference that lies deeper than one level.

    What it does:
        Looks at links and paths into `references/` and at the directories below it: a file of `references/` lies in it
        and not in a directory of its own. A path that is no link counts where the file is there.

    Why it matters:
        A model that has to walk through directories reads listings in place of the text it needs.

    Example:
        `references/api/v2/errors.md`

    Instead:
        `references/api-v2-errors.md`
    """

    meta = RuleMeta(
        id="reference.depth",
        order=5,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=ERROR, claude_code=INFO),
        summary="References lie one level deep.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first file that is too deep, then the first directory below `references/` that no link names."""
        linked: set[str] = set()
        seen: dict[str, Location] = {}
        for at, link in enumerate((*subject.links, *subject.paths)):
            components = inner_components(link.path) or []
            if len(components) <= _DEPTH or components[0] != _FOLDER or link.path in seen:
                continue
            if at >= len(subject.links) and subject.files.look_for(link.path).kind == "missing":
                continue  # a path that is no link may be another's
            seen[link.path] = subject.document.origin.location(link.start, link.end)
            linked.add(components[1])
        if seen:
            (first, location), *others = seen.items()
            more = f", and so do {len(others)} more" if others else ""
            yield self.meta.found(f"{first} lies deeper than {_FOLDER}/{more}; put the file into it", location)
        directories = {name for name, kind in subject.files.entries(_FOLDER).items() if kind == "directory"}
        if unlinked := sorted(directories - linked):
            more = f", and {len(unlinked) - 1} more are" if len(unlinked) > 1 else ""
            message = f"{_FOLDER}/{unlinked[0]} is a directory{more}; put the files into {_FOLDER}/"
            yield self.meta.found(message, Location(path=subject.document.path))
