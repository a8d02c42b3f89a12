"""The rule `body.boilerplate`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_HEADINGS = frozenset(
    {
        "changelog",
        "change log",
        "contributing",
        "license",
        "licence",
        "version history",
        "contributors",
    }
)
_LICENCES = ("permission is hereby granted, free of charge", "redistribution and use in source and binary forms")


class BodyBoilerplate(LintRule):
    """Text for people inside the instructions.

    What it does:
        Looks for headings such as License, Version history, Changelog and Contributing (except the first heading), and
        for the opening words of common licences.

    Why it matters:
        The model reads this text at each activation, and no task needs it.

    Example:
        `## Changelog`

    Instead:
        Keep such text in the repository around the skill.
    """

    meta = RuleMeta(
        id="body.boilerplate",
        order=52,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="The body has no licence text or changelog.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first heading for people; if there is none, the first licence text."""
        if any(word in subject.lower for word in _HEADINGS):
            for heading, place in zip(subject.headings[1:], subject.outline.headings[1:], strict=True):
                if heading in _HEADINGS:
                    message = f'a section "{heading}" is for people; keep it in the repository around the skill'
                    yield self.meta.found(message, subject.at(place.start, place.end))
                    return
        for words in _LICENCES:
            if (at := subject.lower.find(words)) >= 0:
                message = "the text of a licence is for people; keep it in the repository around the skill"
                yield self.meta.found(message, subject.at(at, at + len(words)))
                return
