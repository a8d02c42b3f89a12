"""Run the lint rules over one skill. This module also has the declarations of all rules that a user may name."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.format.profiles import profile_named
from prowess.format.reading import document_of
from prowess.format.rules.table import RULES as FORMAT_RULES
from prowess.lint.catalog_budget import CATALOG_BUDGET
from prowess.lint.catalog_overlap import CATALOG_OVERLAP
from prowess.lint.rule import LintRule, LintSubject
from prowess.lint.rules import __name__ as _rules
from prowess.rule_engine import Judgement, RuleRegistry, Selection
from prowess.rule_engine.rules import UNUSED_SUPPRESSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.reading import Target
    from prowess.format.rules.meta import RuleMeta
    from prowess.rule_engine import Rule

LINT_RULES: RuleRegistry[LintSubject] = RuleRegistry(
    *(rule() for rule in LintRule.__subclasses__() if rule.__module__.startswith(_rules))
)

_ADVICE = sorted(
    (CATALOG_BUDGET, CATALOG_OVERLAP, UNUSED_SUPPRESSION, *(rule.meta for rule in LINT_RULES)),
    key=lambda meta: (meta.order, meta.id),
)
RULES: Mapping[str, RuleMeta] = MappingProxyType({**FORMAT_RULES, **{meta.id: meta for meta in _ADVICE}})
"""All rules by id: the format rules first, then the lint rules."""


_place = attrgetter("location.line", "location.column")


def lint_skill(target: Target, *, profile: str = "spec", selection: Selection | None = None) -> list[Diagnostic]:
    """Return the lint findings on `target`, sorted by place. `target` is a value that `validate_skill` accepts.

    Files are looked for only inside the skill's directory. A document without a directory gets no findings on files.

    Raises:
        InvalidArgumentsError: no profile has this name.
    """
    judgement = Judgement(profile=profile_named(profile), selection=selection or Selection())
    return lint_findings(document_of(target), judgement)


def lint_findings(document: SkillDocument, judgement: Judgement) -> list[Diagnostic]:
    """Return the lint findings that the judgement reports, with its severities, sorted by place, then by rule."""
    subject = LintSubject(document, judgement.profile)
    found = [one for rule in _kept(judgement) for one in islice(rule.check(subject), rule.meta.most)]
    found.sort(key=_place)
    skill = document.directory_name
    return judgement.judge((replace(one, skill=skill) for one in found), RULES)


@lru_cache(maxsize=1)  # all skills of a check share one judgement
def _kept(judgement: Judgement) -> tuple[Rule[LintSubject], ...]:
    """Return the lint rules that the judgement selects."""
    return tuple(rule for rule in LINT_RULES if judgement.keeps(rule.meta))
