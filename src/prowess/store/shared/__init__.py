"""The store that an organisation's machines share: PostgreSQL, or one SQLite file for one tenant."""
