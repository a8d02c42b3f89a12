"""Enrolled machines in a shared store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.protocols import MachineRow
from prowess.store.shared.tables import MACHINES
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from prowess.store.shared.database import SharedDatabase

_COLUMNS = tuple(MACHINES.c[name] for name in MachineRow.__struct_fields__)

_KEPT = ("tenant", "id", "log")


class SharedMachineStore:
    """A `MachineStore` for the tenant of a database; for the tenant `*`, the machines of all tenants."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._mine = () if database.tenant == EVERY else (MACHINES.c.tenant == database.tenant,)

    def machine(self, machine_id: str) -> MachineRow | None:
        """Return the machine with this id, None if there is none."""
        wanted = select(*_COLUMNS).where(*self._mine, MACHINES.c.id == machine_id)
        row = self.database.run(lambda db: db.execute(wanted).first(), write=False)
        return None if row is None else _machine(row)

    def machines(self, after: str = "", limit: int | None = None) -> list[MachineRow]:
        """Return the first machines whose id is above `after`, in the order of their ids."""
        wanted = select(*_COLUMNS).where(*self._mine, MACHINES.c.id > after).order_by(MACHINES.c.id).limit(limit)
        return [_machine(row) for row in self.database.run(lambda db: db.execute(wanted).all(), write=False)]

    def put_machine(self, row: MachineRow) -> None:
        """Add a machine, or replace the one with its id. The end of its log stays."""
        values = {name: getattr(row, name) for name in MachineRow.__struct_fields__}

        def work(db: Connection) -> None:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            rest = {name: value for name, value in values.items() if name not in _KEPT}
            new = module.insert(MACHINES).values(values)
            db.execute(new.on_conflict_do_update(index_elements=[MACHINES.c.tenant, MACHINES.c.id], set_=rest))

        self.database.run(work)

    def replace_log(self, machine_id: str, log: str, *, expected: str | None) -> bool:
        """Set the end of the log of a machine if it is `expected`; otherwise return False."""
        same = MACHINES.c.log.is_(None) if expected is None else MACHINES.c.log == expected
        change = update(MACHINES).where(*self._mine, MACHINES.c.id == machine_id, same).values(log=log)
        return self.database.run(lambda db: db.execute(change).rowcount == 1)

    def remove_machine(self, machine_id: str) -> bool:
        """Remove a machine; return False if there is none with this id."""
        change = delete(MACHINES).where(*self._mine, MACHINES.c.id == machine_id)
        return self.database.run(lambda db: db.execute(change).rowcount == 1)


def _machine(row: Row[tuple[object, ...]]) -> MachineRow:
    return MachineRow(**row._asdict())
