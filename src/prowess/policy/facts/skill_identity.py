"""Facts about a skill that rules match: its name, and facts that renaming cannot change.

    match = { skill.name = "deploy" }
    match = { skill.source = "/srv/skills", skill.layer = "project" }

An unknown fact may have any value. It is a possible match for a rule that denies or asks, and no match for a rule that
allows. All facts in one rule must match one and the same skill.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.globs import as_written, fits_text, is_glob
from prowess.format.name import normalise
from prowess.policy.decision import CERTAIN, Fit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

PREFIX = "skill."
FACTS = ("name", "digest", "file", "source", "layer", "publisher", "capability", "approved", "findings")
APPROVED = ("true", "false")
FINDINGS = ("none", "info", "warning", "error")
LAYERS = ("enterprise", "personal", "project", "plugin")
_DIGEST = r"sha256:[0-9a-f*?]{1,64}"
_GLOB = r"[*?\[]"


class SkillIdentity(Struct, frozen=True, kw_only=True):
    """The known facts about one skill of a call. A fact is unknown if it is None or, for `digests`, empty.

    `digests` are the digests of the whole tree, of the regular files, and of SKILL.md; records contain the first one.
    `sources` are the label of the skill's source, what a lock names as its source, and every path that contains the
    skill. `stated_paths` are paths among them at which the skill is not: a label or a lock states them, which a project
    can write, so a rule that allows does not match them. `copies` are the qualified names of this copy: `name@source`
    of a plugin's copy, and `name@VERSION`. `files` are the digests of all regular files, written as in `digests`.
    `capabilities` are those that the skill declares or implies. `trees` are the digests of the whole directory that
    people must have approved: those with which the skill was loaded and that it has now; None for a directory without
    digest. `approved` states whether they have; a policy finds out for each of its files. `findings` is the worst
    severity of the security findings on the digest, one of `FINDINGS`. `pending` are facts that are
    not known yet and will be known when the policy is asked again about the same change: until then, they neither
    refuse a call nor keep it from being allowed. `absent` is true if no skill has this name, so that the call will
    fail.
    """

    name: str | None = None
    digests: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None
    stated_paths: frozenset[str] = frozenset()
    layer: str | None = None
    publisher: str | None = None
    copies: tuple[str, ...] = ()
    files: frozenset[str] | None = None
    capabilities: tuple[str, ...] | None = None
    trees: tuple[str | None, ...] = ()
    approved: bool | None = None
    findings: str | None = None
    pending: frozenset[str] = frozenset()
    absent: bool = False

    def values(self, fact: str) -> Collection[str] | None:
        """Return the values of a fact, given by its name in rules; None if the fact is unknown."""
        if fact == "digest":
            return self.digests or None
        if fact == "source":
            return self.sources
        if fact == "file":
            return self.files
        if fact == "capability":
            return self.capabilities
        if fact == "approved":
            return None if self.approved is None else (APPROVED[not self.approved],)
        known: str | None = getattr(self, fact)
        return None if known is None else (normalise(known) if fact == "name" else known,)


def is_fact(argument: str) -> bool:
    """Return whether a key of `match` names a fact of skills instead of a tool's argument."""
    return argument.removeprefix(PREFIX) in FACTS and argument.startswith(PREFIX)


def fit_of_skills(
    wanted: Mapping[str, Sequence[str]],
    skills: Sequence[SkillIdentity],
    *,
    refuses: bool = True,
    pending: bool | None = None,
) -> Fit:
    """Compare the skills of one call with the patterns for each fact. A call without skills does not match.

    `refuses` states whether the rule denies or asks. `pending` states whether a pending fact matches if its known
    values do not; by default, it matches rules that allow.
    """
    waiting = not refuses if pending is None else pending
    outcomes = [
        [
            met if (met := _met(skill, fact, patterns, refuses=refuses)) or fact not in skill.pending else waiting
            for fact, patterns in wanted.items()
        ]
        for skill in skills
    ]
    if outcomes and all(met for outcome in outcomes for met in outcome):
        return CERTAIN
    possible = any(all(met is not False for met in outcome) for outcome in outcomes)
    unknown = sorted({fact for skill in skills for fact in wanted if skill.values(fact) is None})
    reason = f"the {', '.join(unknown)} of the skill is not known" if unknown else "it is about another skill"
    return Fit(certain=False, possible=possible, kind="skill", reason=reason)


def _met(skill: SkillIdentity, fact: str, patterns: Sequence[str], *, refuses: bool) -> bool | None:
    values = skill.values(fact)
    if values is None:
        return None
    if fact == "name":
        patterns = [normalise(pattern) for pattern in patterns]
    if fact == "source":
        patterns = [form for pattern in patterns for form in _forms(pattern)]
        if not refuses:
            values = [value for value in values if value not in skill.stated_paths]
    if any(pattern in values for pattern in patterns):
        return True
    globs = [pattern for pattern in patterns if is_glob(pattern)]
    return any(fits_text(value, glob) for glob in globs for value in values)


def _forms(source: str) -> tuple[str, ...]:
    """Return the pattern as written and, for an absolute path, its resolved form, else its form in lower case.

    Components before the first glob are resolved: symbolic links are followed, and `.`, `..` and a trailing slash are
    removed. So a rule may name a symbolic link to a directory of skills.
    """
    if not source.startswith("/"):
        return source, source.lower()  # the names of a repository on a host that ignores case are in lower case too
    parts = source.split("/")
    signs = next((place for place, part in enumerate(parts) if re.search(_GLOB, part)), len(parts))
    real = as_written(os.path.realpath("/".join(parts[:signs]) or "/")).rstrip("/")
    return source, "/".join((real, *parts[signs:]))


def indexed_forms(fact: str, pattern: str) -> tuple[str, ...] | None:
    """Return the forms of a pattern that values are compared with; None if they may change while the rule applies.

    A path in a rule may be a symbolic link, or become one if nothing is there yet.
    """
    if fact == "name":
        return (normalise(pattern),)
    if fact != "source":
        return (pattern,)
    forms = _forms(pattern)
    above = re.split(_GLOB, pattern)[0].rpartition("/")[0] if is_glob(pattern) else pattern
    is_fixed = not pattern.startswith("/") or (forms[1] == pattern and os.path.exists(above or "/"))
    return forms if is_fixed else None


def fact_fault(fact: str, pattern: str) -> str | None:
    """Return the reason why a pattern can never match; None if the pattern can match."""
    if fact in {"digest", "file"} and not re.fullmatch(_DIGEST, pattern):
        return f"{pattern[:80]!r} is not a digest; write sha256: and 64 lowercase hexadecimal digits"
    if fact == "approved" and pattern not in APPROVED:
        return f"{pattern[:80]!r} is not known; write true or false"
    if fact == "findings" and pattern not in FINDINGS:
        return f"{pattern[:80]!r} is not a severity; write one or more of {', '.join(FINDINGS)}"
    if fact == "layer" and pattern not in LAYERS and not re.search(_GLOB, pattern):
        return f"{pattern[:80]!r} is not a layer; write one of {', '.join(LAYERS)}"
    return None
