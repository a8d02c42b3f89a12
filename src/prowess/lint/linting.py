"""Run the lint rules over one skill."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prowess.format.profiles import profile_named
from prowess.format.validation import document_of
from prowess.lint.rules.hook_missing import HookMissing
from prowess.lint.rules.reference_case import ReferenceCase
from prowess.lint.rules.reference_missing import ReferenceMissing
from prowess.lint.subject import LintSubject
from prowess.rule_engine import RuleRegistry, Selection, judge_all

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.validation import Target

LINT_RULES: RuleRegistry[LintSubject] = RuleRegistry(ReferenceMissing(), ReferenceCase(), HookMissing())


def lint_skill(target: Target, *, profile: str = "spec", selection: Selection | None = None) -> list[Diagnostic]:
    """Return the advice on `target`, which is as for `validate_skill`; sorted by place.

    Files are looked for only inside the skill's directory; a document without one gets no advice on files.

    Raises:
        InvalidArgumentsError: no profile has this name.
    """
    return judge_all(lint_findings(document_of(target)), profile_named(profile), selection or Selection())


def lint_findings(document: SkillDocument) -> list[Diagnostic]:
    """Return what all lint rules find, at default severities."""
    found = LINT_RULES.check(LintSubject.of(document))
    found.sort(key=lambda one: (one.location.line, one.location.column))
    skill = document.directory_name
    return [replace(one, skill=skill) for one in found]
