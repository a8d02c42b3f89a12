"""`prowess admin`: a store is created once, with a key that only its owner reads, tenants and tokens."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.places import audit_path
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.governance.organisation import organisation_key, token_digest
from prowess.signing.signed_note import read_note_key
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.shared.tokens import SharedTokenStore
from tests.postgresql import database_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.postgresql import Postgresql

    Call = Callable[..., dict[str, Any]]


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"sqlite:///{tmp_path}/shared.db"
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.url()


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def called(*arguments: str, expected: int = exit_codes.OK) -> dict[str, Any]:
        capfd.readouterr()
        code = run(["admin", *arguments, "--json"])
        shown = capfd.readouterr()
        assert code == expected, shown.err
        found: dict[str, Any] = json.loads(shown.out) if shown.out else {"error": shown.err}
        return found

    return called


def _keys(home: Path) -> list[Path]:
    return sorted((home / ".prowess" / "organisation").glob("*"))


def test_a_store_is_created_once_with_a_private_key_and_a_token(url: str, call: Call, own_home: Path) -> None:
    made = call("init", "--store", url, "--origin", "acme.example/skills")
    assert list(made) == ["store", "origin", "tenant", "public_key", "token"]
    assert (made["origin"], made["tenant"]) == ("acme.example/skills", "default")
    assert made["store"].startswith(url.partition("://")[0])
    assert read_note_key(made["public_key"]).name == "acme.example/skills"
    (key,) = _keys(own_home)
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700

    store = OrganisationStore(url)
    signed = organisation_key(store.organisation()).sign(b"text")
    assert read_note_key(made["public_key"]).verifies(signed, b"text")
    found = SharedTokenStore(store.database).use_token(token_digest(made["token"]), time.time())
    assert found is not None
    assert (found.tenant, found.role, found.expires_at) == ("*", "administrator", None)
    store.database.close()

    again = call("init", "--store", url, "--origin", "other", expected=exit_codes.UNAVAILABLE)
    assert "already" in again["error"] or "the file exists" in again["error"]
    assert _keys(own_home) == [key]  # nothing is left of the second one
    assert call("migrate", "--store", url)["before"] == call("migrate", "--store", url)["after"]


def test_the_origin_is_made_of_the_key_and_a_wrong_one_is_refused(tmp_path: Path, call: Call, own_home: Path) -> None:
    url = f"sqlite:///{tmp_path}/shared.db"
    assert "no blanks and no plus sign" in call("init", "--store", url, "--origin", "a b", expected=2)["error"]
    assert _keys(own_home) == []
    assert not Path(tmp_path, "shared.db").exists()
    made = call("init", "--store", url)
    assert made["origin"].startswith("prowess-")


def test_a_key_that_is_lost_open_or_of_another_store_is_refused_with_what_to_do(
    tmp_path: Path, call: Call, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/shared.db"
    call("init", "--store", url)
    (key,) = _keys(own_home)
    assert call("status", "--store", url)["key"] == {"path": str(key), "fault": None}

    key.chmod(0o644)
    assert "chmod 600" in call("status", "--store", url, expected=exit_codes.DENIED)["key"]["fault"]
    key.chmod(0o600)
    moved = tmp_path / "elsewhere.key"
    key.rename(moved)
    lost = call("status", "--store", url, expected=exit_codes.DENIED)["key"]["fault"]
    assert "copy the file from the machine where `prowess admin init` ran" in lost
    assert run(["admin", "status", "--store", url]) == exit_codes.DENIED
    monkeypatch.setenv("PROWESS_SIGNING_KEY", str(moved))
    assert call("status", "--store", url)["key"]["fault"] is None

    monkeypatch.delenv("PROWESS_SIGNING_KEY")
    call("init", "--store", f"sqlite:///{tmp_path}/other.db")
    (other,) = _keys(own_home)
    monkeypatch.setenv("PROWESS_SIGNING_KEY", str(other))
    assert "is another key" in call("status", "--store", url, expected=exit_codes.DENIED)["key"]["fault"]


def test_tenants_are_added_once_and_an_sqlite_file_has_one(url: str, call: Call) -> None:
    call("init", "--store", url)
    if url.startswith("sqlite:"):
        refused = call("tenant", "add", "acme", "--store", url, expected=exit_codes.UNAVAILABLE)
        assert "one tenant 'default'; more need PostgreSQL" in refused["error"]
        return
    assert call("tenant", "add", "acme", "--store", url) == {"tenant": "acme", "added": True}
    assert call("tenant", "add", "acme", "--store", url, expected=1) == {"tenant": "acme", "added": False}
    assert call("status", "--store", url)["tenants"] == ["acme", "default"]
    assert "lower-case letters" in call("tenant", "add", "A", "--store", url, expected=2)["error"]


def test_a_token_is_shown_once_and_stored_as_a_digest(call: Call, postgresql: Postgresql) -> None:
    url = postgresql.url()
    call("init", "--store", url)
    person = ("--tenant", "default", "--role", "approver", "--user", "ann")
    made = call("token", "add", "--store", url, *person, "--team", "core", "--expires", "90d")
    assert list(made) == ["id", "token"]
    listed = call("token", "list", "--store", url)["tokens"]
    (found,) = [one for one in listed if one["id"] == made["id"]]
    assert (found["role"], found["user"], found["team"], found["used_at"]) == ("approver", "ann", "core", None)
    assert 89 * 86400 < found["expires_at"] - time.time() < 91 * 86400
    dumped = postgresql.run("SELECT * FROM tokens", database_of(url))
    assert made["token"] not in dumped
    assert hashlib.sha256(made["token"].encode()).hexdigest() in dumped
    assert call("token", "remove", made["id"], "--store", url) == {"id": made["id"], "removed": True}
    assert call("token", "remove", made["id"], "--store", url, expected=1) == {"id": made["id"], "removed": False}
    for arguments in (["list"], ["add", *person]):
        assert run(["admin", "token", *arguments, "--store", url]) == exit_codes.OK
    log = Path(audit_path()).read_text(encoding="utf-8")
    assert [kind for kind in ("init", "token", "token-removed") if f'"governance.{kind}"' not in log] == []
    assert made["token"] not in log


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--role", "king", "--user", "ann", "--tenant", "default"), "'king' is not one of"),
        (("--role", "user", "--user", "ann", "--tenant", "default", "--expires", "0d"), "above 0"),
        (("--role", "user", "--user", "ann", "--tenant", "default", "--expires", "-1d"), "above 0"),
        (("--role", "user", "--user", "ann", "--tenant", "default", "--expires", "soon"), "above 0"),
        (("--role", "user", "--user", "ann", "--tenant", "A/b"), "lower-case letters"),
        (("--role", "user", "--user", " ", "--tenant", "default"), "belongs to somebody"),
        (("--role", "machine", "--user", "m1", "--tenant", "*"), "belongs to one tenant"),
    ],
)
def test_a_faulty_token_is_refused(tmp_path: Path, call: Call, arguments: tuple[str, ...], message: str) -> None:
    url = f"sqlite:///{tmp_path}/shared.db"
    call("init", "--store", url)
    assert message in call("token", "add", "--store", url, *arguments, expected=2)["error"]
    assert len(call("token", "list", "--store", url)["tokens"]) == 1


def test_a_token_for_an_unknown_tenant_is_refused_with_what_to_do(tmp_path: Path, call: Call) -> None:
    url = f"sqlite:///{tmp_path}/shared.db"
    call("init", "--store", url)
    refused = call("token", "add", "--store", url, "--tenant", "acme", "--role", "user", "--user", "ann", expected=1)
    assert "prowess admin tenant add acme" in refused["error"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory:", "a shared store is postgresql://"),
        ("sqlite:///none.db", "no shared store; create one: prowess admin init"),
        ("mysql://user:secret@host/db", "a shared store is postgresql://"),
    ],
)
def test_a_url_of_no_shared_store_is_refused(call: Call, url: str, message: str) -> None:
    for arguments in (("migrate",), ("status",), ("tenant", "add", "acme"), ("token", "list")):
        refused = call(*arguments, "--store", url, expected=exit_codes.USAGE)
        assert message in " ".join(refused["error"].split())
        assert "secret" not in refused["error"]


def test_without_the_libraries_the_extra_is_named(tmp_path: Path) -> None:
    program = "import sys; sys.modules['sqlalchemy'] = None; from prowess.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "admin", "status", "--store", f"sqlite:///{tmp_path}/x.db"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_codes.FAILED
    assert "pip install 'prowess[server]'" in done.stderr
    assert "Traceback" not in done.stderr
