"""An organisation in an SQLite file, and calls of people to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.store import SharedDatabase
from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    create_store(url, origin="acme", public_key="acme")
    opened = SharedDatabase(url)
    yield opened
    opened.close()


@pytest.fixture
def call_of(database: SharedDatabase) -> Callable[..., ServiceCall]:
    """Return the call of a person, by default of an administrator of the tenant."""

    def made(user: str = "ada", *roles: str, tenant: str = "default") -> ServiceCall:
        held = roles or ("administrator",)
        actor = Actor(user=user, roles=held, tenant=tenant, identified_by="token")  # type: ignore[arg-type]  # roles
        return ServiceCall(actor, database)

    return made
