"""Rules and their registry: `meta` declares a rule, `check` finds; each id is registered once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.format.rules.meta import RuleMeta

Subject = TypeVar("Subject")


class RuleRegistry(Generic[Subject]):
    """Rules over one kind of subject, ordered by the `order` and id of each.

    Raises:
        ValueError: two rules have one id.
    """

    def __init__(self, *rules: Rule[Subject]) -> None:
        ordered = sorted(rules, key=lambda rule: (rule.meta.order, rule.meta.id))
        self._rules = {rule.meta.id: rule for rule in ordered}
        if len(self._rules) != len(rules):
            ids = [rule.meta.id for rule in rules]
            twice = sorted({name for name in ids if ids.count(name) > 1})
            message = f"rule ids must be unique: {', '.join(twice)}"
            raise ValueError(message)

    def __iter__(self) -> Iterator[Rule[Subject]]:
        return iter(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, rule_id: str) -> Rule[Subject]:
        return self._rules[rule_id]

    def check(self, subject: Subject, keeps: Callable[[RuleMeta], bool] | None = None) -> list[Diagnostic]:
        """Return what the rules find, in their order, at default severities; those that `keeps` refuses do not run."""
        return [found for rule in self if keeps is None or keeps(rule.meta) for found in rule.check(subject)]


Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Rule(Protocol[Subject_contra]):
    """One rule over one kind of subject. It reads nothing but the subject and raises nothing."""

    meta: ClassVar[RuleMeta]

    def check(self, subject: Subject_contra) -> Iterable[Diagnostic]:
        """Return every place where the subject breaks the rule."""
        ...
