"""Facts about a call in the data of its audit record, and the call as a policy sees it.

A key that the data lacks is not known. A key whose value is null was not known when the call was decided: rules that
deny or ask applied to it then, and apply to it again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType, convert

from prowess._internal.text.secret_patterns import REDACTED
from prowess.policy.facts.requester import REQUESTER_FACTS, REQUESTER_PREFIX
from prowess.policy.facts.skill_identity import FACTS, SkillIdentity
from prowess.policy.rule import PolicyCall
from prowess.policy.tool_names import PACKAGE_TOOLS, SKILL_ARGUMENTS, canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

Text = str | UnsetType | None
OfSkills = str | tuple[str | None, ...] | UnsetType | None  # a tuple has a value for each skill of the call
MATCHED_KEYS = ("digests", "sources", "stated_paths", "copies")
Lists = tuple[str | tuple[str, ...] | None, ...]
_OF_SKILL = ("skill", "digest", "source", "publisher", "layer")
_ALL = frozenset(FACTS)
_NOT_RECORDED = _ALL.difference(_OF_SKILL, ("name",))
_RUN_TOOL = "skills.run_script"


class FurtherValues(Struct, frozen=True, gc=False):
    """Further values of facts about the requester."""

    user: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    host: tuple[str, ...] = ()


class OtherSkill(Struct, frozen=True, gc=False):
    """Another active skill of a call, with the keys of a record."""

    skill: Text = UNSET
    digest: Text = UNSET
    source: Text = UNSET
    publisher: Text = UNSET
    layer: Text = UNSET
    digests: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    stated_paths: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()


class RecordedFacts(Struct, frozen=True, gc=False):
    """What rules match, by the keys of the data of a record. Calls with equal facts are decided alike."""

    tool: Text = UNSET
    skill: OfSkills = UNSET
    digest: OfSkills = UNSET
    source: OfSkills = UNSET
    publisher: OfSkills = UNSET
    layer: OfSkills = UNSET
    user: Text = UNSET
    team: Text = UNSET
    roles: tuple[str, ...] | UnsetType | None = UNSET
    agent: Text = UNSET
    tenant: Text = UNSET
    environment: Text = UNSET
    client: Text = UNSET
    host: Text = UNSET
    digests: Lists = ()
    sources: Lists = ()
    stated_paths: Lists = ()
    copies: Lists = ()
    named: tuple[str, ...] = ()
    active_skills: tuple[OtherSkill, ...] = ()
    requester: FurtherValues = FurtherValues()
    decided_as: str | None = None
    command: tuple[str, ...] = ()


def policy_call(facts: RecordedFacts, source_patterns: Sequence[str]) -> PolicyCall | None:
    """Return the recorded call, None if its tool is not known. `source_patterns` are those of the policy's rules."""
    name = facts.decided_as or facts.tool
    if not isinstance(name, str):
        return None
    tool = canonical_tool_name(name)
    skills = tuple(_skills(facts, tool, source_patterns))
    arguments = _arguments(facts, tool, skills)
    who = {fact: values for fact in REQUESTER_FACTS if (values := _requester(facts, fact)) is not None}
    pending = _Pending(arguments, [fact for fact in REQUESTER_FACTS if _value(facts, fact) is UNSET])
    return PolicyCall(tool=name, arguments=arguments, accepts=pending, skills=skills, who=who, pending=pending)


class _Pending:
    """The keys of `match` whose values a record does not have: all arguments except the known ones, and facts."""

    __slots__ = ("_facts", "_known")

    def __init__(self, known: Collection[str], facts: Sequence[str]) -> None:
        self._known, self._facts = frozenset(known), frozenset(f"{REQUESTER_PREFIX}{fact}" for fact in facts)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and key.startswith(REQUESTER_PREFIX):
            return key in self._facts
        return key not in self._known


def _value(facts: RecordedFacts, fact: str) -> object:
    return facts.roles if fact == "role" else getattr(facts, fact)


def _requester(facts: RecordedFacts, fact: str) -> tuple[str, ...] | None:
    value, further = _value(facts, fact), getattr(facts.requester, fact)
    claimed = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else None
    return (*(claimed or ()), *further) if claimed is not None or further else None


def _arguments(facts: RecordedFacts, tool: str, skills: Sequence[SkillIdentity]) -> dict[str, object]:
    names: list[str | None] = [*facts.named] or [skill.name for skill in skills]
    arguments: dict[str, object] = {}
    if tool in SKILL_ARGUMENTS and names and None not in names:
        arguments = {"names": names} if SKILL_ARGUMENTS[tool] == "names" else {"skill": names[0], "names": names[:1]}
    if tool == _RUN_TOOL and facts.command and not any(REDACTED in word for word in facts.command):
        arguments |= {"path": facts.command[0], "args": list(facts.command[1:])}
    return arguments


def _skills(facts: RecordedFacts, tool: str, patterns: Sequence[str]) -> Iterator[SkillIdentity]:
    if facts.skill is UNSET or (facts.skill is None and (tool in SKILL_ARGUMENTS or tool in PACKAGE_TOOLS)):
        yield SkillIdentity(pending=_ALL)
        return
    for row in (*facts.active_skills, *_rows(facts)):
        yield _identity(row, patterns)


def _rows(facts: RecordedFacts) -> Iterator[OtherSkill]:
    if isinstance(facts.skill, tuple):
        for place in range(len(facts.skill)):
            values: dict[str, object] = {key: _at(getattr(facts, key), place) for key in _OF_SKILL}
            values |= {key: _listed(getattr(facts, key), place) for key in MATCHED_KEYS}
            yield _row(values)
    elif isinstance(facts.skill, str):
        values = {key: _at(getattr(facts, key), None) for key in _OF_SKILL}
        values |= {key: [one for one in getattr(facts, key) if isinstance(one, str)] for key in MATCHED_KEYS}
        yield _row(values)


def _row(values: Mapping[str, object]) -> OtherSkill:
    return convert({key: value for key, value in values.items() if value is not UNSET}, OtherSkill)


def _at(values: OfSkills, place: int | None) -> Text:
    if isinstance(values, tuple):
        return values[place] if place is not None and place < len(values) else UNSET
    return UNSET if isinstance(values, str) and place is not None else values


def _listed(values: Lists, place: int) -> tuple[str, ...]:
    found = values[place] if place < len(values) else None
    return found if isinstance(found, tuple) else ()


def _identity(row: OtherSkill, patterns: Sequence[str]) -> SkillIdentity:
    """Return the identity of one skill. A single digest or source is taken as the only one."""
    pending = {"name" if key == "skill" else key for key in _OF_SKILL if getattr(row, key) is UNSET}
    name, digest, source, layer, publisher = (
        value if isinstance(value, str) else None
        for value in (row.skill, row.digest, row.source, row.layer, row.publisher)
    )
    if source is not None and not row.sources and os.path.isabs(source) and _is_open(source, patterns):
        pending.add("source")
    copies = row.copies or ((f"{name}@{source}",) if layer == "plugin" and name and source else ())
    stated = () if source is None else (source, *row.sources)
    return SkillIdentity(
        name=name,
        digests=() if digest is None else (digest, *row.digests),
        sources=tuple(dict.fromkeys(path for one in stated for path in _above(one))) if stated else None,
        stated_paths=frozenset(row.stated_paths),
        layer=layer,
        publisher=publisher,
        copies=copies,
        pending=_NOT_RECORDED | pending,
    )


def _above(source: str) -> Iterator[str]:
    """Yield a source and, if it is a path, the directories above it, which a rule about a source matches too."""
    yield source
    while os.path.isabs(source) and (above := os.path.dirname(source)) != source:
        source = above
        if above != os.path.dirname(above):
            yield above


def _is_open(source: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern may be about a directory below a source: the record does not name the skill's directory."""
    return any(pattern.startswith(f"{source.rstrip('/')}/") for pattern in patterns)
