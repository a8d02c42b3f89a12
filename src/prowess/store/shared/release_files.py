"""The files of a deployment in a shared store: signed metadata, and archives of skills."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from sqlalchemy import select, text
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.shared.generations import advance
from prowess.store.shared.tables import RELEASE_FILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from prowess.store.shared.database import SharedDatabase

_LOCK = text("SELECT pg_advisory_xact_lock(:space, :tenant)")
_LOCK_SPACE = 0x5057524C  # "PWRL"


class SharedReleaseFiles:
    """A `ReleaseFileStore` for the deployment of one tenant; with `*`, for that of the organisation."""

    def __init__(self, database: SharedDatabase, tenant: str | None = None) -> None:
        self.database = database
        self.tenant = database.tenant if tenant is None else tenant

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        return self.database.run(lambda db: _body(db, self.tenant, path), write=False)

    def publish(self, files: Mapping[str, bytes], expected: Mapping[str, bytes | None], *, is_act: bool = True) -> bool:
        """Write all files, if those of `expected` still have this content; otherwise write nothing and return False.

        `is_act` states whether it changes what sessions may do. Then the generation grows.
        """

        def work(db: Connection) -> bool:
            if db.dialect.name == "postgresql":  # one publication at a time; the checks below see the one before
                db.execute(_LOCK, {"space": _LOCK_SPACE, "tenant": zlib.crc32(self.tenant.encode()) - 2**31})
            if any(_body(db, self.tenant, path) != known for path, known in expected.items()):
                return False
            if is_act:
                advance(db, self.tenant)
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            for path, data in files.items():
                new = module.insert(RELEASE_FILES).values(tenant=self.tenant, path=path, body=data)
                key = [RELEASE_FILES.c.tenant, RELEASE_FILES.c.path]
                db.execute(new.on_conflict_do_update(index_elements=key, set_={"body": data}))
            return True

        return self.database.run(work)


def _body(db: Connection, tenant: str, path: str) -> bytes | None:
    wanted = select(RELEASE_FILES.c.body).where(RELEASE_FILES.c.tenant == tenant, RELEASE_FILES.c.path == path)
    found = db.execute(wanted).scalar()
    return None if found is None else bytes(found)
