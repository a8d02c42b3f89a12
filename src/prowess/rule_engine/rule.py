"""A rule: `meta` declares it, `check` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.diagnostics import Diagnostic
    from prowess.format.rules.meta import RuleMeta

Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Rule(Protocol[Subject_contra]):
    """One rule over one kind of subject. It reads nothing but the subject and raises nothing."""

    meta: ClassVar[RuleMeta]

    def check(self, subject: Subject_contra) -> Iterable[Diagnostic]:
        """Return every place where the subject breaks the rule."""
        ...
