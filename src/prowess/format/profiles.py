"""A profile is a policy over one parser: which rule has which severity, and a few switches.

`spec` is the official text, `skills-ref` speaks as the reference tool does, `lenient` loads what exists in the wild.
The severities are the columns of `rule_table`; everything else that differs stands below, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from prowess.format.rule_table import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One column of the table.

    `repairs`: a value that YAML refuses is quoted and used, with a warning. `reference_wording`: faults are found and
    worded as the reference tool does, in its order, and its YAML dialect without flow collections applies.
    """

    name: str
    summary: str
    severities: Mapping[str, Severity | None]
    repairs: bool = False
    reference_wording: bool = False


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "spec": Profile(
            name="spec",
            summary="the official specification",
            severities=MappingProxyType({row.id: row.spec for row in RULES.values()}),
        ),
        "skills-ref": Profile(
            name="skills-ref",
            summary="the reference tool's judgement and words",
            severities=MappingProxyType({row.id: row.skills_ref for row in RULES.values()}),
            reference_wording=True,
        ),
        "lenient": Profile(
            name="lenient",
            summary="load what exists in the wild; an error means that the skill is not loaded",
            severities=MappingProxyType({row.id: row.lenient for row in RULES.values()}),
            repairs=True,
        ),
    }
)


def profile_named(name: str) -> Profile:
    """Return the profile of this name.

    Raises:
        InvalidArgumentsError: there is none; the sentence lists those there are.
    """
    if name in PROFILES:
        return PROFILES[name]
    # Imported here, not at the top: only a wrong name needs them.
    from difflib import get_close_matches

    from prowess.errors import InvalidArgumentsError

    near = get_close_matches(name, PROFILES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InvalidArgumentsError((f"no profile is called {name!r}; there are {', '.join(PROFILES)}{hint}",))
