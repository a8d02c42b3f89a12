"""Enrolled machines and the real server of their organisation, as processes."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.governance.machine.machines import BOUND, USER
from tests.governance.machine.served import ServedStore
from tests.http_server.samples import skill_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.governance.machine.machines import Machine
    from tests.postgresql import Postgresql

pytestmark = pytest.mark.unmeasured  # tests of services run the same lines
ALLOW = 'default = "allow"\n'
DENY = '[[rule]]\neffect = "deny"\ntool = "skills.list"\nreason = "the organisation says no"\n'
CENTRAL = f'{ALLOW}[audit]\nsink = "central"\n'
LOG = "var/lib/prowess/audit"


@pytest.fixture
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedStore]:
    place = tmp_path_factory.mktemp("organisation")
    url = f"sqlite:///{place / 'organisation.db'}"
    if getattr(request, "param", "sqlite") == "postgresql":
        server: Postgresql = request.getfixturevalue("postgresql")
        url = server.url()
    with ServedStore(url, place / "home") as found:
        yield found


def put(served: ServedStore, toml: str, name: str = "base", tenant: str = "default") -> None:
    served.call("PUT", f"/policies/{name}?tenant={tenant}", {"toml": toml})


def enroll(machine: Machine, served: ServedStore, *options: str) -> None:
    machine.write("/run/token", served.machine_token, 0o600)
    key = served.made["public_key"]
    machine.run("machine", "enroll", served.url, "--token-file", "/run/token", "--key", key, *options)


def until(seen: Callable[[], object], seconds: float = BOUND) -> float:
    """Wait until something is seen, and return the seconds that it took."""
    begun = time.monotonic()
    while not seen():
        assert time.monotonic() < begun + seconds
        time.sleep(0.01)
    return time.monotonic() - begun


def test_a_machine_follows_its_organisation_within_two_seconds(machine: Machine, served: ServedStore) -> None:
    put(served, ALLOW, tenant="*")
    enroll(machine, served, "--team", "data", "--environment", "production")
    found = served.machine()
    assert (found["team"], found["environment"], found["current"]) == ("data", "production", True)
    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
        put(served, DENY, "stricter")
        took = until(lambda: not called()["success"])
        assert "the organisation says no" in called()["error"]
        assert took < 2 or os.getloadavg()[0] > 2  # on a machine that is not overloaded
        served.call("DELETE", "/policies/stricter?tenant=default")
        until(lambda: called()["success"])
        block = served.call("POST", "/blocks?tenant=default", {"match": {"name": "bad"}, "reason": "stolen"})
        until(lambda: served.machine()["current"])
        text = "---\nname: bad\ndescription: Does it. Use when needed.\n---\nDo.\n"
        machine.write("/run/people/skills/bad/SKILL.md", text)
        refused = machine.run("load", "bad", "--root", "/run/people/skills", user=USER, code=None)
        assert "stolen" in refused.stderr
        assert "denied by" in machine.run("list", "--root", "/run/people/skills", user=USER).stdout
        served.call("DELETE", f"/blocks/{block['id']}?tenant=default")
        machine.write("/etc/prowess/machine.token", served.token("machine"), 0o600)
        put(served, ALLOW, "again")  # so that the machine has something to report
        until(lambda: "another token" in (machine.document("machine", "status")["enrolment"]["fault"] or ""))
        assert "another token" in served.machine()["fault"]
    assert [record["data"]["name"] for record in served.records("machine.enrolled")] == [os.uname().nodename]


@pytest.mark.parametrize("served", ["postgresql"], indirect=True)
def test_a_tool_runs_after_the_organisation_has_the_record(machine: Machine, served: ServedStore) -> None:
    put(served, CENTRAL)
    enroll(machine, served)

    def records(kind: str) -> list[dict[str, Any]]:
        return [record for record in machine.records() if record["kind"] == kind]

    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
        assert served.machine()["records"] == len(machine.records()) > 0
        served.stop(signal.SIGKILL)
        refused = called()
        assert not refused["success"]
        assert "not with the organisation" in refused["error"]
        served.start()
        until(lambda: called()["success"])
    sent = served.records("tool.finished", len(records("tool.finished")))
    assert [one["data"]["machine_record"] for one in sent] == [one["sequence"] for one in records("tool.finished")]
    assert {one["data"]["identified_by"] for one in sent} == {"system"}
    assert served.machine()["findings"] == []


def test_a_log_that_was_deleted_or_cut_is_named_and_records_go_on(machine: Machine, served: ServedStore) -> None:
    put(served, CENTRAL)
    enroll(machine, served)
    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
    for name in ("audit.jsonl", "head.json"):
        os.unlink(machine.root / LOG / name)
    with machine.service(), machine.session(USER) as called:
        until(lambda: served.machine()["findings"])
        assert called()["success"]
        until(lambda: served.machine()["records"] == len(machine.records()))
    # The last record is cut off, with a head that hides it.
    copy = {name: (machine.root / LOG / name).read_bytes() for name in ("audit.jsonl", "head.json")}
    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
    for name, data in copy.items():
        (machine.root / LOG / name).write_bytes(data)
    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
    kinds = [finding["kind"] for finding in served.machine()["findings"]]
    assert kinds in (["deleted", "cut"], ["restarted", "cut"])
    assert len(served.records("log.machine_cut")) == 1


def test_deployed_skills_reach_a_machine_and_its_inventory(machine: Machine, served: ServedStore) -> None:
    put(served, f"{ALLOW}[audit]\nrequired = true\n")
    served.deploy(skill_archive("report"))
    served.deploy(skill_archive("own"), "tenant=default")
    served.deploy(skill_archive("elsewhere"), "environment=test")
    enroll(machine, served, "--environment", "production")

    def listed() -> list[str]:
        skills = machine.document("list", "--root", "/run/people", user=USER)["skills"]
        assert {one["layer"] for one in skills} <= {"enterprise"}
        return sorted(one["name"] for one in skills)

    def copies() -> list[tuple[str, str]]:
        found = served.call("GET", "/inventory?tenant=default")["items"]
        return sorted((one["name"], one["layer"]) for one in found)

    with machine.service("--inventory-every", "2"):
        until(lambda: listed() == ["own", "report"])
        until(lambda: copies() == [("own", "enterprise"), ("report", "enterprise")])
        assert served.machine()["release"] == 2
        (found,) = served.call("GET", "/skills?tenant=default&text=report")["items"]
        assert (found["machines"], found["versions"][0]["deployed"], found["deployed"]) == (1, True, True)
        served.call("POST", "/deployments/revoke?tenant=*", {"skills": ["report"]})
        until(lambda: listed() == ["own"])
        until(lambda: copies() == [("own", "enterprise")])
    assert {one["data"]["tool"] for one in machine.records() if one["kind"] == "tool.finished"} == {"packages.sync"}
