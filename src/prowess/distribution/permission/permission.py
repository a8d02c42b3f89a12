"""The questions of one command: may these skills be fetched, and may this change be made?

The policy is asked twice. Before anything is fetched, name and source are known, and rules about the digest or the
publisher wait. Before the lock changes, all facts are known, and the change itself is the tool call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from prowess import lockfile
from prowess.distribution import permission
from prowess.distribution.permission.facts import CallRules, PackageFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prowess.distribution.permission.package_calls import PackageCalls
    from prowess.lockfile.source_reference import SourceReference

T = TypeVar("T")


class Permission:
    """Asks for permission for the changes of one command. `rules` is called at the first question."""

    def __init__(self, tool: str, scope: str, rules: Callable[[], CallRules] = CallRules) -> None:
        self.tool, self.scope = tool, scope
        self._rules = rules
        self._calls: PackageCalls | None = None
        self._asked: set[tuple[str, str | None]] = set()

    def before_fetch(self, reference: SourceReference, names: Iterable[str] = ()) -> None:
        """Ask before a source is contacted, or before skills of it are fetched. Each question is asked once.

        Raises:
            PolicyDeniedError: the policy refuses it.
            ApprovalRequiredError: a rule asks, and no person can be asked.
            AuditError: the question cannot be recorded.
        """
        source = reference.source
        wanted: list[str | None] = [name for name in dict.fromkeys(names) if (source, name) not in self._asked]
        if not wanted and not any(asked == source for asked, _ in self._asked):
            wanted = [None]
        if wanted:
            facts = [PackageFacts(name=name, sources=lockfile.source_names(reference)) for name in wanted]
            self.calls.ask(self.tool, self.scope, facts)
            self._asked |= {(source, name) for name in wanted}

    def carry_out(self, changes: Sequence[tuple[str, PackageFacts]], work: Callable[[], T]) -> T:
        """Do the work if every change is permitted: pairs of a tool and the facts about a skill.

        Raises as `before_fetch`, and whatever the work raises.
        """
        tools = dict.fromkeys(tool for tool, _ in changes) or {self.tool: None}
        *first, last = tools
        for tool in first:
            self.calls.ask(tool, self.scope, [facts for own, facts in changes if own == tool], final=True)
        return self.calls.do(last, self.scope, [facts for own, facts in changes if own == last], work)

    @property
    def calls(self) -> PackageCalls:
        """The tools of packages, which are made at the first question."""
        if self._calls is None:
            self._calls = permission.PackageCalls(self._rules())
        return self._calls
