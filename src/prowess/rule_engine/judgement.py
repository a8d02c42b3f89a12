"""How one skill is judged: a profile, a selection, and a floor that the family `security` cannot fall below.

The floor is what holds without the settings of a project that nobody has trusted. Such a project may be stricter with
itself in any way; of the security findings it can neither drop one nor call it harmless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.diagnostics import Severity
from prowess.format.rules.table import RULES
from prowess.rule_engine.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess.diagnostics import Diagnostic
    from prowess.format.profiles import Profile
    from prowess.format.rules.meta import RuleMeta

_GUARDED = "security"
_AS_THE_PROFILE_SAYS = Selection()
_WEIGHT = {Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}


class Judgement(Struct, frozen=True, kw_only=True):
    """What decides which findings on a skill are reported, and how bad each is. `excluded`: none but the floor's."""

    profile: Profile
    selection: Selection = _AS_THE_PROFILE_SAYS
    floor: Judgement | None = None
    excluded: bool = False

    def keeps(self, rule: RuleMeta) -> bool:
        """Whether a rule has to run."""
        if self.floor is not None and rule.family == _GUARDED and self.floor.keeps(rule):
            return True
        return not self.excluded and self.selection.keeps(rule, self.profile)

    def judge(self, findings: Iterable[Diagnostic], rules: Mapping[str, RuleMeta] = RULES) -> list[Diagnostic]:
        """Return the findings that are reported, at their severities, in their order.

        `rules` declare the rules that found them, by id: those of the format, unless another room hands in its own.
        """
        return [judged for found in findings if (judged := self._judged(found, rules)) is not None]

    def _judged(self, found: Diagnostic, rules: Mapping[str, RuleMeta]) -> Diagnostic | None:
        here = None if self.excluded else self.selection.judged(found, self.profile, rules)
        if self.floor is None or found.family != _GUARDED:
            return here
        (below,) = self.floor.judge((found,), rules) or (None,)
        if here is None or below is None:
            return here or below
        return max(here, below, key=lambda one: _WEIGHT[one.severity])
