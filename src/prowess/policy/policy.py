"""Policy decisions about tool calls: deny takes precedence over ask, and ask over allow.

The order of the rules does not matter. Each policy file is a layer. A layer decides by its rules or, if none of its
rules matches the call, by its default (`ask` if the file sets none). The strictest decision of all layers applies, so
adding a layer never permits more. Without any file the built-in layer decides: it allows the skill tools, registered
functions, Read, Glob and Grep, and asks about Write, Edit, Bash, changes of packages and every unregistered tool.

Unloading a skill (`skills.unload`) is allowed regardless of rules and defaults; otherwise a restricted agent could not
lift the restrictions of a skill. There is one exception: a policy that cannot be read denies every call.

This module asks no person; approvers do (`prowess.policy.approval`).
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, Self

from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.errors import StoreError
from prowess.policy.approvals.matching import denied_until_approved, is_approved, missing_approval
from prowess.policy.blocks.blocked import NO_BLOCKS
from prowess.policy.combined_settings import CombinedSettings
from prowess.policy.decision import Allow, Ask, Decision, Deny, strictest
from prowess.policy.packages.deployment_age import deployment_of, too_old
from prowess.policy.restriction import decide
from prowess.policy.roles import operation_of
from prowess.policy.tool_names import (
    ALWAYS_ALLOWED,
    PACKAGE_TOOLS,
    SKILL_ARGUMENTS,
    SKILL_TOOLS,
    USER_TOOL,
    canonical_tool_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.errors import PolicyError
    from prowess.policy.approvals.rules import ApprovalRule
    from prowess.policy.approvals.statements import Approvals
    from prowess.policy.blocks.blocked import Blocks
    from prowess.policy.compiled_rules import CompiledRules
    from prowess.policy.decision import ApprovalNeeded
    from prowess.policy.facts.requester import Requester
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.policy_file import PolicyFile
    from prowess.policy.restriction import Restriction
    from prowess.policy.roles import Operation, PersonRole, RoleTable
    from prowess.policy.rule import PolicyCall, PolicyRule

BUILT_IN = "built-in"
UNRESTRICTED = "unrestricted-for-tests"

# Created once, because nearly every call of a session needs one of these decisions twice.
_ALLOWED = {
    tool: Allow(rule=BUILT_IN, reason=f"{tool} changes nothing outside the session")
    for tool in SKILL_TOOLS | {"Read", "Glob", "Grep"}
}
_GIVEN_UP = Allow(rule=BUILT_IN, reason="a skill can always be unloaded")
_OF_SKILLS = SKILL_TOOLS | {USER_TOOL}
_ASKING = frozenset({"Write", "Edit", "Bash", *PACKAGE_TOOLS})


class PolicySource(Protocol):
    """A source of the current policy: a fixed `Policy`, or a `PolicyInForce` that follows its files."""

    def now(self) -> Policy:
        """Return the current policy. During one call, every result is the same policy."""


class Policy(CombinedSettings, frozen=True, kw_only=True, dict=True):
    """A snapshot of everything that a session takes from policy, for one requester.

    `files` are the policy files, from the highest layer to the lowest. Without files the built-in policy applies.
    `blocks` are the blocked skills: no file permits a call about one of them. `approvals` are statements of people
    about skills, by the place that has them. `who` are the known facts about who makes the calls, for calls that do not
    state them. If `fault` is set, every call is denied. `store_fault` is set too if it is the store of an organisation
    that could not be read. `unrestricted` allows every call (see `unrestricted_for_tests`). `version` is a
    digest of the contents of the files, for records. `generation` counts the changes of the policy that this process
    has seen. Both are set by `prowess.policy.PolicyInForce`.
    """

    blocks: Blocks = NO_BLOCKS
    approvals: tuple[Approvals, ...] = ()
    who: Requester = MappingProxyType({})
    store_fault: StoreError | None = None
    unrestricted: bool = False
    version: str = ""
    generation: int = 0

    @classmethod
    def closed(cls, error: PolicyError | StoreError) -> Self:
        """Return a policy that denies every call because of `error`."""
        return cls(fault=str(error), store_fault=error if isinstance(error, StoreError) else None)

    @classmethod
    def unrestricted_for_tests(cls) -> Self:
        """Return a policy that allows every call, for hosts that test themselves with harmless tools.

        Audit records name it as the rule. On a machine with a policy file in `/etc/prowess`, every call is denied.
        """
        return cls(unrestricted=True)

    def now(self) -> Self:
        """Return this policy, which never changes. This makes a `Policy` a `PolicySource`."""
        return self

    def decide(self, call: PolicyCall, workspace: str | None = None) -> Decision:
        """Decide about one call. `workspace` is the directory that path globs are relative to."""
        if self.fault is not None:
            return Deny(rule="policy", reason=f"the policy cannot be read, so nothing is permitted: {self.fault}")
        if canonical_tool_name(call.tool) == ALWAYS_ALLOWED:
            return _GIVEN_UP
        if self.unrestricted:
            return Allow(rule=UNRESTRICTED, reason="this session is under test and has no policy")
        if not self.blocks.is_empty and (blocked := self.blocks.refusal(call)) is not None:
            return blocked
        if not self.files:
            return _built_in(call.tool, registered=call.registered)
        if call.who is None and self._needs_requester:
            call = replace(call, who=self.who)
        if (self._role_tables or self.hides_old) and (denied := self._limited(call)) is not None:
            return denied
        decision = strictest(tuple([_decide(file, self._for_file(file, call), workspace) for file in self.files]))
        if self._demands and not isinstance(decision, Deny) and (denied := self.approval_denial(call)) is not None:
            decision = denied
        if not self._monitored:
            return decision
        found = (rule.decision for rules in self._monitored for rule, _ in rules.applying(call, workspace))
        return replace(decision, monitored=tuple(found))

    @property
    def recorded_version(self) -> str:
        """Policy version for audit records: the digest of the files, or why there is no digest."""
        if self.fault is not None:
            return "invalid"
        if self.unrestricted:
            return UNRESTRICTED
        return self.version if self.files or self.blocks.files else BUILT_IN

    def role_denial(self, operation: Operation, who: Requester | None = None) -> Deny | None:
        """Return why the roles forbid an act to `who`, by default to the requester of this policy; None if they do not.

        A policy that cannot be read forbids everything.
        """
        if self.fault is not None:
            return Deny(rule="policy", reason=f"the policy cannot be read, so nothing is permitted: {self.fault}")
        asking = self.who if who is None else who
        found = (table.denial(operation, asking) for table in self._role_tables)
        return next((denied for denied in found if denied is not None), None)

    def roles_of(self, user: str, groups: Iterable[str] = ()) -> frozenset[PersonRole] | None:
        """Return the roles that every table gives to a user of these groups; None if there is no table."""
        # Not `held_by`: somebody else with the name of this process's user has none of its groups.
        named = frozenset(groups)
        held = [set(table.roles_of(user, named)) for table in self._role_tables]
        return frozenset(set.intersection(*held)) if held else None

    @cached_property
    def _role_tables(self) -> tuple[RoleTable, ...]:
        return tuple(file.roles for file in self.files if file.roles is not None)

    @property
    def may_deny(self) -> bool:
        """Whether a call may be denied: there are files or blocks, or a file cannot be read."""
        return bool(self.files) or self.fault is not None or not self.blocks.is_empty

    def missing_approval(self, skill: SkillIdentity) -> ApprovalNeeded | None:
        """Return the first approval that a skill lacks under the files, highest layer first; None if it is approved."""
        found = (missing_approval(rule, skill, self.approvals) for rule in self._demands)
        return next((missing for missing in found if missing is not None), None)

    def approval_denial(self, call: PolicyCall) -> Deny | None:
        """Return the denial of a call because of a missing approval; None if no approval is missing."""
        if canonical_tool_name(call.tool) not in SKILL_ARGUMENTS:
            return None
        for skill in call.about:
            for rule in () if skill.absent else self._demands:
                if (missing := missing_approval(rule, skill, self.approvals)) is not None:
                    return denied_until_approved(rule, skill, missing)
        return None

    def _for_file(self, file: PolicyFile, call: PolicyCall) -> PolicyCall:
        """Return the call with whether its skills are approved, if a rule of the file asks."""
        if not file.has_approved or call.skills is None:
            return call
        return replace(call, skills=tuple(self._with_approval(skill, file.path) for skill in call.skills))

    def _with_approval(self, skill: SkillIdentity, path: str) -> SkillIdentity:
        if skill.approved is not None or "approved" in skill.pending:
            return skill
        approved = is_approved(skill, self.approvals, path)
        return replace(skill, approved=approved and self.missing_approval(skill) is None)

    @cached_property
    def _demands(self) -> tuple[ApprovalRule, ...]:
        return tuple(rule for file in self.files for rule in file.approval_rules)

    @property
    def ends_of_approvals(self) -> tuple[float, ...]:
        """The times at which statements end, in seconds since the epoch."""
        lasts: dict[str, set[int | None]] = {}  # rules of two files may have one name
        for rule in self._demands:
            lasts.setdefault(rule.name, set()).add(rule.expires)
        statements = (one for place in self.approvals for one in place.statements)
        ends = {one.end(last) for one in statements for last in lasts.get(one.rule, {None})}
        return tuple(end.timestamp() for end in ends if end is not None)

    @cached_property
    def needs_trees(self) -> bool:
        """Whether the digest decides whether a skill is approved."""
        return bool(self._demands) or any(file.has_approved for file in self.files)

    @cached_property
    def _needs_requester(self) -> bool:
        return bool(self.who) and any(file.needs_requester for file in self.files)

    @cached_property
    def _monitored(self) -> tuple[CompiledRules, ...]:
        return tuple(file.monitored for file in self.files if not file.monitored.is_empty)

    @cached_property
    def needs_skills(self) -> bool:
        """Whether a rule needs facts about a call's skills other than the names in its arguments."""
        return self.hides_old or not self.blocks.is_empty or any(file.needs_skills for file in self.files)

    @property
    def needs_digests(self) -> bool:
        """Whether a decision about one skill needs a fact that requires reading its files."""
        return bool(self._demands) or self.lists_need_digests

    @property
    def lists_need_digests(self) -> bool:
        """Whether a rule or block that may hide skills needs a fact that requires reading their files."""
        return self.blocks.needs_digests or any(file.needs_digests for file in self.files)

    @property
    def needs_files(self) -> bool:
        """Whether a rule needs the digests of single files or the capabilities of a skill."""
        return self.blocks.needs_files or any(file.needs_files for file in self.files)

    @property
    def needs_findings(self) -> bool:
        """Whether a rule needs the worst security finding on a skill."""
        return any(file.needs_findings for file in self.files)

    def old_deployments(self, skills: Iterable[SkillIdentity]) -> tuple[str, ...]:
        """Return a sentence for each deployment of these skills that is too old. Empty with `too_old = "keep"`."""
        max_age = self.max_age
        if max_age is None or self.too_old == "keep":
            return ()
        roots = dict.fromkeys(root for skill in skills if (root := deployment_of(skill)) is not None)
        return tuple(reason for root in roots if (reason := too_old(root, max_age)) is not None)

    def _limited(self, call: PolicyCall) -> Deny | None:
        """Return the denial of a call by roles, or by the age of a deployment."""
        tool = canonical_tool_name(call.tool)
        if (operation := operation_of(tool)) is not None:
            denied = self.role_denial(operation, call.who)
            if denied is not None:
                return denied
        return self._too_old(call) if self.hides_old and tool in _OF_SKILLS else None

    def _too_old(self, call: PolicyCall) -> Deny | None:
        for reason in self.old_deployments(call.about):
            origin = next(one.origin for one in self.package_rules if one.max_age == self.max_age)
            return Deny(rule="packages.too_old", reason=f"{reason}; `prowess sync` renews it", origin=origin)
        return None


def _decide(file: PolicyFile, call: PolicyCall, workspace: str | None) -> Decision:
    if file.packages is not None and (refused := file.packages.refusal(call)) is not None:
        return refused
    if (found := file.compiled.first(call, workspace)) is not None:
        rule, fit = found
        return rule.decision if fit.certain else rule.decided(_doubtful(rule, fit.reason))
    return _built_in(call.tool, registered=call.registered) if file.built_in else file.unmatched


def _doubtful(rule: PolicyRule, doubt: str) -> str:
    # A possible match counts as a match. The reason explains the doubt, so that the caller can rewrite the call.
    return f"{rule.decision.reason} (a match cannot be ruled out: {printable_line(doubt[:300])})"


def _built_in(name: str, *, registered: bool) -> Decision:
    tool = canonical_tool_name(name)
    if tool in _ASKING:
        return Ask(rule=BUILT_IN, reason=f"{tool} changes things, so a person is asked", by_default=True)
    if (allowed := _ALLOWED.get(tool)) is not None:
        return allowed
    if registered:
        return Allow(rule=BUILT_IN, reason="the host registered the tool")
    return Ask(rule=BUILT_IN, reason="the tool is not registered", by_default=True)


def decide_call(
    call: PolicyCall, active: Sequence[Restriction], policy: Policy | None = None, workspace: str | None = None
) -> Decision:
    """Decide about a call by the policy and the restrictions of active skills. Asks no person and runs no tool.

    The checks have the order of a session's gates. First the policy may deny the call, then a skill may refuse it. If
    neither does, the call is asked about or allowed. If `policy` is None, only the restrictions decide. The decision
    names the monitored rules of the policy, whoever made it. This function is for hosts that run their tools
    themselves.
    """
    by_policy = None if policy is None else policy.decide(call, workspace)
    if isinstance(by_policy, Deny):
        return by_policy
    by_skills = decide(call.tool, call.arguments, active, workspace)
    if by_policy is None:
        return by_skills
    by_skills = replace(by_skills, monitored=by_policy.monitored)
    if isinstance(by_skills, Deny):
        return by_skills
    if isinstance(by_skills, Ask):
        return strictest((by_policy, by_skills))
    if isinstance(by_policy, Ask) and by_policy.by_default and by_skills.preapproved_by is not None:
        return by_skills
    return by_policy
