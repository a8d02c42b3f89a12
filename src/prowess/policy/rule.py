"""One rule of a policy: an effect on the calls that match it.

A rule matches a call if its glob matches the whole tool name and its patterns match the arguments. A rule that allows
needs a certain match of every argument. For a rule that denies or asks, a possible match is enough, so that no unclear
call slips through (`prowess.policy.decision`).

A skill can take effect in several ways, and its name can be spelled in several ways. A rule about `skills.load` is
meant for the skill, however the skill is loaded. Therefore a rule that denies or asks also applies to the `skill` tool.
A rule that denies also applies if a user starts the skill, and to the skill's files, which a host can read without
loading the skill. Names are compared as in the catalog.

Keys of `match` that begin with `who.` are about who makes the call (`prowess.policy.facts.requester`). Keys that begin
with `skill.` are about the skills of a call (`prowess.policy.facts.skill_identity`): the skills that the call names or,
if its tool takes no skill name, the active skills.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.globs import fits_text
from prowess._internal.text.qualified_names import one_form, qualified_forms, version_form
from prowess.format.fields.tool_patterns import COMMAND_TOOLS, FILE_TOOLS, SEARCH_TOOLS
from prowess.format.name import normalise
from prowess.policy.decision import CERTAIN, Allow, Ask, Decision, Deny, Fit
from prowess.policy.facts.requester import REQUESTER_PREFIX, Requester, fit_of_requester
from prowess.policy.facts.skill_identity import PREFIX, SkillIdentity, fit_of_skills, is_fact
from prowess.policy.patterns import judge
from prowess.policy.tool_names import ONE_SKILL_TOOLS, SKILL_ARGUMENTS, USER_TOOL, canonical_tool_name, token_names

if TYPE_CHECKING:
    from prowess.policy.decision import RuleOrigin

Effect = Literal["allow", "ask", "deny"]
EFFECTS: tuple[Effect, ...] = ("allow", "ask", "deny")
_PENDING = Fit(certain=False, possible=False, kind="pending", reason="a value that it needs is not known")
_SIGNER = re.compile(r"(key|x509|sigstore) |\*$")
_DECISIONS: dict[Effect, type[Allow | Ask | Deny]] = {"allow": Allow, "ask": Ask, "deny": Deny}


class PolicyCall(Struct, frozen=True, kw_only=True):
    """One tool call, as a policy sees it.

    `registered` is true if the host registered the tool in the session. `accepts` are the arguments that the tool has;
    None if unknown. `skills` are the skills that the call names or, if its tool takes no skill name, the active skills.
    `skills` is None if nothing is known about the skills except the names in the arguments. `who` are the known facts
    about who makes the call; if None, those of the policy that decides.

    A call that was recorded lacks values. `pending` has the keys of `match` whose values are not known, except those of
    skills (`SkillIdentity.pending`). A rule with an effect in `pending_fits` matches them all, and any other rule none.
    """

    tool: str
    arguments: Mapping[str, object]
    registered: bool = True
    accepts: Container[str] | None = None
    skills: tuple[SkillIdentity, ...] | None = None
    who: Requester | None = None
    pending: Container[str] | None = None
    pending_fits: frozenset[Effect] = frozenset({"allow"})

    @property
    def about(self) -> tuple[SkillIdentity, ...]:
        """The skills that the call is about, each with the facts known about the skill."""
        if self.skills is not None:
            return self.skills
        tool = canonical_tool_name(self.tool)
        argument = SKILL_ARGUMENTS.get(tool, "")
        value = self.arguments.get(argument, self.arguments.get("skill_name") if tool in ONE_SKILL_TOOLS else None)
        if not argument or value is None:
            return (SkillIdentity(),)
        names = (typed_name(text) if tool == USER_TOOL else text for text in texts_of(value))
        return tuple(SkillIdentity(name=name) for name in names)


class ArgumentMatch(Struct, frozen=True, kw_only=True, dict=True):
    """The value of `argument` must match one of `patterns`.

    For the command of Bash, the patterns are command-line patterns. For the paths of file tools and searches, they are
    path globs. For every other argument, they are globs over the whole value. Each element of a list is compared
    separately. An argument that a call leaves out may have any value, because a tool has defaults that a policy does
    not know.

    `signers` are patterns of the signers whom names of publishers in `patterns` mean on this machine.
    """

    argument: str
    patterns: tuple[str, ...]
    signers: tuple[str, ...] = ()

    @property
    def is_fact(self) -> bool:
        """Whether the match is about a fact of skills instead of an argument."""
        return is_fact(self.argument)

    @property
    def is_about_requester(self) -> bool:
        """Whether the match is about who makes the call."""
        return self.argument.startswith(REQUESTER_PREFIX)

    @property
    def names_publishers(self) -> bool:
        """Whether a pattern may be a publisher's name, and is not the text of a signer or a pattern of such texts."""
        return self.argument == f"{PREFIX}publisher" and not all(map(_SIGNER.match, self.patterns))

    def fit(self, tool: str, call: PolicyCall, workspace: str | None, *, possible_without: bool) -> Fit:
        """Compare the arguments of a call of `tool` (its canonical name) with the patterns.

        `possible_without` is true if the rule names exactly this tool. Then the rule may apply even if the tool has no
        such argument. So a rule with a misspelt argument refuses too much, which users notice, instead of too little.
        """
        arguments = call.arguments
        structured = (
            COMMAND_TOOLS.get(tool) == self.argument
            or self.argument in FILE_TOOLS.get(tool, ())
            or SEARCH_TOOLS.get(tool) == self.argument
        )
        if structured:
            return judge(tool, self.patterns, arguments, workspace)
        if self.argument not in arguments:
            possible = possible_without or self.argument in (call.accepts or ())
            return Fit(
                certain=False, possible=possible, kind="argument", reason=f"it has no argument {self.argument!r}"
            )
        values = texts_of(arguments[self.argument])
        if SKILL_ARGUMENTS.get(tool) == self.argument:
            copies = [copy for skill in call.skills or () for copy in skill.copies]
            return self._fit_of_names([typed_name(value) for value in values] if tool == USER_TOOL else values, copies)
        fits = [self._fits(value) for value in values]
        if fits and all(fits):
            return CERTAIN
        return Fit(certain=False, possible=any(fits), kind="argument", reason=f"{self.argument!r} has another value")

    @property
    def may_name_a_copy(self) -> bool:
        """Whether a pattern may be about one copy of a skill, `deploy@acme` or `acme/deploy`."""
        signs = "@/" if self.argument in SKILL_ARGUMENTS.values() else "@"
        return any(sign in pattern for pattern in self.patterns for sign in signs)

    def _fit_of_names(self, values: Sequence[str], copies: Sequence[str]) -> Fit:
        names = [normalise(value) for value in values]
        if names and all(self._names(one_form(name)) for name in names):
            return CERTAIN
        possible = any(map(self._names, spellings_of(names, copies)))
        reason = f"{self.argument!r} names another skill too" if possible else f"{self.argument!r} has another value"
        return Fit(certain=False, possible=possible, kind="argument", reason=reason)

    def _names(self, name: str) -> bool:
        return any(fits_text(name, pattern) for pattern in self._of_names)

    @cached_property
    def _of_names(self) -> tuple[str, ...]:
        return tuple(one_form(normalise(pattern)) for pattern in self.patterns)

    def _fits(self, value: str) -> bool:
        return any(fits_text(value, pattern) for pattern in self.patterns)


def spellings_of(names: Sequence[str], copies: Sequence[str]) -> tuple[str, ...]:
    """Return every name that a rule about one of the named skills may use, normalised. `names` are normalised.

    `deploy@acme`, also written `acme/deploy`, is a copy of `deploy`, and so is `deploy@1.2.0`. A call that names
    `deploy` or the copy is a possible match for a rule about the other. A rule that denies or asks therefore applies,
    and a rule that allows does not.
    """
    if not copies and not any("@" in name or "/" in name for name in names):
        return tuple(names)
    bare = [name for text in names for name, _ in qualified_forms(text)]
    bare += [asked[0] for asked in map(version_form, names) if asked is not None]
    return (*names, *map(one_form, names), *bare, *map(normalise, copies))


class PolicyRule(Struct, frozen=True, kw_only=True, dict=True):
    """A `[[rule]]` entry. `reason` and `id` are None if the file gives none.

    From the time `until`, in seconds since the epoch, the rule applies to no call. A rule that is `monitored` is not
    enforced; the decision names it.
    """

    effect: Effect
    tool: str
    matches: tuple[ArgumentMatch, ...]
    reason: str | None
    origin: RuleOrigin
    id: str | None = None
    until: float | None = None
    monitored: bool = False

    def __str__(self) -> str:
        arguments = ", ".join(f"{match.argument}: {' | '.join(match.patterns)}" for match in self.matches)
        return f"{self.effect} {self.tool}({arguments})" if arguments else f"{self.effect} {self.tool}"

    @cached_property
    def decision(self) -> Decision:
        """The decision about a call that certainly matches."""
        return self.decided(self.reason or f"the rule is '{self}'")

    def decided(self, reason: str) -> Decision:
        """Return the decision of this rule, for `reason`."""
        return _DECISIONS[self.effect](rule=str(self), reason=reason, origin=self.origin, id=self.id)

    @cached_property
    def _facts(self) -> dict[str, tuple[str, ...]]:
        return {one.argument.removeprefix(PREFIX): one.patterns + one.signers for one in self.matches if one.is_fact}

    @cached_property
    def _requester(self) -> dict[str, tuple[str, ...]]:
        who = (one for one in self.matches if one.is_about_requester)
        return {one.argument.removeprefix(REQUESTER_PREFIX): one.patterns for one in who}

    @cached_property
    def _arguments(self) -> tuple[ArgumentMatch, ...]:
        return tuple(match for match in self.matches if not (match.is_fact or match.is_about_requester))

    @property
    def has_ended(self) -> bool:
        """Whether the time of the rule is over."""
        return self.until is not None and time.time() >= self.until

    @property
    def needs_skills(self) -> bool:
        """Whether the rule needs more facts about a call's skills than their names in the arguments."""
        return any(match.is_fact or match.may_name_a_copy for match in self.matches)

    def is_about(self, tool: str) -> bool:
        """Whether the rule is about this tool. `tool` is the canonical name."""
        if tool == self.tool or fits_text(tool, self.tool):
            return True
        return token_names(self.tool, tool, refuses=self.effect != "allow")

    def names_exactly(self, tool: str) -> bool:
        """Whether the rule names this tool without a pattern. `tool` is the canonical name."""
        return tool in {self.tool, canonical_tool_name(self.tool)}

    def fit(self, call: PolicyCall, workspace: str | None) -> Fit:
        """Return how well the call matches this rule."""
        tool = canonical_tool_name(call.tool)
        if not self.is_about(tool):
            return Fit(certain=False, possible=False, kind="tool", reason="it is about other tools")
        doubt = CERTAIN
        if self._arguments:
            named = self.names_exactly(tool)
            for match in self._arguments:
                if call.pending is not None and match.argument in call.pending:
                    if self.effect in call.pending_fits:
                        continue
                    return _PENDING
                fit = match.fit(tool, call, workspace, possible_without=named)
                if not fit.possible:
                    return fit
                doubt = fit if doubt.certain else doubt
        if self._facts:
            pending = self.effect in call.pending_fits
            fit = fit_of_skills(self._facts, call.about, refuses=self.effect != "allow", pending=pending)
            doubt = fit if doubt.certain or not fit.possible else doubt
        if self._requester and doubt.possible:
            wanted = self._requester
            if call.pending is not None:
                wanted = {fact: wanted[fact] for fact in wanted if f"{REQUESTER_PREFIX}{fact}" not in call.pending}
                if len(wanted) < len(self._requester) and self.effect not in call.pending_fits:
                    return _PENDING
            fit = fit_of_requester(wanted, call.who or {}, refuses=self.effect != "allow")
            doubt = fit if doubt.certain or not fit.possible else doubt
        return doubt

    def applies(self, call: PolicyCall, workspace: str | None) -> Fit | None:
        """Return the match if the rule has its effect on the call, otherwise None."""
        if self.has_ended:
            return None
        fit = self.fit(call, workspace)
        if self.effect == "allow":
            return fit if fit.certain else None
        if not fit.possible and (load := as_load(call, self.effect)) is not None:
            fit = self.fit(load, workspace)
        return fit if fit.possible else None


def as_load(call: PolicyCall, effect: Effect) -> PolicyCall | None:
    """Return the call as a `skills.load` call; None if rules with `effect` do not treat it as a load."""
    tool = canonical_tool_name(call.tool)
    if not is_load(tool, effect):
        return None
    skill = call.arguments.get("skill", call.arguments.get("skill_name"))  # the `skill` tool accepts both names
    if not isinstance(skill, str):
        skill = ""  # a call without a name is about no particular skill, and rules about all skills apply
    if tool == USER_TOOL:
        skill = typed_name(skill)
    return replace(call, tool="skills.load", arguments={"names": [skill], "mode": "add"}, registered=True, accepts=None)


def is_load(tool: str, effect: Effect) -> bool:
    """Whether rules with `effect` about `skills.load` are also about calls of `tool`, a canonical name."""
    # Only a denial extends to starts by the user and to reads. A user who starts a skill has approved it already, and
    # the question about reading was asked when the skill was loaded.
    return (tool in ONE_SKILL_TOOLS and effect != "allow") or (
        effect == "deny" and SKILL_ARGUMENTS.get(tool) == "skill"
    )


def typed_name(text: str) -> str:
    """Return the skill name from a user's input: `deploy` from `/deploy to production`."""
    typed = text.strip()
    return next(iter(typed[1:].split()), "") if typed[:1] in {"/", "$"} else text


def texts_of(value: object) -> list[str]:
    """Return the texts of an argument that globs are compared with: those of a list, or the value as JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence):
        return [text for item in value for text in ([item] if isinstance(item, str) else texts_of(item))]
    return [json.dumps(value, ensure_ascii=False, sort_keys=True)]
