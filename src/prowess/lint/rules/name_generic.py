"""The rule `name.generic`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_GENERIC = frozenset(
    {
        "doc",
        "proc",
        "helper",
        "helpers",
        "util",
        "utils",
        "tool",
        "tools",
        "skill",
        "my",
        "data",
        "misc",
        "common",
        "manager",
        "handler",
        "process",
        "processor",
        "stuff",
        "general",
        "assistant",
        "test",
    }
)


class NameGeneric(LintRule):
    """A name whose parts fit any skill.

    What it does:
        Looks for names that consist only of words such as helper, utils, doc and proc.

    Why it matters:
        A person who reads the list cannot tell what the skill is for.

    Example:
        `doc-proc`

    Instead:
        `pdf-extraction`
    """

    meta = RuleMeta(
        id="name.generic",
        order=54,
        severities=Severities(),
        summary="The name shows what the skill does.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the name."""
        name = (subject.document.text_of("name") or "").strip()
        if name and all(part in _GENERIC for part in name.split("-")):
            yield self.meta.found(
                f"the name {name} fits any skill; choose one for its task, such as pdf-extraction",
                subject.field_place("name"),
            )
