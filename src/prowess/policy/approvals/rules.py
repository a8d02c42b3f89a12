"""Entries `[[approval]]` of a policy file: which skills people must approve, how many people, and in which roles.

    [[approval]]
    for = ["scripts", "network-tools"]
    count = 2
    roles = ["approver"]
    expires = "90d"
    own = false

A skill with a capability in `for` is not loaded, read or run until `count` people have approved exactly its bytes. With
`new-skills`, every skill needs an approval. Unknown capabilities count as each capability. If `own` is false, the
author of a skill cannot approve it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.near_words import near_words
from prowess.policy.facts.capabilities import APPROVED_CAPABILITIES
from prowess.policy.packages.package_rules import seconds_of
from prowess.policy.roles import ROLES

if TYPE_CHECKING:
    from prowess.policy.decision import RuleOrigin
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.roles import RoleTable
    from prowess.policy.table_reader import TableReader

NEW_SKILLS = "new-skills"
APPROVED_FOR = (*APPROVED_CAPABILITIES, NEW_SKILLS)
_KEYS = ("for", "count", "roles", "expires", "own", "id")
APPROVED_FACT = "skill.approved"  # a key of `match`, and the rule of approvals that no entry demands
DEFAULT_ROLES = ("approver", "administrator")
_MOST_PEOPLE = 100
_MOST_SECONDS = 100 * 365 * 86400


class ApprovalRule(Struct, frozen=True, kw_only=True):
    """One entry. `words` are the values of `for`; `expires` is in seconds, None for approvals without an end."""

    words: tuple[str, ...]
    count: int = 1
    roles: tuple[str, ...] = DEFAULT_ROLES
    expires: int | None = None
    own: bool = False
    id: str | None = None
    origin: RuleOrigin

    @property
    def name(self) -> str:
        """The name in statements: the id, else the words of `for`. It does not change when lines of the file move."""
        return self.id or "+".join(word for word in APPROVED_FOR if word in self.words)

    @property
    def needs_capabilities(self) -> bool:
        """Whether the capabilities of a skill decide whether it needs this approval."""
        return NEW_SKILLS not in self.words

    def reasons(self, skill: SkillIdentity) -> tuple[str, ...]:
        """Return the words of `for` that are true of a skill; empty if it does not need this approval."""
        capabilities = skill.capabilities
        return tuple(word for word in self.words if word == NEW_SKILLS or capabilities is None or word in capabilities)


def read_approval_rules(
    file: TableReader, content: dict[str, object], roles: RoleTable | None
) -> tuple[ApprovalRule, ...]:
    """Read the entries `[[approval]]` of a policy file, and report every fault. `roles` are those of the file.

    Two entries have different names, and as many people as an entry wants must have one of its roles.
    """
    rules = file.each(content, "approval", lambda table, *at: _approval(file, table, *at))
    names = [rule.name for rule in rules]
    for place, (name, rule) in enumerate(zip(names, rules, strict=True)):
        if name and name in names[:place]:
            file.fault(f"another entry has the name {name} too; give one of them an id", "approval", place, "for")
        people = None if roles is None else _possible(rule, roles)
        if people is not None and rule.count > len(people):
            who = ", ".join(sorted(people)) or "nobody"
            why = f"is more than the number of people with the role {' or '.join(rule.roles)} ({who})"
            file.fault(f"{why}; lower it, or give the role to more people in [roles]", "approval", place, "count")
    return rules


def _possible(rule: ApprovalRule, roles: RoleTable) -> frozenset[str] | None:
    """Return who may approve, by the roles of the file; None if groups or all others may."""
    able = {*rule.roles, "administrator"}
    members = [one for one in roles.members if one.role in able]
    if roles.others in able or any(one.groups for one in members):
        return None
    return frozenset(user for one in members for user in one.users)


def _approval(file: TableReader, table: dict[str, object], *at: str | int) -> ApprovalRule:
    file.only(table, _KEYS, *at)
    words = _known(file, table, "for", APPROVED_FOR, *at)
    if not words and ("for" not in table or table["for"] == []):
        file.fault(f"is missing; list some of {', '.join(APPROVED_FOR)}", *at, "for")
    return ApprovalRule(
        words=words,
        count=_count(file, table, *at),
        roles=_known(file, table, "roles", ROLES, *at) or DEFAULT_ROLES,
        expires=_expires(file, table, *at),
        own=file.switch(table, "own", *at) or False,
        id=file.unique_id(table, *at),
        origin=file.origin(*at),
    )


def _known(
    file: TableReader, table: dict[str, object], key: str, known: tuple[str, ...], *at: str | int
) -> tuple[str, ...]:
    listed = file.texts(table, key, *at) or ()
    for word in listed:
        if word not in known:
            near = near_words(word, known)
            meant = f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(known)}"
            file.fault(f"{word[:80]!r} is not known; {meant}", *at, key)
    if key in table and not listed and key != "for":
        file.fault(f"must be a list with some of {', '.join(known)}", *at, key)
    return tuple(dict.fromkeys(listed))


def _count(file: TableReader, table: dict[str, object], *at: str | int) -> int:
    value = table.get("count", 1)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_PEOPLE:
        file.fault(f"must be a number of people, from 1 to {_MOST_PEOPLE}", *at, "count")
        return 1
    return value


def _expires(file: TableReader, table: dict[str, object], *at: str | int) -> int | None:
    text = file.text(table, "expires", *at)
    seconds = None if text is None else seconds_of(text)
    if text is not None and seconds is None:
        file.fault('must be a number of seconds, minutes, hours or days, such as "90d"', *at, "expires")
    elif seconds is not None and not 0 < seconds <= _MOST_SECONDS:
        file.fault('must be after the vote and within 100 years; write for example "90d"', *at, "expires")
        return None
    return seconds
