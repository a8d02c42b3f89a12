"""The audit service of a machine, as processes: what a call needs, what a user cannot do, and kills of the service."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.governance.machine.machines import BOUND, LIST, PROWESS, USER

if TYPE_CHECKING:
    from tests.governance.machine.machines import Machine

POLICY = '[audit]\nsink = "machine"\n[[rule]]\neffect = "allow"\ntool = "*"\n'
SESSION = ["session", "--root", "/run/people"]

# Appends records until the file "stop" exists, and prints what was acknowledged.
WRITER = """
import os, sys, time
from prowess.audit import AuditEvent
from prowess.errors import AuditError
from prowess.tools.audit_sink import MachineLog
log, name = MachineLog(), sys.argv[1]
for number in range(1000000):
    if os.path.exists("/run/people/stop"):
        break
    try:
        record = log.append(AuditEvent(kind="test.written", call_id=f"{name}-{number}"))
    except AuditError:
        time.sleep(0.01)
        continue
    print(record.sequence, record.call_id, flush=True)
    time.sleep(0.002)
"""


def answer(machine: Machine, **variables: str) -> dict[str, Any]:
    ran = machine.run(*SESSION, lines=LIST, user=USER, variables=variables)
    found = json.loads(ran.stdout.splitlines()[0])
    assert isinstance(found, dict)
    return found


def test_a_call_runs_after_its_record_is_in_the_log_of_the_machine(machine: Machine) -> None:
    machine.write("/etc/prowess/policy.toml", POLICY)
    with machine.service():
        assert answer(machine)["success"]
        status = machine.document("machine", "status", user=USER)
        assert status["holds"]
        assert status["audit"]["running"]
        started, finished = machine.records()
    assert (started["kind"], finished["kind"]) == ("tool.started", "tool.finished")
    assert (started["data"]["uid"], started["data"]["user"]) == (USER, "nobody")
    assert started["data"]["identified_by"] == "system"
    assert started["data"]["tool"] == "skills.list"


def test_without_the_service_each_call_is_refused_with_the_remedy(machine: Machine) -> None:
    machine.write("/etc/prowess/policy.toml", POLICY)
    for variables in (
        {},
        {"PROWESS_HOME": "/run/people/other", "HOME": "/run/people/third", "XDG_RUNTIME_DIR": "/tmp"},
    ):
        refused = answer(machine, **variables)
        assert not refused["success"]
        assert refused["error_detail"]["code"] == "unavailable", refused
        assert "does not run" in refused["error"]
        assert "prowess machine run" in refused["error"]
    assert machine.document("machine", "status", user=USER, code=1)["holds"] is False
    checks = {check["name"]: check for check in machine.document("doctor", user=USER, code=1)["checks"]}
    assert checks["machine"]["status"] == "fail"


def test_a_socket_of_another_user_and_a_silent_one_are_refused(machine: Machine) -> None:
    machine.write("/etc/prowess/policy.toml", POLICY)
    serve = (
        "import os, socket, sys, time\n"
        "os.makedirs('/run/prowess', exist_ok=True)\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "s.bind('/run/prowess/audit.sock'); os.chmod('/run/prowess/audit.sock', 0o666)\n"
        "if len(sys.argv) > 1: os.setuid(65534)\n"
        "s.listen(); print('ready', flush=True); time.sleep(60)\n"
    )
    for arguments, reason in ((["foreign"], "belongs to user 65534"), ([], "no answer within")):
        program = machine.command([PROWESS[0], "-c", serve, *arguments])
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as fake:
            assert fake.stdout is not None
            assert fake.stdout.readline() == "ready\n"
            code = "from prowess.tools.audit_sink import MachineLog as L; from prowess.audit import AuditEvent as E\n"
            code += "L(wait_seconds=.3).append(E(kind='a.b'))"
            ran = machine.run(program=[PROWESS[0], "-c", code], user=USER, code=1)
            assert reason in ran.stderr
            assert "prowess machine status" in ran.stderr
            fake.kill()
        (machine.root / "run/prowess/audit.sock").unlink()


def test_a_new_policy_holds_at_the_next_call_of_a_running_session(machine: Machine) -> None:
    machine.write("/etc/prowess/policy.toml", '[[rule]]\neffect = "allow"\ntool = "*"\n')
    with machine.session(USER) as called:
        assert called()["success"]
        machine.write("/etc/prowess/policy.toml", POLICY)
        assert not called()["success"]
        with machine.service():
            assert called()["success"]
            assert {record["data"]["uid"] for record in machine.records()} == {USER}
        assert not called()["success"]
        with machine.service():
            assert called()["success"]


def test_a_sender_cannot_choose_who_it_is_nor_write_into_the_log(machine: Machine) -> None:
    forged = """
from prowess.audit import AuditEvent
from prowess.errors import AuditError
from prowess.tools.audit_sink import MachineLog
log = MachineLog()
said = {"user": "boss", "uid": 0, "identified_by": "token", "host": "elsewhere"}
log.append(AuditEvent(kind="tool.started", data=said))
for kind, data in (("log.recovered", {}), ("a.b", {"x": "y" * 5000000}), ("a.b", {"x": 1.5})):
    try:
        log.append(AuditEvent(kind=kind, data=data))
    except AuditError as fault:
        print(fault)
    else:
        raise SystemExit(f"{kind} was recorded")
assert log.append(AuditEvent(kind="a.b", data={"output": "z" * 3000000})).sequence == 2
for path in ("/var/lib/prowess/audit/audit.jsonl", "/var/lib/prowess/audit", "/run/prowess/audit.sock"):
    import os
    for change in (os.unlink, os.rmdir, lambda p: os.rename(p, p + "2"), lambda p: os.open(p, os.O_WRONLY)):
        try:
            change(path)
        except OSError:
            continue
        raise SystemExit(f"{change} {path}")
"""
    with machine.service():
        ran = machine.run(program=[PROWESS[0], "-c", forged], user=USER)
        assert "reserved for the log" in ran.stdout
        assert "more than 4186112" in ran.stdout
        first = machine.records()[0]["data"]
        assert (first["user"], first["uid"], first["identified_by"]) == ("boss", USER, "host")
        assert first["host"] != "elsewhere"


def test_messages_that_are_no_events_end_nothing(machine: Machine) -> None:
    garbage = """
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("/run/prowess/audit.sock")
wrong = b'.{"kind":1,"call_id":null,"data":{},"session_id":null}'
for message in (b"x", b".[]", b".{}", b"." + b"[" * 30000, wrong, b"\\xff" * 65537):
    s.send(message)
    print(s.recv(200000))
flood = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(600)]
for one in flood:
    one.connect("/run/prowess/audit.sock")
"""
    with machine.service() as service:
        ran = machine.run(program=[PROWESS[0], "-c", garbage], user=USER, code=None)
        assert ran.stdout.count("error") == 6, ran
        assert service.poll() is None
        machine.run(program=[PROWESS[0], "-c", WRITER.replace("1000000", "1"), "after"], user=USER)
        assert [record["call_id"] for record in machine.records()] == ["after-0"]


def test_only_one_service_runs_and_its_place_can_be_chosen(machine: Machine) -> None:
    with machine.service():
        second = machine.run("machine", "run", code=None)
        assert second.returncode
        assert "another `prowess machine run`" in second.stderr


def test_a_head_that_a_loss_of_power_left_behind_refuses_no_call(machine: Machine) -> None:
    machine.write("/etc/prowess/policy.toml", '[audit]\nsink = "machine"\n[[rule]]\neffect = "allow"\ntool = "*"\n')
    head = machine.root / "var/lib/prowess/audit/head.json"
    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
        before = head.read_bytes()
        assert called()["success"]
    head.write_bytes(before)
    with machine.service(), machine.session(USER) as called:
        assert called()["success"]
    recovered = [one for one in machine.records() if one["kind"] == "log.recovered"]
    assert [one["data"]["unannounced"] for one in recovered] == [True]


@pytest.mark.parametrize("kills", [3])
def test_kills_of_the_service_lose_no_acknowledged_record_and_double_none(machine: Machine, kills: int) -> None:
    chance = random.Random(7)
    writers = []
    for name in "abcd":
        program = machine.command([PROWESS[0], "-c", WRITER, name], USER)
        writers.append(
            subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd="/", env=machine.environment(USER))
        )
    for _ in range(kills):
        with machine.service() as service:
            time.sleep(chance.uniform(0.05, 0.25))
            service.send_signal(signal.SIGKILL)
            service.wait()
    (machine.root / "run/people/stop").touch()
    acknowledged = {
        tuple(line.split()) for writer in writers for line in writer.communicate(timeout=BOUND)[0].splitlines()
    }
    with machine.service():
        machine.run(program=[PROWESS[0], "-c", WRITER], code=None)
    found = [(str(record["sequence"]), record["call_id"]) for record in machine.records() if record["call_id"]]
    assert acknowledged
    assert acknowledged <= set(found)
    assert len({call for _, call in found}) == len(found)
