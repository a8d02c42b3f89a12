"""Restrictions on tools by the active skills. Every active skill must permit a call.

Loading another skill therefore never permits a call that was refused before.

`allowed-tools` lists the calls that a skill needs. The mode decides about calls that the skill does not list:

    restrict      the call is refused
    ask           a person is asked
    preapprove    no effect (the reading of the specification); calls that the skill lists need no approval by default

An absent field has no effect. A field that is empty or cannot be read lists no calls. `disallowed-tools` refuses the
calls that it lists in every mode, and a possible match counts. A `disallowed-tools` that cannot be read refuses every
call. A misspelt field name is read as the similar known name (`prowess.format.fields.near_fields`). If a skill has
several spellings of one field, each of these fields applies.

No restriction applies to the skill tools, so a skill can always be unloaded. A token for a skill tool has one possible
effect: it removes the need for an approval.

Source: Agent Skills specification, field `allowed-tools`; platform requirements 003, tool restriction.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from prowess._internal.globs import fits_stars
from prowess._internal.text.terminal_text import printable_line
from prowess.format.fields.allowed_tools import ToolToken, parse_allowed_tools
from prowess.format.fields.near_fields import tool_fields
from prowess.format.fields.placeholders import PLUGIN_VARIABLE, SKILL_VARIABLES
from prowess.format.name import normalise
from prowess.policy.decision import CERTAIN, Allow, Ask, Deny, Fit
from prowess.policy.patterns import Variables, judge
from prowess.policy.tool_names import ONE_SKILL_TOOLS, SKILL_ARGUMENTS, SKILL_TOOLS, canonical_tool_name, token_names

RestrictionMode = Literal["restrict", "ask", "preapprove"]
RESTRICTION_MODES: tuple[RestrictionMode, ...] = ("restrict", "ask", "preapprove")  # strictest first

Tokens = tuple[ToolToken, ...]

_MOST_SHOWN = 400  # limit on the characters of a reason


class Restriction(Struct, frozen=True, kw_only=True):
    """The tools that one active skill allows and disallows.

    `tokens` is None if the skill has no `allowed-tools`. `further` has one list of tokens for each misspelt
    `allowed-tools`; a call must be in each of these lists too. `denied` are the tokens of `disallowed-tools`. If
    `allowed-tools` or `disallowed-tools` cannot be read, its tokens are empty and the reason is in `fault` or
    `denial_fault`. `variables` are the values of placeholders such as `${CLAUDE_SKILL_DIR}`. `digest` is the digest of
    the skill; it is part of each approval request.
    """

    skill: str
    tokens: Tokens | None
    mode: RestrictionMode = "restrict"
    fault: str | None = None
    digest: str | None = None
    further: tuple[Tokens, ...] = ()
    denied: Tokens = ()
    denial_fault: str | None = None
    variables: Variables = ()

    @classmethod
    def of_field(
        cls, skill: str, value: object, *, mode: RestrictionMode = "restrict", digest: str | None = None
    ) -> Restriction:
        """Create a restriction from the value of `allowed-tools`: a text, a list of texts, or None if absent."""
        return cls.of_properties(skill, {} if value is None else {"allowed-tools": value}, mode=mode, digest=digest)

    @classmethod
    def of_properties(
        cls,
        skill: str,
        properties: Mapping[str, object],
        *,
        mode: RestrictionMode | None = "restrict",
        digest: str | None = None,
        root_dir: str | None = None,
    ) -> Restriction:
        """Create a restriction from both fields and misspelt forms. If `mode` is None, `allowed-tools` is ignored."""
        fields = tool_fields(properties)
        allowed = [_read(value) for value in fields.allowed] if mode is not None else []
        denied = [_read(value) for value in fields.disallowed]
        return cls(
            skill=skill,
            tokens=allowed[0][0] if allowed else None,
            mode=mode or "restrict",
            fault=next((fault for _, fault in allowed if fault), None),
            digest=digest,
            further=tuple(tokens for tokens, _ in allowed[1:]),
            denied=tuple(token for tokens, _ in denied for token in tokens),
            denial_fault=next((fault for _, fault in denied if fault), None),
            variables=() if root_dir is None else _places(root_dir),
        )

    @property
    def permitted(self) -> list[str]:
        """The tokens that are in every list, as written."""
        return [str(token) for token in self.tokens or () if all(token in tokens for tokens in self.further)]

    @property
    def lists(self) -> tuple[Tokens, ...]:
        """The lists that must all contain a call; empty if the skill has no `allowed-tools`."""
        return () if self.tokens is None else (self.tokens, *self.further)


def _places(root_dir: str) -> Variables:
    """Return the values of the path variables of a skill. A plugin keeps its skills in `skills/`."""
    above, folder = os.path.split(os.path.dirname(root_dir))
    plugin = ((PLUGIN_VARIABLE, above),) if folder == "skills" else ()
    return (*((name, root_dir) for name in SKILL_VARIABLES), *plugin)


def _read(value: object) -> tuple[Tokens, str | None]:
    """Parse the value of a field. Return its tokens and None, or no tokens and the reason of the failure."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        return (), "it is neither a text nor a list of texts"
    reads = [parse_allowed_tools(text) for text in texts]
    fault = next((read.fault.message for read in reads if read.fault), None)
    return () if fault else tuple(token for read in reads for token in read.tokens), fault


def decide(
    name: str,
    arguments: Mapping[str, object],
    restrictions: Sequence[Restriction],
    workspace: str | None = None,
) -> Allow | Ask | Deny:
    """Decide about one call under the restrictions of the active skills. Path patterns are relative to `workspace`.

    The first skill that refuses takes precedence over skills that ask. `Allow.preapproved_by` is set if a skill in mode
    `preapprove` lists the call and all other skills permit the call.
    """
    tool = canonical_tool_name(name)
    if tool in SKILL_TOOLS:
        by = next((each.skill for each in restrictions if _starts(tool, arguments, each)), None)
        return Allow(rule="skill-tools", reason="skill tools are never restricted", preapproved_by=by)
    preapproved: str | None = None
    asking: Deny | None = None
    for restriction in restrictions:
        if (denial := _denial(tool, arguments, restriction, workspace)) is not None:
            return denial
        if restriction.tokens is None:
            continue
        refusal = _refusal(tool, arguments, restriction, workspace)
        if refusal is None and restriction.mode == "preapprove":
            preapproved = preapproved or restriction.skill
        elif refusal is not None and restriction.mode == "restrict":
            return refusal
        elif refusal is not None and restriction.mode == "ask":
            asking = asking or refusal
    if asking is not None:
        reason = f"skill {asking.skill!r} does not list this call: {asking.reason}"
        return Ask(rule=asking.rule, reason=reason, skill=asking.skill)
    if preapproved is not None:
        return Allow(rule="allowed-tools", reason=f"skill {preapproved!r} lists this call", preapproved_by=preapproved)
    return Allow(rule="allowed-tools", reason="no active skill refuses this call")


def _denial(tool: str, arguments: Mapping[str, object], restriction: Restriction, workspace: str | None) -> Deny | None:
    if restriction.denial_fault is not None:
        reason = f"its disallowed-tools cannot be read ({restriction.denial_fault}), so it refuses everything"
        return _deny(restriction, "unreadable", reason, field="disallowed-tools")
    if not restriction.denied:
        return None
    fit = _fit(restriction.denied, tool, arguments, restriction, workspace, refuses=True)
    if fit is None or not fit.possible:
        return None
    listed = ", ".join(str(token) for token in restriction.denied)
    doubt = "" if fit.certain else f" (a match cannot be ruled out: {fit.reason})"
    return _deny(restriction, fit.kind or "tool", f"it refuses {listed}{doubt}", field="disallowed-tools")


def _refusal(
    tool: str, arguments: Mapping[str, object], restriction: Restriction, workspace: str | None
) -> Deny | None:
    if restriction.fault is not None:
        reason = f"its allowed-tools cannot be read ({restriction.fault}), so it permits nothing"
        return _deny(restriction, "unreadable", reason)
    for tokens in restriction.lists:
        if not tokens:
            return _deny(restriction, "empty", "its allowed-tools is empty, so it permits nothing")
        fit = _fit(tokens, tool, arguments, restriction, workspace, refuses=False)
        if fit is None:
            return _deny(restriction, "tool", f"it permits {', '.join(str(token) for token in tokens)}")
        if not fit.certain:
            return _deny(restriction, fit.kind, fit.reason)
    return None


def _fit(
    tokens: Tokens,
    tool: str,
    arguments: Mapping[str, object],
    restriction: Restriction,
    workspace: str | None,
    *,
    refuses: bool,
) -> Fit | None:
    """Return how a call matches the tokens; None if no token names the tool of the call."""
    own = [token for token in tokens if token_names(token.name, tool, refuses=refuses)]
    if not own:
        return None
    patterns = [token.pattern for token in own if token.pattern is not None]
    if len(patterns) < len(own):
        return CERTAIN  # a bare tool name is among the tokens
    return judge(tool, patterns, arguments, workspace, restriction.variables)


def _starts(tool: str, arguments: Mapping[str, object], restriction: Restriction) -> bool:
    """Return whether a skill in mode `preapprove` lists each skill that this call loads, as `Skill(name)`."""
    if restriction.mode != "preapprove" or not restriction.lists or restriction.fault is not None:
        return False
    given = arguments.get(SKILL_ARGUMENTS.get(tool, ""), arguments.get("skill_name"))
    names = [given] if isinstance(given, str) else given
    if tool not in {"skills.load", *ONE_SKILL_TOOLS} or not isinstance(names, Sequence) or not names:
        return False
    with_arguments = bool(arguments.get("args"))
    return all(
        isinstance(name, str) and any(_is_start(token, normalise(name), with_arguments) for token in tokens)
        for name in names
        for tokens in restriction.lists
    )


def _is_start(token: ToolToken, name: str, with_arguments: bool) -> bool:  # noqa: FBT001 -- one caller
    if canonical_tool_name(token.name) != "skill":
        return False
    wanted = (token.pattern or "*").strip().removeprefix("/")
    alone = wanted.removesuffix(":*").removesuffix(" *")  # the suffix means any arguments
    return fits_stars(name, normalise(alone)) and not (with_arguments and wanted == alone != "*")


def _deny(restriction: Restriction, kind: str, reason: str, *, field: str = "allowed-tools") -> Deny:
    shown = printable_line(reason)
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
    return Deny(rule=f"{field}:{kind}", reason=shown, skill=restriction.skill)
