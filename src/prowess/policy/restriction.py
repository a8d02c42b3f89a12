"""What the active skills leave of the tools: a call must be permitted by each of them, so loading can never widen.

A skill restricts by its `allowed-tools`. Absent: it restricts nothing. Present but empty, or not readable: nothing is
left but the skill tools, which no restriction ever takes away, so that a skill can always be unloaded.

In the mode `preapprove` (the reading of the specification) the same tokens say only what needs no asking; nothing is
refused, and what they do not match follows the usual policy.

Agent Skills specification, field `allowed-tools`; platform requirements 003, tool restriction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.format.fields.allowed_tools import ToolToken, parse_allowed_tools
from prowess.policy.decision import Allow, Deny
from prowess.policy.patterns import judge
from prowess.policy.tool_names import SKILL_TOOLS, canonical_tool_name

RestrictionMode = Literal["restrict", "preapprove"]

_MOST_SHOWN = 400  # characters of a reason


class Restriction(Struct, frozen=True, kw_only=True):
    """What one active skill says about tools.

    `tokens` is None where the skill has no `allowed-tools`. `fault` says why the field could not be read; `tokens` is
    then empty. `digest` is the skill's, so that an approval can be bound to what was active when it was given.
    """

    skill: str
    tokens: tuple[ToolToken, ...] | None
    mode: RestrictionMode = "restrict"
    fault: str | None = None
    digest: str | None = None

    @classmethod
    def of_field(
        cls, skill: str, value: object, *, mode: RestrictionMode = "restrict", digest: str | None = None
    ) -> Restriction:
        """Read the field as it stands in the front matter: None where it is absent, a text, or a list of texts."""
        tokens, fault = None, None
        if isinstance(value, str):
            read = parse_allowed_tools(value)
            tokens, fault = read.tokens, read.fault.message if read.fault else None
        elif isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
            reads = [parse_allowed_tools(item) for item in value]
            fault = next((read.fault.message for read in reads if read.fault), None)
            tokens = () if fault else tuple(token for read in reads for token in read.tokens)
        elif value is not None:
            tokens, fault = (), "it is neither a text nor a list of texts"
        return cls(skill=skill, tokens=tokens, mode=mode, fault=fault, digest=digest)


def decide(
    name: str,
    arguments: Mapping[str, object],
    restrictions: Sequence[Restriction],
    workspace: str | None = None,
) -> Allow | Deny:
    """Decide about one call while these skills are active; `workspace` is the directory that path patterns hang from.

    The first skill that refuses is named. `Allow.preapproved_by` is set where a skill in the mode `preapprove` lists
    the call and none in the mode `restrict` refuses it.
    """
    tool = canonical_tool_name(name)
    if tool in SKILL_TOOLS:
        return Allow(rule="skill-tools", reason="no restriction takes the skill tools away")
    preapproved: str | None = None
    for restriction in restrictions:
        if restriction.tokens is None:
            continue
        refusal = _refusal(tool, arguments, restriction, workspace)
        if refusal is not None and restriction.mode == "restrict":
            return refusal
        if refusal is None and restriction.mode == "preapprove":
            preapproved = preapproved or restriction.skill
    if preapproved is not None:
        return Allow(rule="allowed-tools", reason=f"skill {preapproved!r} lists this call", preapproved_by=preapproved)
    return Allow(rule="allowed-tools", reason="no active skill refuses this call")


def _refusal(
    tool: str, arguments: Mapping[str, object], restriction: Restriction, workspace: str | None
) -> Deny | None:
    if restriction.fault is not None:
        reason = f"its allowed-tools cannot be read ({restriction.fault}), so it permits nothing"
        return _deny(restriction, "unreadable", reason)
    if not (tokens := restriction.tokens or ()):
        return _deny(restriction, "empty", "its allowed-tools is empty, so it permits nothing")
    own = [token for token in tokens if canonical_tool_name(token.name) == tool]
    if not own:
        return _deny(restriction, "tool", f"it permits {', '.join(str(token) for token in tokens)}")
    patterns = [token.pattern for token in own if token.pattern is not None]
    if len(patterns) < len(own):
        return None  # the bare name is among them
    fit = judge(tool, patterns, arguments, workspace)
    return None if fit.certain else _deny(restriction, fit.kind, fit.reason)


def _deny(restriction: Restriction, kind: str, reason: str) -> Deny:
    shown = printable_line(reason)
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
    return Deny(rule=f"allowed-tools:{kind}", reason=shown, skill=restriction.skill)
