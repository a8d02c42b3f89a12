"""The page of a rule: what it does, why it matters, an example, what to write instead, severities and fix.

A lint rule has its page in the docstring of its class; any other rule has it in its declaration. Both are returned as
`RulePage`, which the terminal, the documentation and editors show.

    assert rule_page("name.format").severities["lenient"] == "warning"
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple

from prowess._internal.text.near_words import near_words
from prowess.errors import InvalidArgumentsError
from prowess.format.profiles import PROFILES
from prowess.format.rules.meta import Page
from prowess.lint.linting import LINT_RULES, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SECTIONS = ("What it does", "Why it matters", "Example", "Instead")


class RulePage(Struct, frozen=True, kw_only=True):
    """The page of one rule.

    `severities` maps each profile to its severity, or to None if the profile does not report the rule. `fix` is None if
    the rule has no automatic fix.
    """

    id: str
    family: str
    summary: str
    page: Page
    severities: Mapping[str, str | None]
    fix: str | None
    since: str
    source: str

    @property
    def sections(self) -> Iterator[tuple[str, str]]:
        """Title and text of each section of the page."""
        return zip(_SECTIONS, astuple(self.page), strict=True)

    def markdown(self) -> str:
        """Return the page as Markdown. The title is the rule's id."""
        levels = ", ".join(f"{profile} {level or 'off'}" for profile, level in self.severities.items())
        return "\n\n".join(
            (
                f"# {self.id}",
                self.summary,
                *(f"## {title}\n\n{text}" for title, text in self.sections),
                f"## Severity\n\n{levels}.",
                f"Fix: {self.fix or 'none; a person has to decide'}.",
                f"Family: {self.family}. Since: {self.since}. Source: {self.source}.\n",
            )
        )


def rule_page(rule: str) -> RulePage:
    """Return the page of the rule with this id.

    Raises:
        InvalidArgumentsError: no rule has this id; the message suggests the nearest id, or lists the rules of a group.
    """
    if rule not in RULES:
        folded = {name.casefold(): name for name in RULES}
        group = (
            [name for name in RULES if name.casefold().startswith(f"{rule.casefold().rstrip('.')}.")] if rule else []
        )
        near = near_words(rule.casefold(), folded)
        hint = f"did you mean {folded[near[0]]}?" if near else "`prowess rule` lists them"
        if group:
            hint = f"rules of this group: {', '.join(group)}"
        raise InvalidArgumentsError((f"no rule is called {rule!r}; {hint}",))
    meta = RULES[rule]
    levels = {profile: meta.severity_in(profile) for profile in PROFILES}
    return RulePage(
        id=rule,
        family=meta.family,
        summary=meta.summary,
        page=meta.page or _page_in(inspect.getdoc(LINT_RULES[rule]) or ""),
        severities={profile: None if level is None else str(level) for profile, level in levels.items()},
        fix=meta.fixes,
        since=meta.since,
        source=meta.source,
    )


def rule_pages() -> Iterator[RulePage]:
    """Yield the page of every rule, in the order of `RULES`."""
    return map(rule_page, RULES)


def _page_in(docstring: str) -> Page:
    parts = []
    for section in _SECTIONS:
        before, _, docstring = docstring.partition(f"{section}:\n")
        parts.append(inspect.cleandoc(before))
    return Page(what=parts[1], why=parts[2], example=parts[3], instead=inspect.cleandoc(docstring))
