"""The rule `body.validationLoop`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_RISKY = ("delete ", "deploy", "migrat", "overwrit", "drop table")
_CHECKS = ("verify", "validat", "check", "test", "confirm", "dry-run", "review")


class BodyValidationLoop(LintRule):
    """A risky procedure without a check.

    What it does:
        Looks for words such as verify, validate, check or test in a body that deletes, deploys, migrates or overwrites.

    Why it matters:
        A change that cannot be undone has to be checked before and after.

    Example:
        Delete the old rows, then deploy.

    Instead:
        Plan, check the plan, carry out the plan, check the result. If the result is wrong, correct it and check again.
    """

    meta = RuleMeta(
        id="body.validationLoop",
        order=57,
        severities=Severities(),
        summary="A risky procedure checks its result.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if any(word in subject.lower for word in _RISKY) and not any(word in subject.lower for word in _CHECKS):
            yield self.meta.found(
                "the procedure makes permanent changes without a check; add a step that checks the result",
                subject.body_start,
            )
