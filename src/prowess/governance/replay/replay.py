"""The replay of recorded calls under a policy: who would have been denied or asked, and by which rule.

Each call is decided by `Policy.decide`, calls with equal facts once. A record lacks values that rules can match, such
as most arguments. Such a call is decided three times: with every pending value as a match for rules that allow, for
rules that ask, and for rules that deny or ask. Every effect that the call can have is among these three. If they
differ, the effect is `unknown`. Groups of users, approvals of skills and ages of deployments are not recorded either. A
call that depends on them is `unknown`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, assert_never

from msgspec import UNSET, Struct
from msgspec.structs import replace

from prowess.governance.replay.recorded_facts import policy_call
from prowess.policy.decision import Allow, Ask, Decision, Deny
from prowess.policy.packages.deployment_age import deployment_of
from prowess.policy.roles import operation_of
from prowess.policy.tool_names import canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.governance.replay.recorded_facts import RecordedFacts
    from prowess.policy.policy import Policy
    from prowess.policy.policy_file import PolicyFile
    from prowess.policy.rule import Effect

ReplayedEffect = Literal["allow", "ask", "deny", "unknown"]
_EFFECTS: tuple[ReplayedEffect, ...] = ("allow", "ask", "deny", "unknown")
_ASSUMPTIONS: tuple[frozenset[Effect], ...] = (frozenset({"allow"}), frozenset({"ask"}), frozenset({"ask", "deny"}))
_MOST_GROUPS = 100_000  # of equal facts in memory


class ReplayedRule(Struct, frozen=True, kw_only=True):
    """A rule that would have denied or asked. `first` and `last` are the least and the greatest number of a record."""

    rule: str
    origin: str | None
    effect: ReplayedEffect
    records: int
    first: int
    last: int


class ReplayedUser(Struct, frozen=True, kw_only=True):
    """The calls of one user, None if the user is not known."""

    user: str | None
    records: int
    allow: int
    ask: int
    deny: int
    unknown: int
    changed: int


class Replayed(Struct, frozen=True, kw_only=True):
    """The result of a replay. `records` counts the calls, and `changed` those whose effect would have been another one.

    `newly_denied` counts the calls that were allowed or asked about, and would have been denied. `verified` is true if
    the records were verified: by their hash chain in a file, by the signed checkpoint in a store.
    """

    records: int
    verified: bool
    allow: int
    ask: int
    deny: int
    unknown: int
    changed: int
    newly_denied: int
    by_rule: tuple[ReplayedRule, ...]
    by_user: tuple[ReplayedUser, ...]


class CallGroup:
    """Counts calls with equal facts, which are decided once: how many there are, and with which recorded effect."""

    __slots__ = ("allow", "ask", "count", "deny", "first", "last")

    def __init__(self) -> None:
        self.count = self.first = self.last = self.allow = self.ask = self.deny = 0

    def add(self, sequence: int, recorded: Effect | None) -> None:
        """Add a call. `recorded` is None if no policy decided about it."""
        if not self.count:
            self.first = self.last = sequence
        elif sequence > self.last:
            self.last = sequence
        elif sequence < self.first:
            self.first = sequence
        self.count += 1
        if recorded == "allow":
            self.allow += 1
        elif recorded == "deny":
            self.deny += 1
        elif recorded == "ask":
            self.ask += 1

    def changed(self, effect: Effect) -> int:
        """Return the number of calls whose recorded effect is another one."""
        recorded: int = getattr(self, effect)
        return self.allow + self.ask + self.deny - recorded


class Replay:
    """Collects recorded calls and decides them. Needs memory for the different facts, not for each call.

    `people` has the names of users whom the records know by a pseudonym. `check` is called before each decision, and
    may raise to end the replay.
    """

    def __init__(
        self,
        policy: Policy,
        people: Mapping[str, str] = MappingProxyType({}),
        check: Callable[[], None] | None = None,
    ) -> None:
        self._people, self._check = people, check
        timeless = replace(policy, files=tuple(map(_as_recorded, policy.files)))
        approved = replace(timeless, files=tuple(replace(file, approval_rules=()) for file in timeless.files))
        self._assumptions = tuple((approved if "allow" in fits else timeless, fits) for fits in _ASSUMPTIONS)
        self._hides_old = policy.hides_old
        self._has_groups = any(map(_has_groups, policy.files))
        self._has_roles = any(file.roles is not None for file in policy.files)
        self._sources = tuple(
            pattern
            for file in policy.files
            for rule in file.rules
            for match in rule.matches
            if match.argument == "skill.source"
            for pattern in match.patterns
        )
        self._groups: dict[RecordedFacts | None, CallGroup] = {}
        self.settled = 0  # how often groups were decided and forgotten
        self._rules: dict[tuple[str, str | None, ReplayedEffect], list[int]] = {}
        self._users: dict[str | None, dict[str, int]] = {}
        self._newly_denied = 0

    def take(self, sequence: int, facts: RecordedFacts | None, recorded: Effect | None) -> None:
        """Add a call. `facts` is None if they cannot be read, `recorded` if no policy decided about the call."""
        self.group_of(facts).add(sequence, recorded)

    def group_of(self, facts: RecordedFacts | None) -> CallGroup:
        """Return the group of the calls with these facts. If `settled` grew meanwhile, groups from before are void."""
        group = self._groups.get(facts)
        if group is None:
            if len(self._groups) >= _MOST_GROUPS:
                self._settle()
            group = self._groups[facts] = CallGroup()
        return group

    def result(self, *, verified: bool) -> Replayed:
        """Decide the calls that were taken, and return all counts."""
        self._settle()
        rules = [
            ReplayedRule(rule=rule, origin=origin, effect=effect, records=count, first=first, last=last)
            for (rule, origin, effect), (count, first, last) in self._rules.items()
        ]
        users = [ReplayedUser(user=user, **counts) for user, counts in self._users.items()]
        totals = {key: sum(counts[key] for counts in self._users.values()) for key in _COUNTS}
        return Replayed(
            **totals,
            newly_denied=self._newly_denied,
            verified=verified,
            by_rule=tuple(sorted(rules, key=lambda one: (one.effect != "deny", -one.records, one.rule))),
            by_user=tuple(sorted(users, key=lambda one: (-one.deny, -one.ask, -one.unknown, one.user or ""))),
        )

    def _settle(self) -> None:
        self.settled += 1
        for recorded_facts, group in self._groups.items():
            if self._check is not None:
                self._check()
            count, first, last = group.count, group.first, group.last
            facts = self._named(recorded_facts)
            effect, decision = ("unknown", None) if facts is None else self._decided(facts)
            user = facts.user if facts is not None and isinstance(facts.user, str) else None
            counts = self._users.setdefault(user, dict.fromkeys(_COUNTS, 0))
            counts["records"] += count
            counts[effect] += count
            if effect != "unknown":
                counts["changed"] += group.changed(effect)
            if effect == "deny":
                self._newly_denied += group.changed(effect)
            if decision is not None and effect != "allow":
                origin = None if decision.origin is None else str(decision.origin)
                rule = self._rules.setdefault((decision.id or decision.rule, origin, effect), [0, first, last])
                rule[:] = rule[0] + count, min(rule[1], first), max(rule[2], last)
        self._groups.clear()

    def _named(self, facts: RecordedFacts | None) -> RecordedFacts | None:
        if facts is None or not isinstance(facts.user, str) or facts.user not in self._people:
            return facts
        return replace(facts, user=self._people[facts.user])

    def _decided(self, facts: RecordedFacts) -> tuple[ReplayedEffect, Decision | None]:
        call = policy_call(facts, self._sources)
        if call is None:
            return "unknown", None
        decision, *others = (policy.decide(replace(call, pending_fits=fits)) for policy, fits in self._assumptions)
        effect = _effect(decision)
        is_limited = self._has_roles and operation_of(canonical_tool_name(call.tool)) is not None
        is_deployed = self._hides_old and any(deployment_of(skill) is not None for skill in call.skills or ())
        is_open = effect != "deny" and (is_deployed or (is_limited and self._has_groups))
        is_nobody = is_limited and (facts.user is UNSET or facts.team is UNSET)
        if is_open or is_nobody or any(_effect(other) != effect for other in others):
            return "unknown", None
        return effect, decision


def _as_recorded(file: PolicyFile) -> PolicyFile:
    """Return a file without facts that no record has: the age of a deployment, and the groups of a user."""
    if file.packages is not None:
        file = replace(file, packages=replace(file.packages, max_age=None))
    return replace(file, roles=None) if _has_groups(file) else file


def _has_groups(file: PolicyFile) -> bool:
    return file.roles is not None and any(one.groups for one in file.roles.members)


def _effect(decision: Decision) -> Effect:
    match decision:
        case Allow():
            return "allow"
        case Ask():
            return "ask"
        case Deny():
            return "deny"
        case _:
            assert_never(decision)


_COUNTS = ("records", *_EFFECTS, "changed")
