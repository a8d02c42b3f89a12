"""The rule `reference.depth`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Location, Severity
from prowess.format.references import inner_components
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_FOLDER = "references"
_DEPTH = 2  # references/FILE.md
_MAX_FOUND = 100


class ReferenceDepth:
    """A reference that lies deeper than one level.

    What it does:
        Looks at links into `references/` and at the directories below it: a file of `references/` lies in it and not in
        a directory of its own.

    Why it matters:
        A model that has to walk through directories reads listings in place of the text it needs.

    Example:
        `references/api/v2/errors.md`

    Instead:
        `references/api-v2-errors.md`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="reference.depth", family="lint", severity=Severity.INFO, summary="References lie one level deep."
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each link that is too deep, then each directory below `references/` that no link names."""
        linked: set[str] = set()
        for link in subject.links[:_MAX_FOUND]:
            components = inner_components(link.path) or []
            if len(components) > _DEPTH and components[0] == _FOLDER:
                linked.add(components[1])
                location = subject.document.origin.location(link.start, link.end)
                yield self.meta.found(f"{link.path} lies deeper than {_FOLDER}/; put the file into it", location)
        if subject.files is None:
            return
        directories = [name for name, kind in subject.files.entries(_FOLDER).items() if kind == "directory"]
        for name in sorted(set(directories) - linked)[:_MAX_FOUND]:
            message = f"{_FOLDER}/{name} is a directory; put its files into {_FOLDER}/"
            yield self.meta.found(message, Location(path=subject.document.path))
