"""The server that tests use: no system cluster, a socket only, and it comes back after an immediate stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.postgresql import Postgresql


def test_it_listens_on_a_socket_only_and_keeps_what_was_committed(postgresql: Postgresql) -> None:
    url = postgresql.url()
    with psycopg.connect(url) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        connection.execute("CREATE TABLE kept (n integer)")
    with psycopg.connect(url) as connection:
        postgresql.stop()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    postgresql.start()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
