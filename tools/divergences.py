"""The topics on which the texts on the format disagree, and the reading of each profile.

The sources are the official specification, the reference tool, the skillscraft reference, the boxxy guide and the
agent skills platform. All values come from the table of rules or from a profile. If all profiles agree, the row
states the common reading.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from prowess.format.limits import MAX_NAME_LENGTH
from prowess.format.profiles import PROFILES
from prowess.lint import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.format.profiles import Profile


class Divergence(NamedTuple):
    """One topic. The severities of `rules` are part of the value; `reading` returns the rest of it."""

    topic: str
    rules: tuple[str, ...] = ()
    reading: Callable[[Profile], str] | None = None

    def value(self, profile: Profile) -> str:
        """Return the reading of the profile in a few words, then the severities in the order of `rules`."""
        severities = ", ".join(_word(profile, rule) for rule in self.rules)
        said = "" if self.reading is None else self.reading(profile)
        return "; ".join(part for part in (said, severities) if part)


def _word(profile: Profile, rule: str) -> str:
    severity = RULES[rule].severity_in(profile.name)
    return "off" if severity is None else str(severity)


def _same(text: str) -> Callable[[Profile], str]:
    return lambda _profile: text


def _either(switch: Callable[[Profile], bool], yes: str, no: str) -> Callable[[Profile], str]:
    return lambda profile: yes if switch(profile) else no


def _as_the_tool(profile: Profile) -> bool:
    return profile.reference_wording


DIVERGENCES = (
    Divergence("letters of a name", ("name.ascii",), lambda profile: profile.name_letters),
    Divergence("name and directory differ", ("name.matchesDirectory",)),
    Divergence("field that is not known", ("frontmatter.unknownField",)),
    Divergence(
        "length of a description",
        ("description.maxLength",),
        _either(_as_the_tool, "counted as written", "counted when trimmed"),
    ),
    Divergence("compatibility: empty, too long", ("compatibility.empty", "compatibility.maxLength")),
    Divergence("metadata: no mapping, a nested value", ("metadata.type", "metadata.valueType")),
    Divergence("key written twice: of a field, in metadata", ("frontmatter.duplicateKey", "metadata.duplicateKey")),
    Divergence(
        "allowed-tools", ("allowed-tools.type",), _either(lambda p: p.tools_as_list, "text or list", "text alone")
    ),
    Divergence("license that is no text", ("license.type",)),
    Divergence("body of more than 500 lines", ("body.maxLines",)),
    Divergence("closing fence", (), _same("a whole line")),
    Divergence("no fence at all", ("frontmatter.missing",)),
    Divergence("nothing between the fences", (), _either(_as_the_tool, "no mapping", "no fields")),
    Divergence("line breaks", (), _same("LF, CRLF, CR")),
    Divergence("before the fence: a byte-order mark, blank lines", ("encoding.bom", "frontmatter.notFirst")),
    Divergence("encoding", ("encoding.invalid",), _same("UTF-8")),
    Divergence("file called skill.md", ("file.name",)),
    Divergence("longest name", ("name.maxLength",), _same(f"{MAX_NAME_LENGTH} characters")),
    Divergence("YAML", (), _either(_as_the_tool, "no brackets", "whole, without references and tags")),
    Divergence("unquoted 1.0 in metadata", (), _either(lambda p: p.metadata_scalars == "any", "a text", "a fault")),
    Divergence(
        "link: out of the skill, absolute, too deep", ("reference.escape", "reference.absolute", "reference.depth")
    ),
    Divergence("README or CHANGELOG in a skill", ("directory.extraneous",)),
    Divergence("many skills at once", (), _same("yes")),
    Divergence("form of the catalog", (), _same("any, by --form")),
    Divergence("severities in use", (), lambda profile: ", ".join(_levels(profile))),
    Divergence("fields that are known", (), lambda profile: str(len(profile.known_fields))),
)
"""The rows, in the order in which the divergences were first listed. Rows are never removed."""


def _levels(profile: Profile) -> list[str]:
    used = {str(level) for rule in RULES.values() if (level := rule.severity_in(profile.name)) is not None}
    return [level for level in ("error", "warning", "info") if level in used]


def divergence_table() -> Mapping[str, Mapping[str, str]]:
    """Return the reading of each profile, by topic."""
    return MappingProxyType(
        {row.topic: {name: row.value(profile) for name, profile in PROFILES.items()} for row in DIVERGENCES}
    )
