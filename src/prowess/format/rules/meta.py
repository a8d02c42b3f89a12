"""The declaration of a rule: its id, its severity in each profile, its summary and its documentation page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from prowess.diagnostics import Fix, Location


class Page(Struct, frozen=True, kw_only=True):
    """The documentation of a rule: four paragraphs of Markdown."""

    what: str
    why: str
    example: str
    instead: str


class Severities(Struct, frozen=True, kw_only=True):
    """The severity of a rule in each profile; `None` if the profile does not report the rule."""

    spec: Severity | None = None
    skills_ref: Severity | None = None
    skillscraft: Severity | None = None
    boxxy: Severity | None = None
    claude_code: Severity | None = None
    lenient: Severity | None = None


class RuleMeta(Struct, frozen=True, kw_only=True):
    """The declaration of a rule.

    `family` is `spec`, `lint`, `security` or `catalog`. `source` is the document that gives the advice. `since` is the
    version that added the rule. `fixes` describes the rule's fix, or is `None` if it has no fix. `page` is `None` for a
    rule that is a class: the docstring of the class is its page. Rules, and findings at one place, are sorted by
    `order`, then by id. At most `most` findings are reported for a skill, because more findings would have the same
    cause.
    """

    id: str
    family: str = "lint"
    severities: Severities
    summary: str
    source: str = "Agent Skills specification"
    since: str = "0.1.0"
    fixes: str | None = None
    page: Page | None = None
    order: int = 1000
    most: int | None = None

    @property
    def severity(self) -> Severity:
        """The default severity of a finding, before a profile is applied.

        This severity is also used if the user selects a rule that the profile does not report. It is the severity in
        `spec`, else in `lenient`, else in the first profile that reports the rule, else info.
        """
        by = self.severities
        others = (by.skills_ref, by.skillscraft, by.boxxy, by.claude_code)
        return by.spec or by.lenient or next(filter(None, others), Severity.INFO)

    def severity_in(self, profile: str) -> Severity | None:
        """Return the severity in the named profile; `None` if the profile does not report the rule."""
        severity: Severity | None = getattr(self.severities, profile.replace("-", "_"))
        return severity

    def found(
        self, message: str, location: Location, *, detail: str | None = None, fix: Fix | None = None
    ) -> Diagnostic:
        """Return a finding of this rule at its default severity."""
        return Diagnostic(
            rule=self.id,
            family=self.family,
            severity=self.severity,
            message=message,
            location=location,
            detail=detail,
            fix=fix,
        )


E, W, I, N = Severity.ERROR, Severity.WARNING, Severity.INFO, None  # noqa: E741 -- one letter per cell keeps the table readable
Cell = Severity | None


def rule_row(
    rule: str,
    severities: tuple[Cell, Cell, Cell, Cell, Cell, Cell],
    summary: str,
    page: tuple[str, str, str, str],
    *,
    family: str = "spec",
    source: str = "Agent Skills specification",
    fixes: str | None = None,
) -> RuleMeta:
    """Return a rule from one row of a table. The columns of `severities` are the profiles, in the order of `PROFILES`.

    `page` has the four texts of `Page`, in the order of its fields.
    """
    return RuleMeta(
        id=rule,
        family=family,
        severities=Severities(**dict(zip(Severities.__struct_fields__, severities, strict=True))),
        summary=summary,
        source=source,
        fixes=fixes,
        page=Page(**dict(zip(Page.__struct_fields__, page, strict=True))),
    )
