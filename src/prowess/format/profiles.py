"""Validation profiles: policies over one parser. A profile is the severity of each rule, and a few switches.

The severities of the format's rules are the columns of `rules.table`; rules of other packages declare their severities
themselves. All other differences between profiles are declared in this module. A setting that a profile omits is as in
`spec`.
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
    """One validation profile.

    `source` names the document or tool that the profile follows. `known_fields` are the fields that do not break
    `frontmatter.unknownField`; extended fields among them are validated. `name_letters`: letters of any script, or only
    a-z and 0-9. `metadata_scalars`: accept any scalar as text, or only one that every YAML reader reads as text.
    `metadata_lists`: a list as a value of metadata is only a warning. `tools_as_list`: allowed-tools may be a list.
    `repairs`: a value that is not valid YAML is quoted and used, with a warning. `reference_wording`: find and word
    faults as the reference tool does, in its order; its YAML dialect without flow collections applies. `preapproves`:
    in a session with this profile, allowed-tools restricts nothing unless configured otherwise.
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
        summary="the reference tool's rules and messages",
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
        summary="the boxxy guide: ASCII names, at most 500 lines, no README or CHANGELOG in the skill",
        source="boxxy formal specification and implementation guide",
        name_letters="ASCII",
    ),
    Profile(
        name="claude-code",
        summary="the fields of Claude Code and similar clients, allowed-tools as text or list",
        source="agent skills platform, YAML frontmatter fields; Claude Code",
        known_fields=KNOWN_FIELDS,
        metadata_lists=True,
        tools_as_list=True,
        preapproves=True,
    ),
    Profile(
        name="lenient",
        summary="load skills as they are found in practice; an error means that the skill is not loaded",
        source="client guide, lenient validation",
        repairs=True,
    ),
)

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in _PROFILES})


def profile_named(name: str) -> Profile:
    """Return the profile with this name. Raises InvalidArgumentsError, with the known names, if there is none."""
    if name in PROFILES:
        return PROFILES[name]
    near = near_words(name, PROFILES)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InvalidArgumentsError((f"no profile is called {name!r}; profiles: {', '.join(PROFILES)}{hint}",))
