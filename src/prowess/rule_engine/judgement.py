"""How one skill is judged: a profile, a selection, and a floor that the family `security` cannot fall below.

The floor is what holds without the settings of a project that nobody has trusted. Such a project may be stricter with
itself in any way; of the security findings it can neither drop one nor call it harmless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.diagnostics import Severity
from prowess.rule_engine.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.diagnostics import Diagnostic
    from prowess.format.profiles import Profile

_GUARDED = "security"
_AS_THE_PROFILE_SAYS = Selection()
_WEIGHT = {Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What decides which findings on a skill are reported, and how bad each is. `excluded`: none but the floor's."""

    profile: Profile
    selection: Selection = _AS_THE_PROFILE_SAYS
    floor: Judgement | None = None
    excluded: bool = False

    def keeps(self, rule: str, family: str) -> bool:
        """Whether a rule has to run."""
        if self.floor is not None and family == _GUARDED and self.floor.keeps(rule, family):
            return True
        return not self.excluded and self.selection.keeps(rule, family, self.profile)

    def judge(self, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the findings that are reported, at their severities, in their order."""
        return [judged for found in findings if (judged := self._judged(found)) is not None]

    def _judged(self, found: Diagnostic) -> Diagnostic | None:
        here = None if self.excluded else self.selection.judged(found, self.profile)
        if self.floor is None or found.family != _GUARDED:
            return here
        (below,) = self.floor.judge((found,)) or (None,)
        if here is None or below is None:
            return here or below
        return max(here, below, key=lambda one: _WEIGHT[one.severity])
