"""Which rules run: a profile's table, replaced by what is selected, less what is ignored.

A selector is a family (`spec`), the beginning of an id (`reference`) or an id (`name.format`). `select` replaces the
profile's choice, `ignore` takes away and wins, except that the more exact of two selectors wins over both: with
`select=reference.missing, ignore=reference` that one rule runs. A selected rule that the profile switches off runs at
its default severity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.errors import InvalidArgumentsError
from prowess.format.validation import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess.diagnostics import Diagnostic
    from prowess.format.profiles import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a user selects and ignores; empty means: as the profile says."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @classmethod
    def checked(cls, select: Iterable[str], ignore: Iterable[str], known: Mapping[str, str]) -> Selection:
        """Return a selection whose every selector means something among the rules `known` (id -> family).

        Raises:
            InvalidArgumentsError: one sentence for each selector that does not, with spellings that may be meant.
        """
        selection = cls(select=tuple(select), ignore=tuple(ignore))
        families = tuple(dict.fromkeys(known.values()))  # a family without a rule would find no fault anywhere
        unknown = [
            selector
            for selector in (*selection.select, *selection.ignore)
            if selector not in families and not any(_begins(rule, selector) for rule in known)
        ]
        if unknown:
            raise InvalidArgumentsError(tuple(_unknown(selector, tuple(known), families) for selector in unknown))
        return selection

    def keeps(self, rule: str, family: str, profile: Profile) -> bool:
        """Whether a rule runs."""
        ignored = _exactness(self.ignore, rule, family)
        selected = _exactness(self.select, rule, family)
        if ignored and ignored >= selected:
            return False
        if self.select:
            return selected > 0
        return profile.severities.get(rule, "") is not None


def judge_all(findings: Iterable[Diagnostic], profile: Profile, selection: Selection) -> list[Diagnostic]:
    """Return the findings that are reported, at the severities they have in this profile."""
    return [judge(found, profile) or found for found in findings if selection.keeps(found.rule, found.family, profile)]


def _begins(rule: str, selector: str) -> bool:
    return rule == selector or rule.startswith(f"{selector}.")


def _exactness(selectors: tuple[str, ...], rule: str, family: str) -> int:
    """How exactly the best selector names the rule: 0 not at all, 1 by family, more by a longer part of its id."""
    best = 0
    for selector in selectors:
        if _begins(rule, selector):
            best = max(best, 1 + len(selector))
        elif selector == family:
            best = max(best, 1)
    return best


def _unknown(selector: str, rules: tuple[str, ...], families: tuple[str, ...]) -> str:
    # Imported here, not at the top: only a wrong selector needs it.
    from difflib import get_close_matches

    prefixes = {rule.partition(".")[0] for rule in rules}
    near = get_close_matches(selector, [*rules, *prefixes, *families], n=1, cutoff=0.7)
    hint = f"did you mean {near[0]}?" if near else f"families are {', '.join(families)}"
    return f"no rule or family is called {selector!r}; {hint}"
