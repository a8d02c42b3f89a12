"""One run of `prowess check`: its skills are judged one after the other, then as a set, and kept for the report."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.cli.skill_sets import findings_between
from prowess.format.name import normalise
from prowess.format.validation import place_in_report, raw_findings
from prowess.lint import lint_findings
from prowess.report.checked import CheckedSkill

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.cli.fixing import Fixing
    from prowess.cli.silencing import Silencing
    from prowess.cli.targets import Target
    from prowess.config import Configuration
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement


class CheckRun:
    """What was found so far.

    `skills` have what is reported, `everything` also what a baseline knows; `excluded` counts the skills that settings
    pass over.
    """

    def __init__(self, configuration: Configuration, silencing: Silencing, fixing: Fixing | None) -> None:
        self._configuration, self._silencing, self._fixing = configuration, silencing, fixing
        self._judgements: list[Judgement] = []
        self.skills: list[CheckedSkill] = []
        self.everything: list[tuple[SkillDocument, tuple[Diagnostic, ...]]] = []
        self.excluded = 0

    def judge(self, target: Target) -> None:
        """Judge one skill, after mending it where that was asked for."""
        document = target.document
        judgement = self._configuration.judgement(document.directory)
        if judgement.excluded and judgement.floor is None:
            self.excluded += 1
            return
        if self._fixing is not None:
            new = partial(self._new, judgement=judgement)
            document = self._fixing.fix(document, target.data, new, within=target.named)
        found = self._found(document, judgement)
        self.everything.append((document, found))
        self.skills.append(_checked_skill(document, self._silencing.by_baseline(document, found)))
        self._judgements.append(judgement)

    def judge_between(self, *, whole: bool) -> None:
        """Add to the skills what is wrong between them; `whole`: there are no others that one may depend on."""
        between = findings_between(self.skills, self._judgements, whole=whole and not self.excluded)
        for at, found in between.items():
            skill = self.skills[at]
            self.everything.append((skill.document, found))
            fresh = self._silencing.by_baseline(skill.document, found)
            self.skills[at] = replace(skill, diagnostics=(*skill.diagnostics, *fresh))

    def _found(self, document: SkillDocument, judgement: Judgement) -> tuple[Diagnostic, ...]:
        findings = [*judgement.judge(raw_findings(document, judgement.profile)), *lint_findings(document, judgement)]
        return _in_order(self._silencing.by_comments(document, judgement, findings), judgement)

    def _new(self, document: SkillDocument, *, judgement: Judgement) -> tuple[Diagnostic, ...]:
        return self._silencing.by_baseline(document, self._found(document, judgement))


def _in_order(findings: Iterable[Diagnostic], judgement: Judgement) -> tuple[Diagnostic, ...]:
    """Return findings as a report lists them: by place, unless the profile has the reference tool's order."""
    if judgement.profile.reference_wording:
        return tuple(findings)
    return tuple(sorted(findings, key=place_in_report))


def _checked_skill(document: SkillDocument, findings: tuple[Diagnostic, ...]) -> CheckedSkill:
    """Return a skill for a report, called by its name; by its directory's if it has none or cannot be read."""
    path = os.path.dirname(document.path or "") or "."
    return CheckedSkill(path=path, name=_name(document), document=document, diagnostics=findings)


def _name(document: SkillDocument) -> str | None:
    name = document.text_of("name") if document.complete else None
    if name is None or name == document.directory_name:
        return document.directory_name
    return normalise(name) or normalise(document.directory_name or "")
