"""The rule `reference.chain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.format.references import inner_components
from prowess.lint.linked_files import local_targets
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_MAX_FOUND = 50


class ReferenceChain:
    """A file that only another reference file leads to.

    What it does:
        Reads the Markdown files that SKILL.md links to, and looks in them for links to files of the skill that
        SKILL.md does not name.

    Why it matters:
        An agent that follows a chain of files often stops after the first, or reads only its beginning.

    Example:
        SKILL.md links to `references/forms.md`, and only that links to `references/fields.md`.

    Instead:
        Link to `references/fields.md` from SKILL.md too, and say when to read it.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="reference.chain",
        family="lint",
        severity=Severity.INFO,
        summary="SKILL.md itself names each reference file.",
        source="Agent Skills specification",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each such file once, at the link that leads to it."""
        if subject.files is None or subject.texts is None or not subject.links:
            return
        known = {"/".join(inner_components(link.path) or ()) for link in subject.links}
        reported: set[str] = set()
        for link in subject.links:
            path = "/".join(inner_components(link.path) or ())
            text = subject.texts.text(path) if path.lower().endswith(".md") and path != "SKILL.md" else None
            for target in local_targets(text or "", path, subject.files):
                if target in known | reported or target in subject.body or target == "SKILL.md":
                    continue
                reported.add(target)
                location = subject.document.origin.location(link.start, link.end)
                yield self.meta.found(f"{target} is reached only through {path}; link to it from SKILL.md", location)
                if len(reported) == _MAX_FOUND:
                    return
