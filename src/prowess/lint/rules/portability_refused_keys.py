"""The rule `portability.refusedKeys`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_FACTORY = frozenset({"license", "compatibility", "metadata", "allowed-tools"})


class PortabilityRefusedKeys(LintRule):
    """A field that a known host refuses.

    What it does:
        Looks for `license`, `compatibility`, `metadata` and `allowed-tools`, which Factory refuses.

    Why it matters:
        The fields are part of the specification, but Factory does not load a skill that has one of them.

    Example:
        `license: MIT` in a skill for Factory

    Instead:
        Keep the field in the skill, and remove it from the copy for Factory.
    """

    meta = RuleMeta(
        id="portability.refusedKeys",
        order=33,
        severities=Severities(),
        summary="No field is refused by a known host.",
        source="reports on Factory",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the first field that Factory refuses. The finding names all such fields."""
        keys = [field.key for field in subject.document.fields if field.key in _FACTORY]
        if keys:
            yield self.meta.found(
                f"Factory refuses {', '.join(keys)}; remove them from the copy for Factory",
                subject.field_place(keys[0]),
            )
