"""Roles: the rights of people in an organisation. One table, for commands, sessions and everything that asks later.

    [roles]
    others = "viewer"                                             # of people whom no entry names; "user" if not set
    administrator = { users = ["ada"], groups = ["platform"] }
    author = { groups = ["writers"] }

Without this table, roles limit no person. With it, a person has the rights of each of the person's roles. Each
policy file with the table must permit an act, so a lower layer can only tighten.

A user is the one of the process and the one that a host states; both must have a role that permits the act. The groups
of the process's user are those of the operating system. A stated user's group is the stated team.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from prowess._internal.process_user import groups_of_process, login
from prowess._internal.text.near_words import near_words
from prowess.policy.decision import Deny, RuleOrigin
from prowess.policy.tool_names import SKILL_TOOLS, USER_TOOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.policy.facts.requester import Requester
    from prowess.policy.table_reader import TableReader

Operation = Literal["use", "create", "publish", "approve", "deploy", "block", "audit", "administer"]
PersonRole = Literal["viewer", "user", "author", "approver", "administrator"]

ROLES: tuple[PersonRole, ...] = get_args(PersonRole)  # from the least rights to the most
# Everybody may see which skills there are.
PERMITTED: Mapping[PersonRole, frozenset[Operation]] = {
    "viewer": frozenset(),
    "user": frozenset({"use"}),
    "author": frozenset({"use", "create", "publish"}),
    "approver": frozenset({"use", "approve", "audit"}),
    "administrator": frozenset(get_args(Operation)),
}
_OTHERS = "others"
GROUP = "group"  # of a requester: groups of the operating system, for roles alone
_SAID: Mapping[Operation, str] = {
    "use": "use or install skills",
    "create": "create skills",
    "publish": "publish skills",
    "approve": "approve skills",
    "deploy": "deploy skills",
    "block": "block skills",
    "audit": "read records of other people",
    "administer": "administer a store",
}
_OF_TOOLS: Mapping[str, Operation] = {
    **dict.fromkeys(SKILL_TOOLS | {USER_TOOL}, "use"),
    **dict.fromkeys(("packages.install", "packages.update", "packages.rollback"), "use"),
    **dict.fromkeys(("packages.deploy", "packages.revoke"), "deploy"),
    "create_skill": "create",
}


class RoleMembers(Struct, frozen=True, kw_only=True):
    """The users and groups that have one role."""

    role: PersonRole
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


class RoleTable(Struct, frozen=True, kw_only=True):
    """The table `[roles]` of one policy file. `others` is the role of everybody whom no entry names."""

    others: PersonRole = "user"
    members: tuple[RoleMembers, ...] = ()
    origin: RuleOrigin

    def roles_of(self, user: str | None, groups: frozenset[str]) -> tuple[PersonRole, ...]:
        """Return the roles of a user in these groups. A user who is not known has the role of others."""
        found = tuple(one.role for one in self.members if user in one.users or not groups.isdisjoint(one.groups))
        return found or (self.others,)

    def held_by(self, who: Requester) -> Iterator[tuple[str | None, tuple[PersonRole, ...]]]:
        """Yield each known user of a requester with the roles of this user; None if no user is known."""
        for user in who.get("user") or (None,):
            if user is not None and user == login():
                groups = groups_of_process()
            else:
                groups = frozenset((*who.get("team", ()), *who.get(GROUP, ())))
            yield user, self.roles_of(user, groups)

    def denial(self, operation: Operation, who: Requester) -> Deny | None:
        """Return why a requester may not do this, or None."""
        for user, roles in self.held_by(who):
            if not any(operation in PERMITTED[role] for role in roles):
                held = " and ".join(roles)
                able = " or ".join(role for role, permitted in PERMITTED.items() if operation in permitted)
                reason = f"{user or 'an unknown user'} has the role {held} and may not {_SAID[operation]}"
                return Deny(
                    rule=f"roles.{operation}", reason=f"{reason}; this needs the role {able}", origin=self.origin
                )
        return None


def operation_of(tool: str) -> Operation | None:
    """Return the operation of a call of a tool, given by its canonical name; None if roles do not limit it."""
    return _OF_TOOLS.get(tool)


def read_roles(reader: TableReader, content: dict[str, object]) -> RoleTable | None:
    """Return the table `[roles]`, None if there is none. Faults are reported to `reader`."""
    if "roles" not in content:
        return None
    table, members = content["roles"], []
    if not isinstance(table, dict):
        reader.fault('must be a table such as administrator = { users = ["ada"] }', "roles")
        return None
    others = _role(table.get(_OTHERS, "user"))
    if others is None:
        reader.fault(f"must be one of {', '.join(PERMITTED)}", "roles", _OTHERS)
    for name, entry in table.items():
        if name == _OTHERS:
            continue
        role = _role(name)
        if role is None:
            near = near_words(name, (*PERMITTED, _OTHERS))
            meant = f"did you mean {near[0]!r}?" if near else f"roles are {', '.join(PERMITTED)}"
            reader.fault(f"is not a role; {meant}", "roles", name)
        elif not isinstance(entry, dict) or not entry or not entry.keys() <= {"users", "groups"}:
            reader.fault(
                'must be { users = ["ada"], groups = ["platform"] }, with one of these keys or both', "roles", name
            )
        else:
            listed = {key: _texts(reader, value, "roles", name, key) for key, value in entry.items()}
            members.append(RoleMembers(role=role, **listed))
    return RoleTable(others=others or "viewer", members=tuple(members), origin=reader.origin("roles"))


def _texts(reader: TableReader, value: object, *at: str) -> frozenset[str]:
    if isinstance(value, list) and value and all(isinstance(one, str) and one for one in value):
        return frozenset(value)
    reader.fault("must be a list of names", *at)
    return frozenset()


def _role(text: object) -> PersonRole | None:
    return next((role for role in PERMITTED if role == text), None)
