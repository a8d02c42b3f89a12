"""Tenants never see each other: two of them act at random, and every answer to one is searched for names of the other.

PROWESS_ISOLATION_STEPS sets the number of steps. In a second run, each statement loses its condition on the tenant
before the database sees it, so that the row-level security stands alone.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Literal

import anyio
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from sqlalchemy import event, select
from starlette.routing import Route

from prowess.http_server.api.routes import ROUTES
from prowess.http_server.pages.routes import page_routes
from prowess.store import SessionRow
from prowess.store.shared.sessions import SharedSessionStore
from prowess.store.shared.tables import METADATA
from tests.http_server.organisation import ServedOrganisation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from httpx import Response

    from tests.postgresql import Postgresql

Tenant = Literal["acme", "beta"]
STEPS = int(os.environ.get("PROWESS_ISOLATION_STEPS", "100"))
TENANTS: tuple[Tenant, ...] = ("acme", "beta")
STREAMS = {"events", "/activity/live"}
LISTS = [one for one in ROUTES if one.method == "GET" and "{" not in one.path and one.name not in STREAMS]
PICK = st.integers(0, 10**6)  # of a list whose length hypothesis must not know: examples share the store
READ = {"proof": {"record": "1"}, "consistency": {"old": "0"}, "access": {"skill": "x"}}
ITEMS = [one for one in ROUTES if "{id}" in one.path]
_PARAMETER = re.compile(r"\{[^}]*\}")
_CONDITION = re.compile(r"\b(?:\w+\.)?tenant (?:= %\(\w+\)s(?:::\w+)?|IN \([^)]*\))")


class Isolation(RuleBasedStateMachine):
    """Acts of both tenants. What a tenant makes is named `TENANT-secret-N`.

    Answers with 5xx are no leak, and can happen while conditions are missing.
    """

    organisation: ServedOrganisation
    numbers: itertools.count[int]
    ids: dict[str, list[str]]

    def _client(self, tenant: str, role: str = "administrator") -> Any:  # noqa: ANN401 -- a client of Starlette
        return self.organisation.client(role, tenant)

    def _secret(self, tenant: str) -> str:
        return f"{tenant}-secret-{next(self.numbers)}"

    def _check(self, tenant: str, answer: Response) -> Response:
        foreign = ("beta" if tenant == "acme" else "acme", "organisation")
        text = answer.text
        places = [text.find(f"{one}-secret") for one in foreign]
        assert places == [-1, -1], text[max(0, max(places) - 200) : max(places) + 50]
        return answer

    def _kept(self, tenant: str, answer: Response) -> None:
        self._check(tenant, answer)
        if answer.status_code == 201:
            self.ids[tenant].append(answer.json()["id"])

    @rule(tenant=st.sampled_from(TENANTS))
    def block(self, tenant: Tenant) -> None:
        secret = self._secret(tenant)
        body = {"match": {"name": secret}, "reason": secret}
        self._kept(tenant, self._client(tenant).post("/api/v1/blocks", json=body))

    @rule(tenant=st.sampled_from(TENANTS))
    def token(self, tenant: Tenant) -> None:
        body = {"role": "viewer", "user": self._secret(tenant), "team": self._secret(tenant)}
        self._kept(tenant, self._client(tenant).post("/api/v1/tokens", json=body))

    @rule(tenant=st.sampled_from(TENANTS))
    def policy(self, tenant: Tenant) -> None:
        toml = f'default = "allow"\n# {self._secret(tenant)}\n'
        self._check(tenant, self._client(tenant).put("/api/v1/policies/base", json={"toml": toml}))

    @rule(tenant=st.sampled_from(TENANTS))
    def session(self, tenant: Tenant) -> None:
        secret, session_id = self._secret(tenant), f"session-{next(self.numbers)}"
        store = SharedSessionStore(self.organisation.server.database.of_tenant(tenant))

        async def add() -> None:
            state = f'{{"active": [{{"name": "{secret}"}}]}}'
            await store.create(SessionRow(session_id=session_id, version=1, state=state, touched_at=1764444000.5))
            await store.append_event(session_id, f'{{"type": "{secret}"}}', at=1764444000.5, keep=9)

        thread = threading.Thread(target=anyio.run, args=(add,))
        thread.start()
        thread.join()
        self.ids[tenant].append(session_id)

    @rule(tenant=st.sampled_from(TENANTS))
    def machine(self, tenant: Tenant) -> None:
        number = f"00000000-0000-7000-8000-{next(self.numbers):012}"
        body = {"machine": {"id": number, "name": self._secret(tenant), "team": self._secret(tenant)}}
        self._check(tenant, self._client(tenant, "machine").post("/api/v1/audit/records", json=body))
        self.ids[tenant].append(number)

    @rule(tenant=st.sampled_from(TENANTS))
    def approval(self, tenant: Tenant) -> None:
        body = {"skill": self._secret(tenant), "digest": f"sha256:{next(self.numbers):064x}", "reason": "needed"}
        if any(route.path == "/approvals" for route in ROUTES):
            self._kept(tenant, self._client(tenant).post("/api/v1/approvals", json=body))

    @rule()
    def token_of_the_organisation(self) -> None:
        body = {"role": "viewer", "user": self._secret("organisation")}
        assert self._client("*").post("/api/v1/tokens", json=body).status_code in {201, 503}

    @rule()
    def sequence(self) -> None:
        self.organisation.sequence()

    @rule(tenant=st.sampled_from(TENANTS), route=st.sampled_from(LISTS))
    def read(self, tenant: Tenant, route: Any) -> None:  # noqa: ANN401 -- hypothesis gives it
        self._check(tenant, self._client(tenant).get(f"/api/v1{route.path}", params=READ.get(route.name)))

    @rule(tenant=st.sampled_from(TENANTS), route=st.sampled_from(ITEMS), pick=PICK)
    def name_what_is_foreign(self, tenant: Tenant, route: Any, pick: int) -> None:  # noqa: ANN401 -- as above
        other = "beta" if tenant == "acme" else "acme"
        if not self.ids[other]:
            return
        path = f"/api/v1{route.path.format(id=self.ids[other][pick % len(self.ids[other])])}"
        body = {"vote": "approve"} if "votes" in path else None
        answer = self._client(tenant).request(route.method, path, json=body)
        assert answer.status_code in {404, 503}, (path, answer.text)

    @rule(tenant=st.sampled_from(TENANTS), route=st.sampled_from(ROUTES))
    def ask_for_another_tenant(self, tenant: Tenant, route: Any) -> None:  # noqa: ANN401 -- as above
        for other in ("beta" if tenant == "acme" else "acme", "*"):
            path = f"/api/v1{re.sub(_PARAMETER, 'x', route.path)}"
            answer = self._client(tenant).request(route.method, path, params={"tenant": other})
            assert answer.status_code == 404

    @rule(tenant=st.sampled_from(TENANTS), page=PICK, pick=PICK)
    def read_a_page(self, tenant: Tenant, page: int, pick: int) -> None:
        routes = page_routes(self.organisation.server)
        paths = [one.path for one in routes if isinstance(one, Route) and "GET" in (one.methods or ())]
        path = [one for one in paths if one not in STREAMS][page % (len(paths) - 1)]
        ids = self.ids["beta" if tenant == "acme" else "acme"] or ["none"]
        named = re.sub(_PARAMETER, ids[pick % len(ids)], path)
        answer = self._client(tenant).get(named, follow_redirects=False)
        if "{" in path:  # an error may repeat the name that was asked for
            assert answer.status_code in {303, 404, 503}, (named, answer.text)
        else:
            self._check(tenant, answer)

    @rule(tenant=st.sampled_from(TENANTS))
    def read_every_table(self, tenant: Tenant) -> None:
        other = "beta" if tenant == "acme" else "acme"
        view = self.organisation.server.database.of_tenant(tenant)
        for table in METADATA.sorted_tables:
            rows = view.run(lambda db, table=table: db.execute(select(table)).all(), write=False)  # type: ignore[misc]  # a lambda
            assert {row.tenant for row in rows} <= {tenant, "*"}
            assert f"{other}-secret" not in repr(rows)


@pytest.fixture(scope="module")
def organisation(postgresql: Postgresql) -> Iterator[ServedOrganisation]:
    with ServedOrganisation(postgresql.url(), *TENANTS) as served:
        yield served


def _run(organisation: ServedOrganisation) -> None:
    class Both(Isolation):
        """The machine over this organisation. Its examples share the store: names are never used twice."""

    Both.organisation, Both.numbers = organisation, itertools.count(1)
    Both.ids = {tenant: [] for tenant in TENANTS}
    run_state_machine_as_test(
        Both,
        settings=settings(
            max_examples=max(1, STEPS // 50),
            stateful_step_count=50,
            deadline=None,
            database=None,
            phases=[Phase.generate],  # what is left of a failure is short enough
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.proves("governance.tenants.isolation")
def test_no_answer_to_a_tenant_names_anything_of_another(organisation: ServedOrganisation) -> None:
    _run(organisation)


@pytest.mark.proves("governance.tenants.isolation")
def test_row_level_security_alone_keeps_tenants_apart(organisation: ServedOrganisation) -> None:
    engine = organisation.server.database._connections.engine()
    changed = list[str]()

    def without_condition(*call: Any) -> tuple[str, Any]:  # noqa: ANN401 -- SQLAlchemy's signature
        _, _, statement, parameters, _, _ = call
        shorter, count = _CONDITION.subn("true", statement)
        changed.extend([statement] * bool(count))
        return shorter, parameters

    event.listen(engine, "before_cursor_execute", without_condition, retval=True)
    try:
        _run(organisation)
    finally:
        event.remove(engine, "before_cursor_execute", without_condition)
    assert len(set(changed)) > 10
