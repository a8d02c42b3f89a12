"""A profile is a policy over one parser: which rule has which severity, and a few switches.

The severities of the format's rules are the columns of `rules.table`; rules of other rooms declare their own.
Everything else that differs is below, once: what a profile leaves out is as in `spec`.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.text.near_words import near_words
from prowess.errors import InvalidArgumentsError
from prowess.format.limits import FIELDS, KNOWN_FIELDS
from prowess.format.rules.table import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Severity


class Profile(Struct, frozen=True, kw_only=True):
    """One column of the table.

    `source` says whose reading it is. `known_fields` are those that are no `frontmatter.unknownField`; the extended
    ones among them are judged. `name_letters`: of any script, or a-z and 0-9 alone. `metadata_scalars`: any scalar is a
    text, or only what every YAML reader takes for one. `metadata_lists`: a list as a value of metadata is a warning.
    `tools_as_list`: allowed-tools may be a list. `repairs`: a value that YAML refuses is quoted and used, with a
    warning. `reference_wording`: faults are found and worded as the reference tool does, in its order, and its YAML
    dialect without flow collections applies. `preapproves`: in a session of this profile, allowed-tools restricts
    nothing unless somebody says otherwise.
    """

    name: str
    summary: str
    source: str
    known_fields: frozenset[str] = frozenset(FIELDS)
    name_letters: Literal["any script", "ASCII"] = "any script"
    metadata_scalars: Literal["any", "written as text"] = "any"
    metadata_lists: bool = False
    tools_as_list: bool = False
    repairs: bool = False
    reference_wording: bool = False
    preapproves: bool = False

    @property
    def severities(self) -> Mapping[str, Severity | None]:
        """The severity of each rule of the format, by id; None if the profile does not report it."""
        return _column(self.name)


@cache
def _column(profile: str) -> Mapping[str, Severity | None]:
    return MappingProxyType({row.id: row.severity_in(profile) for row in RULES.values()})


_PROFILES = (
    Profile(
        name="spec",
        summary="the official specification",
        source="Agent Skills specification",
    ),
    Profile(
        name="skills-ref",
        summary="the reference tool's judgement and words",
        source="skills-ref 0.1.1",
        reference_wording=True,
    ),
    Profile(
        name="skillscraft",
        summary="the skillscraft reference: ASCII names, metadata written as text",
        source="skillscraft specification reference",
        name_letters="ASCII",
        metadata_scalars="written as text",
    ),
    Profile(
        name="boxxy",
        summary="the boxxy guide: ASCII names, at most 500 lines, nothing beside the skill",
        source="boxxy formal specification and implementation guide",
        name_letters="ASCII",
    ),
    Profile(
        name="claude-code",
        summary="the fields that Claude Code and its kin know, allowed-tools as text or list",
        source="agent skills platform, YAML frontmatter fields; Claude Code",
        known_fields=KNOWN_FIELDS,
        metadata_lists=True,
        tools_as_list=True,
        preapproves=True,
    ),
    Profile(
        name="lenient",
        summary="load what exists in the wild; an error means that the skill is not loaded",
        source="client guide, lenient validation",
        repairs=True,
    ),
)

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in _PROFILES})


def profile_named(name: str) -> Profile:
    """Return the profile of this name.

    Raises:
        InvalidArgumentsError: there is none; the sentence lists those there are.
    """
    if name in PROFILES:
        return PROFILES[name]
    near = near_words(name, PROFILES)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InvalidArgumentsError((f"no profile is called {name!r}; there are {', '.join(PROFILES)}{hint}",))
