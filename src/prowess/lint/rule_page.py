"""The page of a rule: what it does, why it matters, an example and what to write instead, with severities and fix.

Rules of advice have their page in the docstring of their class, rules of the format in `format.rule_pages`; both give
the same kind of page, for the terminal, the documentation and editors.

    assert rule_page("name.format").severities["lenient"] == "warning"
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.format.profiles import PROFILES
from prowess.format.rule_pages import FORMAT_PAGES, Page
from prowess.format.rule_table import RULES
from prowess.lint.linting import LINT_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.lint.subject import LintSubject
    from prowess.rule_engine import Rule

_SECTIONS = ("What it does:", "Why it matters:", "Example:", "Instead:")
_SPECIFICATION, _EXTENDED = "Agent Skills specification", "agent skills platform, YAML frontmatter fields"
_SOURCES = {
    "manifest": "skillscraft specification reference, extended specification",
    "security": "skillscraft specification reference, extended specification",
    "testing": "skillscraft specification reference, extended specification",
    "tools": "skillscraft specification reference, extended specification",
    "composition": "skillscraft specification reference, extended specification",
}
_FIXES = {
    "encoding.bom": "removes it",
    "frontmatter.notFirst": "removes the blank lines before it",
    "frontmatter.syntax": "quotes the value that YAML refuses",
    "frontmatter.duplicateKey": "removes the second one; without --unsafe-fixes only a mere repetition",
    "metadata.duplicateKey": "removes the second one; without --unsafe-fixes only a mere repetition",
    "frontmatter.unknownField": "moves it under metadata",
    "metadata.valueType": "quotes it",
    "name.required": "names it after its directory",
    "name.format": "writes the nearest name that is right",
    "name.matchesDirectory": "renames the skill, with --unsafe-fixes",
    "allowed-tools.type": "writes the tokens as a text",
    "allowed-tools.separator": "writes blanks",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePage:
    """One page. `severities` go by profile, None for one that does not report it; `fix` is None where there is none."""

    id: str
    family: str
    summary: str
    page: Page
    severities: Mapping[str, str | None]
    fix: str | None
    since: str
    source: str

    def markdown(self) -> str:
        """The page as Markdown, its title the id."""
        levels = ", ".join(f"{profile} {level or 'off'}" for profile, level in self.severities.items())
        return "\n\n".join(
            (
                f"# {self.id}",
                self.summary,
                f"## What it does\n\n{self.page.what}",
                f"## Why it matters\n\n{self.page.why}",
                f"## Example\n\n{self.page.example}",
                f"## Instead\n\n{self.page.instead}",
                f"## Severity\n\n{levels}.",
                f"Fix: {self.fix or 'none; a person has to decide'}.",
                f"Family: {self.family}. Since: {self.since}. Source: {self.source}.\n",
            )
        )


def rule_page(rule: str) -> RulePage:
    """Return the page of a rule.

    Raises:
        InvalidArgumentsError: there is none of this id; the sentence names the nearest.
    """
    if rule not in RULES:
        # Imported here, not at the top: only a wrong id needs them.
        from difflib import get_close_matches

        from prowess.errors import InvalidArgumentsError

        folded = {name.casefold(): name for name in RULES}
        near = get_close_matches(rule.casefold(), folded, n=1, cutoff=0.6)
        hint = f"did you mean {folded[near[0]]}?" if near else "`prowess rule` lists them"
        raise InvalidArgumentsError((f"no rule is called {rule!r}; {hint}",))
    row = RULES[rule]
    advice = next((one for one in LINT_RULES if one.meta.id == rule), None)
    return RulePage(
        id=rule,
        family=row.family,
        summary=row.summary,
        page=FORMAT_PAGES[rule] if advice is None else _page_of(advice),
        severities={
            profile: None if (level := row.severity_in(profile)) is None else str(level) for profile in PROFILES
        },
        fix=_FIXES.get(rule) if advice is None else advice.meta.fixes,
        since="0.1.0" if advice is None else advice.meta.since,
        source=_source(rule) if advice is None else advice.meta.source,
    )


def rule_pages() -> Iterator[RulePage]:
    """Yield the page of every rule, in the order of the table."""
    return map(rule_page, RULES)


def _source(rule: str) -> str:
    extended = RULES[rule].spec is None
    return _SOURCES.get(rule.partition(".")[0], _EXTENDED if extended else _SPECIFICATION)


def _page_of(rule: Rule[LintSubject]) -> Page:
    text = inspect.getdoc(type(rule)) or ""
    parts = []
    for section in _SECTIONS:
        before, _, text = text.partition(f"{section}\n")
        parts.append(before)
    return Page(*(inspect.cleandoc(part) for part in (*parts[1:], text)))
