"""`prowess audit export`, `checkpoint`, `witness` and `verify --export` as people and programs use them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.cli.dispatch import run

Capture = pytest.CaptureFixture[str]
ORIGIN = ("--origin", "acme.example/log")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in a directory with a log of four records and two keys."""
    monkeypatch.chdir(tmp_path)
    append(4)
    for name in ("audit.key", "witness.key"):
        assert run(["key", "new", name, "--type", "ed25519"]) == 0
    return tmp_path


def log_path() -> Path:
    return Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl"


def append(count: int) -> None:
    log = JsonlAuditLog(log_path(), "second")
    for number in range(count):
        log.append(AuditEvent(kind="skill.loaded", session_id="s", data={"skill": "ab"[number % 2], "n": number}))


def document(capsys: Capture, *arguments: str, code: int = 0) -> dict[str, object]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def export(capsys: Capture, out: str, *more: str) -> str:
    made = document(capsys, "audit", "export", "--key", "audit.key", *ORIGIN, "--out", out, *more)
    return str(made["public_key"])


def test_an_export_is_verified_without_the_log(capsys: Capture) -> None:
    key = export(capsys, "all.export")
    log_path().unlink()
    verdict = document(capsys, "audit", "verify", "--export", "all.export", "--key", key)
    assert (verdict["ok"], verdict["records"], verdict["faults"]) == (True, 4, [])
    Path("log.pub").write_text(f"{key}\n", encoding="utf-8")
    assert run(["audit", "verify", "--export", "all.export", "--key", "log.pub"]) == 0
    assert run(["audit", "verify", "--export", "all.export", "--key", "audit.key.pub"]) == 0
    assert run(["audit", "verify", "--export", "all.export", "--key", "witness.key.pub"]) == 1
    assert "4 records, as in the checkpoint of acme.example/log, 4 records, root" in capsys.readouterr().out
    assert json.loads(Path("all.export").read_text(encoding="utf-8").splitlines()[0])["prowess_export"] == 1
    assert Path("all.export").stat().st_mode & 0o777 == 0o600


def test_a_selection_is_proved_and_its_completeness_is_not(capsys: Capture) -> None:
    key = export(capsys, "a.export", "--skill", "a")
    capsys.readouterr()
    assert run(["audit", "verify", "--export", "a.export", "--key", key]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("2 records, as in the checkpoint of acme.example/log, 4 records")
    assert "completeness is not" in shown
    none = export(capsys, "none.export", "--skill", "c")
    assert document(capsys, "audit", "verify", "--export", "none.export", "--key", none)["records"] == 0


def test_a_changed_export_is_exit_1_and_names_the_record(capsys: Capture) -> None:
    key = export(capsys, "all.export")
    path = Path("all.export")
    path.write_bytes(path.read_bytes().replace(b'"n":2', b'"n":7'))
    verdict = document(capsys, "audit", "verify", "--export", "all.export", "--key", key, code=1)
    assert verdict["faults"] == [
        {"kind": "changed", "record": 3, "line": 4, "message": "record 3 was changed: its hash does not match"}
    ]
    capsys.readouterr()
    assert run(["audit", "verify", "--export", "all.export", "--key", key]) == 1
    assert "1 fault: the export does not prove these records" in capsys.readouterr().out


def test_what_cannot_be_verified_is_exit_2(capsys: Capture) -> None:
    key = export(capsys, "all.export")
    for arguments, reason in (
        (("--export", "audit.key.pub", "--key", key), "the file is no export of an audit log"),
        (("--export", "all.export"), "--export needs --key"),
        (("--export", "all.export", "--key", key[:-4]), "not of type Ed25519"),
        (("--export", "all.export", "--key", "none.key"), "no such file"),
        (("--export", "audit.key.pub", "--key", "audit.key.pub"), "the file is no export"),
        (("--export", "all.export", "--key", key.replace("acme", "acne")), "does not fit"),
        (("--export", "all.export", "--key", "all.export"), "NAME+ID+BASE64"),
        (("--export", "all.export", "--key", key, "--head", "0" * 64), "excludes"),
        (("--key", key), "need --export"),
        (("--export", "all.export", "--key", key, "--witness", key), "not of a witness"),
        (("--export", "all.export", "--key", key, "--checkpoint", "audit.key"), "--checkpoint"),
    ):
        capsys.readouterr()
        assert run(["audit", "verify", *arguments]) == 2, arguments
        assert reason.lower() in capsys.readouterr().err.lower(), arguments
    assert run(["audit", "export", "--key", "audit.key", "--origin", "a b", "--out", "x"]) == 2
    assert run(["key", "new", "p.key"]) == 0
    assert run(["audit", "export", "--key", "p.key", *ORIGIN, "--out", "x"]) == 2
    assert "ed25519" in capsys.readouterr().err
    assert not Path("x").exists()


def test_a_faulty_log_is_not_signed(capsys: Capture) -> None:
    path = log_path()
    path.write_bytes(path.read_bytes().replace(b'"n":2', b'"n":7'))
    assert run(["audit", "export", "--key", "audit.key", *ORIGIN, "--out", "x"]) == 1
    assert "record 3 was changed" in capsys.readouterr().err
    assert not Path("x").exists()


def test_a_log_that_was_deleted_after_a_checkpoint_is_not_signed_again(capsys: Capture) -> None:
    assert run(["audit", "checkpoint", "--key", "audit.key", *ORIGIN]) == 0
    append(3)
    assert document(capsys, "audit", "checkpoint", "--key", "audit.key", *ORIGIN)["size"] == 7
    log_path().unlink()
    log_path().with_name("head.json").unlink()
    for count in (1, 9):
        append(count)
        assert run(["audit", "checkpoint", "--key", "audit.key", *ORIGIN]) == 1
        assert "does not continue the checkpoint with 7 records" in capsys.readouterr().err
    assert run(["audit", "checkpoint", "--key", "audit.key", "--origin", "acme.example/new"]) == 0


def test_a_checkpoint_kept_elsewhere_reveals_another_history(capsys: Capture) -> None:
    kept = document(capsys, "audit", "checkpoint", "--key", "audit.key", *ORIGIN)
    Path("kept").write_text(str(kept["checkpoint"]), encoding="utf-8")
    key = str(kept["public_key"])
    append(2)
    export(capsys, "more.export")
    assert run(["audit", "verify", "--export", "more.export", "--key", key, "--checkpoint", "kept"]) == 0
    for path in log_path().parent.iterdir():
        path.unlink()
    append(3)
    export(capsys, "short.export")
    append(5)
    export(capsys, "long.export")
    for name, kind in (("short", "restored"), ("long", "two_histories")):
        arguments = ("audit", "verify", "--export", f"{name}.export", "--key", key)
        assert document(capsys, *arguments)["ok"] is True
        faults = document(capsys, *arguments, "--checkpoint", "kept", code=1)["faults"]
        assert isinstance(faults, list)
        assert [fault["kind"] for fault in faults] == [kind]


def test_a_witness_cosigns_what_continues_its_last_checkpoint_and_nothing_else(capsys: Capture) -> None:
    key = export(capsys, "all.export")
    arguments = ("audit", "witness", "--log-key", key, "--key", "witness.key", "--name", "w.example", "--state", "seen")
    first = document(capsys, *arguments, "--export", "all.export")
    append(2)
    export(capsys, "more.export")
    second = document(capsys, *arguments, "--export", "more.export")
    assert (first["size"], second["size"]) == (4, 6)
    assert Path("seen").read_text(encoding="utf-8") == second["checkpoint"]
    assert run([*arguments, "--export", "all.export"]) == 1  # older than what was cosigned
    assert "restored: the log has 4 records, and had 6 before" in capsys.readouterr().out
    verify = ("audit", "verify", "--export", "more.export", "--key", key, "--witness", str(second["public_key"]))
    assert document(capsys, *verify, "--checkpoint", "seen")["cosigned"] is not None
    assert run([*verify[:-1], "witness.key.pub", "--checkpoint", "seen"]) == 0
    assert document(capsys, *verify, code=1)["ok"] is False  # the checkpoint in the file has no cosignature
    export(capsys, "some.export", "--skill", "a")
    assert run([*arguments, "--export", "some.export"]) == 2
