"""One rule of a policy: an effect on the calls that it is about.

A rule is about calls of the tools that its glob names whole, and among these about those whose arguments fit. A rule
that allows wants certainty about every argument; one that denies or asks is satisfied by the possibility, because what
nobody can tell must not slip through (`prowess.policy.decision`).

A skill has several ways into force and its name several spellings. Who denies `skills.load` means the skill and not the
way, so a rule that denies or asks counts for the `skill` tool as well, one that denies also for what a user starts and
for the skill's files, which a host reads without loading it; and names are compared as the catalog compares them.

Keys of `match` that begin with `skill.` are about the skills of a call (`prowess.policy.skill_identity`): those that it
names, and for a tool that names none those that are active.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.globs import fits_text
from prowess.format.fields.tool_patterns import COMMAND_TOOLS, FILE_TOOLS, SEARCH_TOOLS
from prowess.format.name import normalise
from prowess.policy.decision import CERTAIN, Fit
from prowess.policy.patterns import judge
from prowess.policy.skill_identity import PREFIX, SkillIdentity, fit_of_skills, is_fact
from prowess.policy.tool_names import ONE_SKILL_TOOLS, SKILL_ARGUMENTS, USER_TOOL, canonical_tool_name, token_names

if TYPE_CHECKING:
    from prowess.policy.decision import RuleOrigin

Effect = Literal["allow", "ask", "deny"]
EFFECTS: tuple[Effect, ...] = ("allow", "ask", "deny")


class PolicyCall(Struct, frozen=True, kw_only=True):
    """One call as a policy sees it.

    `registered`: the tool exists in the session, put there by its host. `accepts` are the arguments that the tool has,
    None if that is not known. `skills` are those that the call names, for a tool that names none the active ones; None
    if nothing is known of them but names among the arguments.
    """

    tool: str
    arguments: Mapping[str, object]
    registered: bool = True
    accepts: frozenset[str] | None = None
    skills: tuple[SkillIdentity, ...] | None = None

    @property
    def about(self) -> tuple[SkillIdentity, ...]:
        """The skills of the call, as far as anything is known of them."""
        if self.skills is not None:
            return self.skills
        tool = canonical_tool_name(self.tool)
        argument = SKILL_ARGUMENTS.get(tool, "")
        value = self.arguments.get(argument, self.arguments.get("skill_name") if tool in ONE_SKILL_TOOLS else None)
        if not argument or value is None:
            return (SkillIdentity(),)
        names = (_typed(text) if tool == USER_TOOL else text for text in _texts(value))
        return tuple(SkillIdentity(name=name) for name in names)


class ArgumentMatch(Struct, frozen=True, kw_only=True):
    """The value of `argument` must fit one of `patterns`.

    For the command of Bash they are patterns of command lines, for the paths of file tools and searches globs, for
    everything else globs over the whole value; of a list each element counts. An argument that a call leaves out may
    have any value: a tool has defaults that a policy does not know.
    """

    argument: str
    patterns: tuple[str, ...]

    @property
    def is_fact(self) -> bool:
        """Whether it is about a fact of skills instead of an argument."""
        return is_fact(self.argument)

    def fit(self, tool: str, call: PolicyCall, workspace: str | None, *, possible_without: bool) -> Fit:
        """Compare the arguments of a call of `tool` (its canonical name) with the patterns.

        `possible_without`: the rule names this very tool, so that it may be meant although the tool has no such
        argument. A misspelt argument then refuses too much, which is noticed, and not too little.
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
        values = _texts(arguments[self.argument])
        if SKILL_ARGUMENTS.get(tool) == self.argument:
            copies = [skill.copy for skill in call.skills or () if skill.copy is not None]
            return self._fit_of_names([_typed(value) for value in values] if tool == USER_TOOL else values, copies)
        fits = [self._fits(value) for value in values]
        if fits and all(fits):
            return CERTAIN
        return Fit(certain=False, possible=any(fits), kind="argument", reason=f"{self.argument!r} has another value")

    def _fit_of_names(self, values: Sequence[str], copies: Sequence[str]) -> Fit:
        names = [normalise(value) for value in values]
        if names and all(map(self._names, names)):
            return CERTAIN
        # deploy@acme is a copy of deploy: a rule about deploy may mean it, one that allows deploy need not.
        meant = [*names, *(name.partition("@")[0] for name in names), *map(normalise, copies)]
        possible = any(map(self._names, meant))
        reason = f"{self.argument!r} names another skill too" if possible else f"{self.argument!r} has another value"
        return Fit(certain=False, possible=possible, kind="argument", reason=reason)

    def _names(self, name: str) -> bool:
        return any(fits_text(name, normalise(pattern)) for pattern in self.patterns)

    def _fits(self, value: str) -> bool:
        return any(fits_text(value, pattern) for pattern in self.patterns)


class PolicyRule(Struct, frozen=True, kw_only=True):
    """What a `[[rule]]` says; `reason` is None where the file gives none."""

    effect: Effect
    tool: str
    matches: tuple[ArgumentMatch, ...]
    reason: str | None
    origin: RuleOrigin

    def __str__(self) -> str:
        arguments = ", ".join(f"{match.argument}: {' | '.join(match.patterns)}" for match in self.matches)
        return f"{self.effect} {self.tool}({arguments})" if arguments else f"{self.effect} {self.tool}"

    @property
    def needs_skills(self) -> bool:
        """Whether more of a call's skills must be known than what the call names."""
        return any(match.is_fact or any("@" in pattern for pattern in match.patterns) for match in self.matches)

    def fit(self, call: PolicyCall, workspace: str | None) -> Fit:
        """Return how the call stands to this rule."""
        tool = canonical_tool_name(call.tool)
        if not fits_text(tool, self.tool) and not token_names(self.tool, tool, refuses=self.effect != "allow"):
            return Fit(certain=False, possible=False, kind="tool", reason="it is about other tools")
        named = tool in {self.tool, canonical_tool_name(self.tool)}
        facts = {match.argument.removeprefix(PREFIX): match.patterns for match in self.matches if match.is_fact}
        fits = [match.fit(tool, call, workspace, possible_without=named) for match in self.matches if not match.is_fact]
        if facts:
            fits.append(fit_of_skills(facts, call.about))
        if not all(fit.possible for fit in fits):
            return next(fit for fit in fits if not fit.possible)
        return next((fit for fit in fits if not fit.certain), CERTAIN)

    def applies(self, call: PolicyCall, workspace: str | None) -> Fit | None:
        """Return the fit where the rule has its effect on the call, else None."""
        fit = self.fit(call, workspace)
        if self.effect == "allow":
            return fit if fit.certain else None
        if not fit.possible and (load := _as_load(call, self.effect)) is not None:
            fit = self.fit(load, workspace)
        return fit if fit.possible else None


def _as_load(call: PolicyCall, effect: Effect) -> PolicyCall | None:
    """Return the load without which this call would not do; None for every other call."""
    tool = canonical_tool_name(call.tool)
    skill = call.arguments.get("skill", call.arguments.get("skill_name"))  # the tool `skill` takes either
    # A person who starts a skill need not be asked, and what is read was asked about when it was loaded.
    if tool not in ONE_SKILL_TOOLS and (effect != "deny" or SKILL_ARGUMENTS.get(tool) != "skill"):
        return None
    if not isinstance(skill, str):
        skill = ""  # without a name it is about no single skill, and a rule about all of them holds
    if tool == USER_TOOL:
        skill = _typed(skill)
    return PolicyCall(tool="skills.load", arguments={"names": [skill], "mode": "add"}, skills=call.skills)


def _typed(text: str) -> str:
    """Return the name in what a user typed: `/deploy to production`."""
    typed = text.strip()
    return next(iter(typed[1:].split()), "") if typed[:1] in {"/", "$"} else text


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence):
        return [text for item in value for text in _texts(item)]
    return [json.dumps(value, ensure_ascii=False, sort_keys=True)]
