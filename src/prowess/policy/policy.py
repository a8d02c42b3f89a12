"""A policy decides about calls: deny beats ask, ask beats allow, in whatever order the rules stand.

Each file is a layer with a decision of its own: by its rules, or where none is about the call by its default (`ask`
where it sets none). The strictest of the layers' decisions holds, so a layer can only tighten what another says.
Without any file the built-in layer decides: the skill tools, registered functions, Read, Glob and Grep are allowed,
Write, Edit and Bash ask, and so does whatever is not registered.

Giving a skill up (`skills.unload`) is allowed whatever the rules and defaults say, or what a skill restricts could not
be lifted by the agent that it restricts. Only a policy that cannot be read denies it, with everything else.

Nothing here asks anybody; that is an approver's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, Self

from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.policy.decision import Allow, Ask, Decision, Deny, strictest
from prowess.policy.restriction import RESTRICTION_MODES, decide
from prowess.policy.tool_names import ALWAYS_ALLOWED, SKILL_TOOLS, canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.errors import PolicyError
    from prowess.policy.policy_file import PolicyFile
    from prowess.policy.restriction import Restriction, RestrictionMode
    from prowess.policy.rule import Effect, PolicyCall, PolicyRule

DEFAULT_EFFECT: Effect = "ask"
BUILT_IN = "built-in"
UNRESTRICTED = "unrestricted-for-tests"
DIGEST = "skill.digest"

# Made once: nearly every call of a session meets one of these, twice.
_ALLOWED = {
    tool: Allow(rule=BUILT_IN, reason=f"{tool} changes nothing outside the session")
    for tool in SKILL_TOOLS | {"Read", "Glob", "Grep"}
}
_GIVEN_UP = Allow(rule=BUILT_IN, reason="a skill can always be given up")
_DECISIONS: dict[Effect, type[Allow | Ask | Deny]] = {"allow": Allow, "ask": Ask, "deny": Deny}
_ASKING = frozenset({"Write", "Edit", "Bash"})


class PolicySource(Protocol):
    """Something that knows the policy of this moment: a `Policy`, or a `PolicyInForce` that follows its files."""

    def now(self) -> Policy:
        """Return the policy; during one call it is the same."""


class Policy(Struct, frozen=True, kw_only=True):
    """What is permitted here; `files` from the highest layer to the lowest, none for the built-in policy.

    `fault` is set where a file could not be read: then everything is denied and every setting is the strictest.
    `unrestricted` allows everything (see `unrestricted_for_tests`). `version` is a digest of what the files say, for
    records, and `generation` counts the changes that a process has met; `prowess.policy.PolicyInForce` sets both.
    """

    files: tuple[PolicyFile, ...] = ()
    fault: str | None = None
    unrestricted: bool = False
    version: str = ""
    generation: int = 0

    @classmethod
    def closed(cls, error: PolicyError) -> Self:
        """Return the policy that denies everything because of `error`."""
        return cls(fault=str(error))

    @classmethod
    def unrestricted_for_tests(cls) -> Self:
        """Return a policy that allows every call, for hosts that test themselves with tools that matter to nobody.

        Each call that it allows is recorded with this rule. On a machine with a policy file below `/etc/prowess` a
        session under it denies everything.
        """
        return cls(unrestricted=True)

    def now(self) -> Self:
        """Return this policy: a fixed one is a source of policies that never changes."""
        return self

    def decide(self, call: PolicyCall, workspace: str | None = None) -> Decision:
        """Decide about one call; `workspace` is the directory that path globs hang from."""
        if self.fault is not None:
            return Deny(rule="policy", reason=f"the policy cannot be read, so nothing is permitted: {self.fault}")
        if canonical_tool_name(call.tool) == ALWAYS_ALLOWED:
            return _GIVEN_UP
        if self.unrestricted:
            return Allow(rule=UNRESTRICTED, reason="this session is under test and has no policy")
        if not self.files:
            return _built_in(call.tool, registered=call.registered)
        return strictest(tuple(_decide(file, call, workspace) for file in self.files))

    @property
    def recorded_version(self) -> str:
        """What a record of a decision names: the digest of the files, or why there are none."""
        if self.fault is not None:
            return "invalid"
        if self.unrestricted:
            return UNRESTRICTED
        return self.version if self.files else BUILT_IN

    @property
    def needs_skills(self) -> bool:
        """Whether a rule asks more of a call's skills than the names among its arguments."""
        return any(rule.needs_skills for file in self.files for rule in file.rules)

    @property
    def needs_digests(self) -> bool:
        """Whether a rule asks for the digest of a skill, for which its files must be read."""
        return any(match.argument == DIGEST for file in self.files for rule in file.rules for match in rule.matches)

    @property
    def audit_required(self) -> bool:
        """Whether a call that cannot be recorded must not run; false unless a file says so."""
        return self.fault is not None or any(file.audit_required for file in self.files)

    @property
    def allowed_tools(self) -> RestrictionMode:
        """How skills' allowed-tools are read: the strictest mode that a file sets, `restrict` if none does."""
        return self.mode_of_sessions()

    def mode_of_sessions(
        self, chosen: RestrictionMode | None = None, default: RestrictionMode = "restrict"
    ) -> RestrictionMode:
        """Return how a session reads allowed-tools: the strictest of what files set and its host chose.

        `default` counts if neither says anything.
        """
        if self.fault is not None:
            return "restrict"
        said = {chosen, *(file.allowed_tools for file in self.files)}
        return next((mode for mode in RESTRICTION_MODES if mode in said), default)

    @property
    def dynamic_commands(self) -> bool:
        """Whether commands inside instructions may run: a file says so and none says no."""
        return _switched_on(file.dynamic_commands for file in self.files)

    @property
    def read_scripts(self) -> bool:
        """Whether a model may read the text of scripts: a file says so and none says no."""
        return _switched_on(file.read_scripts for file in self.files)

    @property
    def script_dirs(self) -> tuple[str, ...]:
        """The directories of a skill whose scripts may run: what all files that name some have in common."""
        said = [file.script_dirs for file in self.files if file.script_dirs is not None]
        if not said:
            return () if self.fault else ("scripts",)
        first, *others = said
        for other in others:
            first = _inside_both(first, other)
        return tuple(dict.fromkeys(first))

    @property
    def env_allow(self) -> tuple[str, ...]:
        """The variables of the host that scripts are given: what all files that name some have in common."""
        said = [file.env_allow for file in self.files if file.env_allow is not None]
        return tuple(name for name in said[0] if all(name in other for other in said[1:])) if said else ()

    def files_that_set(self, setting: Literal["script_dirs", "env_allow"]) -> tuple[str, ...]:
        """Return the paths of the files that say something about a setting, from the highest layer to the lowest."""
        return tuple(file.path for file in self.files if getattr(file, setting) is not None)


def _decide(file: PolicyFile, call: PolicyCall, workspace: str | None) -> Decision:
    for effect in ("deny", "ask", "allow"):
        for rule in file.rules:
            if rule.effect == effect and (fit := rule.applies(call, workspace)) is not None:
                return _by_rule(rule, None if fit.certain else fit.reason)
    effect = file.default or DEFAULT_EFFECT
    said = "its default" if file.default else "no rule is about it and the file sets no default"
    reason = f"{file.path}: {said}"
    if effect == "ask":
        return Ask(rule="default", reason=reason, by_default=True)
    return _DECISIONS[effect](rule="default", reason=reason)


def _by_rule(rule: PolicyRule, doubt: str | None) -> Decision:
    reason = rule.reason or f"the rule is '{rule}'"
    if doubt is not None:
        # What may be meant counts as meant; the caller learns how to write it so that it can be told.
        reason = f"{reason} (it cannot be ruled out here: {printable_line(doubt[:300])})"
    return _DECISIONS[rule.effect](rule=str(rule), reason=reason, origin=rule.origin)


def _built_in(name: str, *, registered: bool) -> Decision:
    tool = canonical_tool_name(name)
    if tool in _ASKING:
        return Ask(rule=BUILT_IN, reason=f"{tool} changes things, so a person is asked", by_default=True)
    if (allowed := _ALLOWED.get(tool)) is not None:
        return allowed
    if registered:
        return Allow(rule=BUILT_IN, reason="the host registered it")
    return Ask(rule=BUILT_IN, reason="nobody registered it", by_default=True)


def _switched_on(values: Iterable[bool | None]) -> bool:
    return {value for value in values if value is not None} == {True}


def _inside_both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories that lie in both lists: of two that are nested, the inner one."""
    return tuple(
        one if _is_below(one, other) else other
        for one in some
        for other in others
        if _is_below(one, other) or _is_below(other, one)
    )


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory}/")


def decide_call(
    call: PolicyCall, active: Sequence[Restriction], policy: Policy | None = None, workspace: str | None = None
) -> Decision:
    """Return what policy and active skills together decide about a call, without asking or running anything.

    The order is that of the gates before a run: the policy denies, then a skill refuses, then what is left is asked
    about or allowed. Without a policy the skills alone decide. A host that runs its tools itself asks here.
    """
    by_policy = None if policy is None else policy.decide(call, workspace)
    if isinstance(by_policy, Deny):
        return by_policy
    by_skills = decide(call.tool, call.arguments, active, workspace)
    if by_policy is None or isinstance(by_skills, Deny):
        return by_skills
    if isinstance(by_skills, Ask):
        return strictest((by_policy, by_skills))
    if isinstance(by_policy, Ask) and by_policy.by_default and by_skills.preapproved_by is not None:
        return by_skills
    return by_policy
