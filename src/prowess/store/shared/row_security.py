"""Row-level security in PostgreSQL: the statements that keep the tenants of a table apart.

Each transaction takes the role `prowess_rows`, which owns nothing and bypasses nothing, and sets `prowess.tenant`. So
the security holds also if the user of the URL is a superuser or owns the tables. Without a tenant no row is seen.
"""

from __future__ import annotations

ROLE = "prowess_rows"
SETTING = "prowess.tenant"
_CURRENT = f"current_setting('{SETTING}', true)"

MAKE_ROLE = f"""DO $$ BEGIN
    BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
            CREATE ROLE {ROLE} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
        END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- another database of this server made it just now
    END;
    BEGIN
        EXECUTE format('GRANT {ROLE} TO %I', current_user);
    EXCEPTION WHEN insufficient_privilege THEN NULL;  -- a member already, or the first transaction is refused
    END;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO {ROLE}', current_schema());
END $$"""


def protect(table: str, *, given: bool = False, grants: str = "SELECT, INSERT, UPDATE, DELETE") -> tuple[str, ...]:
    """Return the statements that give `ROLE` the rows of one tenant, and all rows to those who administer.

    With `given`, each tenant may read, but not change, the rows of the organisation. `grants` are the rights of `ROLE`.
    """
    own = f"(tenant = {_CURRENT} OR {_CURRENT} = '*')"
    of_all = f"CREATE POLICY organisation ON {table} FOR SELECT TO {ROLE} USING (tenant = '*' AND {_CURRENT} <> '')"
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY tenant ON {table} TO {ROLE} USING {own} WITH CHECK {own}",
        *((of_all,) if given else ()),
        f"GRANT {grants} ON {table} TO {ROLE}",
    )
