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
        Looks at links and paths into `references/` and at the directories below it: a file of `references/` lies in it
        and not in a directory of its own. A path that is no link counts where the file is there.

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
        """Yield each file that is too deep, once, then each directory below `references/` that no link names."""
        linked: set[str] = set()
        seen: set[str] = set()
        for at, link in enumerate((*subject.links, *subject.paths)):
            components = inner_components(link.path) or []
            if len(components) <= _DEPTH or components[0] != _FOLDER or link.path in seen:
                continue
            if at >= len(subject.links) and (
                subject.files is None or subject.files.look_for(link.path).kind == "missing"
            ):
                continue  # a path that is no link may be another's
            seen.add(link.path)
            linked.add(components[1])
            location = subject.document.origin.location(link.start, link.end)
            yield self.meta.found(f"{link.path} lies deeper than {_FOLDER}/; put the file into it", location)
            if len(seen) == _MAX_FOUND:
                break
        if subject.files is None:
            return
        directories = [name for name, kind in subject.files.entries(_FOLDER).items() if kind == "directory"]
        for name in sorted(set(directories) - linked)[:_MAX_FOUND]:
            message = f"{_FOLDER}/{name} is a directory; put its files into {_FOLDER}/"
            yield self.meta.found(message, Location(path=subject.document.path))
