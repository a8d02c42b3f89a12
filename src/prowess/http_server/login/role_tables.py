"""Roles of people who log in by an issuer, from the tables `[roles]` of the policies in the store.

With several tables, each one must give a right, as for every other act. Without a table, the role is `viewer`: an
issuer knows people who have nothing to do with skills, and to show is less than to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import PolicyError, StoreError
from prowess.governance.shared_decisions import SharedDecisions
from prowess.policy.roles import PERMITTED, ROLES, PersonRole

if TYPE_CHECKING:
    from prowess.policy.roles import RoleTable
    from prowess.store.shared.database import SharedDatabase

_WITHOUT_TABLE: tuple[PersonRole, ...] = ("viewer",)


class RoleTables:
    """The tables of each tenant. They are read again when the generation of governance is another one.

    A thread that reads at the same time as another one reads the same or newer tables, so there is no lock.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database
        self._known: dict[str, tuple[int, tuple[RoleTable, ...]]] = {}

    def roles_of(self, tenant: str, generation: int, user: str, groups: frozenset[str]) -> tuple[PersonRole, ...]:
        """Return the roles of a user in these groups, in a tenant whose governance has this generation now.

        Raises:
            StoreError: the policies cannot be read.
        """
        known = self._known.get(tenant)
        if known is None or known[0] != generation:
            known = self._known[tenant] = self._read(tenant)
        return roles_in(known[1], user, groups)

    def _read(self, tenant: str) -> tuple[int, tuple[RoleTable, ...]]:
        try:
            rules = SharedDecisions(self._database.of_tenant(tenant)).rules()
        except PolicyError as fault:
            raise StoreError(self._database.url, f"a policy cannot be read: {fault}") from fault
        return rules.generation, tuple(file.roles for file in rules.files if file.roles is not None)


def roles_in(tables: tuple[RoleTable, ...], user: str, groups: frozenset[str]) -> tuple[PersonRole, ...]:
    """Return the roles with the rights that every table gives to a user."""
    if not tables:
        return _WITHOUT_TABLE
    permitted = [
        frozenset[str]().union(*(PERMITTED[role] for role in table.roles_of(user, groups))) for table in tables
    ]
    common = frozenset.intersection(*permitted)
    given = [role for role in ROLES if PERMITTED[role] <= common]
    # A role that gives less than another one is left out.
    return tuple(role for role in given if not any(PERMITTED[role] < PERMITTED[other] for other in given))
