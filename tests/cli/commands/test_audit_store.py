"""`prowess audit` with `--store`, and `prowess admin erase`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from prowess.audit import AuditEvent, SharedAuditLog
from prowess.cli.dispatch import run
from prowess.store import LoginRow, SharedDatabase
from prowess.store.shared.logins import SharedLoginStore
from prowess.store.shared.organisation import OrganisationStore

Capture = pytest.CaptureFixture[str]
URL = "sqlite:///shared.db"
STORE = ("--store", URL)


@pytest.fixture(autouse=True)
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> str:
    """Make a store with two records that wait. Return the public key."""
    monkeypatch.chdir(tmp_path)
    made = document(capsys, "admin", "init", *STORE, "--origin", "acme.example")
    append("ann", "bob")
    return str(made["public_key"])


def append(*users: str) -> None:
    database = SharedDatabase(URL)
    for user in users:
        SharedAuditLog(database).append(AuditEvent(kind="skill.loaded", session_id="s", data={"user": user}))
    database.close()


def document(capsys: Capture, *arguments: str, code: int = 0) -> dict[str, object]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_log_of_a_store_is_shown_exported_and_verified(capsys: Capture, key: str) -> None:
    assert run(["audit", "show", *STORE]) == 0
    assert "2 records still without a place in the log" in capsys.readouterr().err
    made = document(capsys, "audit", "export", *STORE, "--out", "all.export")
    assert (made["records"], made["origin"], made["public_key"]) == (2, "acme.example/default", key)
    some = document(capsys, "audit", "export", *STORE, "--user", "bob", "--out", "bob.export")
    assert (some["records"], some["complete"]) == (1, False)
    for name, records in (("all", 2), ("bob", 1)):
        verdict = document(capsys, "audit", "verify", "--export", f"{name}.export", "--key", key)
        assert (verdict["ok"], verdict["records"]) == (True, records)
    shown = document(capsys, "audit", "show", *STORE, "--user", "ann")["records"]
    assert isinstance(shown, list)
    assert [(row["sequence"], row["data"]["user"]) for row in shown] == [(1, "ann")]
    assert document(capsys, "audit", "verify", *STORE, "--key", key)["records"] == 2
    first = document(capsys, "audit", "show", *STORE, "--tenant", "default", "--limit", "1")
    second = document(capsys, "audit", "show", *STORE, "--limit", "1", "--cursor", str(first["next"]))
    rows = [page["records"] for page in (first, second)]
    assert [[row["sequence"] for row in page] for page in rows if isinstance(page, list)] == [[1], [2]]
    assert second["next"] is None
    assert run(["audit", "show", *STORE, "--cursor", "x"]) == 2
    assert document(capsys, "audit", "verify", *STORE)["ok"] is True


def test_a_changed_time_in_the_store_is_a_fault_of_its_log(capsys: Capture, key: str) -> None:
    assert document(capsys, "audit", "checkpoint", *STORE)["size"] == 2
    with closing(sqlite3.connect("shared.db")) as store, store:
        store.execute("UPDATE audit_records SET at = '2020' WHERE sequence = 2")
    faults = document(capsys, "audit", "verify", *STORE, "--key", key, code=1)["faults"]
    assert isinstance(faults, list)
    assert [(fault["kind"], fault["record"]) for fault in faults] == [("changed", 2)]


def test_a_checkpoint_of_a_store_needs_the_key_of_the_organisation(capsys: Capture) -> None:
    signed = document(capsys, "audit", "checkpoint", *STORE)
    assert signed["size"] == 2
    append("ann")
    for path in (Path.home() / ".prowess" / "organisation").iterdir():
        path.rename("moved.key")
    capsys.readouterr()
    assert run(["audit", "checkpoint", *STORE]) == 0  # the last one, and what is missing
    printed = capsys.readouterr()
    assert printed.out == signed["checkpoint"]
    assert "1 record still without a place in the log: " in printed.err
    assert run(["key", "new", "other.key", "--type", "ed25519"]) == 0
    assert run(["audit", "checkpoint", *STORE, "--key", "other.key"]) == 3
    assert document(capsys, "audit", "checkpoint", *STORE, "--key", "moved.key")["size"] == 3


def test_a_witness_of_a_store_refuses_another_history(capsys: Capture, key: str) -> None:
    assert run(["key", "new", "w.key", "--type", "ed25519"]) == 0
    arguments = ("audit", "witness", *STORE, "--log-key", key, "--key", "w.key", "--name", "w", "--state", "seen")
    assert document(capsys, "audit", "checkpoint", *STORE)["size"] == 2
    backup = Path("shared.db").read_bytes()
    assert document(capsys, *arguments)["size"] == 2
    append("ann", "ann")
    assert document(capsys, "audit", "checkpoint", *STORE)["size"] == 4
    seen = document(capsys, *arguments)
    verify = ("audit", "verify", *STORE, "--key", key, "--checkpoint", "seen", "--witness", str(seen["public_key"]))
    assert document(capsys, *verify)["ok"] is True
    for path in Path().glob("shared.db-*"):
        path.unlink()
    Path("shared.db").write_bytes(backup)
    assert document(capsys, *arguments, code=1)["faults"] == ["restored: the log has 2 records, and had 4 before"]
    append("bob", "bob", "bob")
    capsys.readouterr()
    assert run(["audit", "checkpoint", *STORE]) == 4  # the machine that signed notices it too
    refused = capsys.readouterr().err
    assert "does not continue the checkpoint with 4 records that this machine signed" in refused
    for path in (Path.home() / ".prowess" / "audit" / "checkpoints").iterdir():
        assert str(path) in refused
        path.unlink()
    assert document(capsys, "audit", "checkpoint", *STORE)["size"] == 5
    faults = document(capsys, *arguments, code=1)["faults"]
    assert isinstance(faults, list)
    assert faults[0].startswith("two_histories: the first 4 records")
    assert Path("seen").read_text(encoding="utf-8") == seen["checkpoint"]


def test_records_of_a_user_are_erased_and_proofs_hold(capsys: Capture, key: str) -> None:
    assert run(["audit", "export", *STORE, "--user", "ann", "--out", "ann.export"]) == 0
    opened = OrganisationStore(STORE[1])
    logins = SharedLoginStore(opened.database)
    logins.add_login(b"d" * 32, LoginRow(tenant="default", user="ann", body="{}", expires_at=9e9))
    assert document(capsys, "admin", "erase", *STORE, "--user", "ann")["records"] == 1
    assert logins.login(b"d" * 32, 0.0) is None
    opened.database.close()
    verdict = document(capsys, "audit", "verify", *STORE, "--key", key)
    assert (verdict["ok"], verdict["records"], verdict["erased"]) == (True, 3, 1)
    assert document(capsys, "audit", "verify", "--export", "ann.export", "--key", key)["ok"] is True
    assert document(capsys, "audit", "show", *STORE, "--user", "ann")["records"] == []
    assert document(capsys, "admin", "erase", *STORE, "--before", "1d")["records"] == 0
    assert document(capsys, "admin", "erase", *STORE, "--before", "2099-01-01")["records"] == 1
    for arguments in ((), ("--user", "a", "--before", "1d"), ("--before", "soon")):
        assert run(["admin", "erase", *STORE, *arguments]) == 2


def test_only_who_may_administer_erases(capsys: Capture, own_home: Path) -> None:
    policy = own_home / ".prowess" / "policy.toml"
    policy.write_text('[roles]\nothers = "viewer"\nadministrator = { users = ["nobody-here"] }\n', encoding="utf-8")
    assert run(["admin", "erase", *STORE, "--before", "2099-01-01"]) == 3
    assert "may not administer" in capsys.readouterr().err
    policy.unlink()
    assert document(capsys, "admin", "erase", *STORE, "--before", "2099-01-01")["records"] == 2


@pytest.mark.parametrize("body", ["{}", "no record", "1"])
def test_a_changed_record_is_reported_and_does_not_hide_the_others(capsys: Capture, key: str, body: str) -> None:
    assert document(capsys, "audit", "checkpoint", *STORE)["size"] == 2
    with closing(sqlite3.connect("shared.db")) as file, file:
        file.execute("UPDATE audit_records SET body = ? WHERE sequence = 1", (body.encode(),))
    for further in ((), ("--limit", "5")):
        assert run(["audit", "show", *STORE, *further]) == 0
        printed = capsys.readouterr()
        assert "1 record of the log cannot be read or was changed; run `prowess audit verify`" in printed.err
        assert "skill.loaded" in printed.out
    assert run(["audit", "export", *STORE, "--user", "bob", "--out", "bob.export"]) == 1
    assert "record 1 was changed" in capsys.readouterr().err
    assert document(capsys, "audit", "verify", *STORE, "--key", key, code=1)["ok"] is False


@pytest.mark.parametrize("url", ["sqlite:///none.db", "memory:", "mysql://host/x"])
@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("export", "--out", "x"),
    ],
)
def test_what_is_no_shared_store_is_refused_and_no_file_is_made(
    capsys: Capture, command: tuple[str, ...], url: str
) -> None:
    assert run(["audit", *command, "--store", url]) in {2, 4}
    assert "Traceback" not in capsys.readouterr().err
    assert not Path("none.db").exists()


def test_options_that_do_not_fit_together_are_refused(capsys: Capture, key: str) -> None:
    for arguments, reason in (
        (("checkpoint", "--tenant", "a"), "--tenant needs --store"),
        (("show", *STORE, "--log", "x"), "--store excludes --log"),
        (("verify", *STORE, "--head", "0" * 64), "--store excludes --head"),
        (("export", *STORE, "--origin", "x", "--out", "x"), "--store excludes --origin"),
        (("export", "--out", "x"), "needs --key FILE"),
        (("checkpoint", "--watch"), "--watch needs --store"),
        (
            ("witness", "--log-key", key, "--key", "k", "--state", "s"),
            "give --export FILE, --store URL or --server URL",
        ),
    ):
        capsys.readouterr()
        assert run(["audit", *arguments]) == 2, arguments
        assert reason in capsys.readouterr().err
    assert run(["audit", "show", *STORE, "--tenant", "acme"]) == 4
    assert run(["audit", "show", "--store", "sqlite:///none.db"]) == 4
