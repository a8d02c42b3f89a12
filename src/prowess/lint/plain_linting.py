"""The advice on a plainly valid skill where nobody has changed any setting: the profile `spec` as it is.

As `lint_findings` and a judgement, without what makes profiles and selections.
"""

from __future__ import annotations

from prowess.format.rule_table import RULES
from prowess.lint.first_look import LOOKS, always
from prowess.lint.subject import LintSubject

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

# In the order that `lint_findings` asks them in; what the other families find is found elsewhere.
_KEPT = tuple(
    (row.id, LOOKS.get(row.id, always))
    for row in RULES.values()
    if row.family in {"lint", "security"} and row.spec and row.id != "suppression.unused"
)


def plain_findings(document: SkillDocument, top: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Return what the lint rules find, sorted by place, at the severities of the profile `spec`.

    `top` is what the skill's directory holds, as for a `LintSubject`.
    """
    subject = LintSubject(document, top=top)
    asked = [rule for rule, look in _KEPT if look(subject)]
    if not asked:
        return ()
    # Imported here, not at the top: what follows is for the few rules that have an occasion.
    from prowess.lint.rule_modules import rule_of

    found = [one for rule in asked for one in rule_of(rule).check(subject)]
    if not found:
        return ()
    found.sort(key=lambda one: (one.location.line, one.location.column))
    skill = document.directory_name
    return tuple(one._replace(skill=skill, severity=RULES[one.rule].spec or one.severity) for one in found)
