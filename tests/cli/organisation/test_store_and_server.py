"""Each command of an administrator prints the same and ends alike with `--store` and with `--server`."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest

from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.cli.dispatch import run
from prowess.governance.machine.reports import MachineReport, ReportedCopy, SentRecords
from prowess.governance.replay.recorded_calls import replay_store
from prowess.governance.service.machines import MachineService
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.http_listener.listener import HttpListener, bound
from prowess.signing.keys import new_private_key
from tests.http_server.organisation import in_file
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from prowess.governance.replay.replay import Replayed
    from tests.http_server.organisation import ServedOrganisation

Capture = pytest.CaptureFixture[str]
_MASKED = {"id", "at", "log", "number", "generation", "export", "checkpoint"}
_DIGEST = f"sha256:{'0c' * 32}"
_RULES = (
    'default = "allow"\n[[rule]]\nid = "no-deploy"\neffect = "deny"\ntool = "*"\nmatch = { skill.name = "deploy" }\n'
)


class Both:
    """An organisation that is reached by its store and by its server."""

    def __init__(self, organisation: ServedOrganisation, address: str, place: Path) -> None:
        self.organisation, self.address, self.place = organisation, address, place
        (place / "signing.key").write_bytes(organisation.private.pem())
        (place / "signing.key").chmod(0o600)
        (place / "witness.key").write_bytes(new_private_key("ed25519").pem())
        (place / "new.toml").write_text(_RULES, encoding="utf-8")
        (place / "open.toml").write_text('default = "allow"\n', encoding="utf-8")
        (place / "faulty.toml").write_text("defualt = 1\n", encoding="utf-8")
        (place / "log.pub").write_text(organisation.server.organisation.public_key, encoding="utf-8")

    def options(self, way: str, role: str = "administrator") -> tuple[str, ...]:
        """Return the options for one of the two ways, with a token of a role."""
        token = self.place / f"{role}.token"
        token.write_text(self.organisation.token(role), encoding="utf-8")
        url = self.organisation.url if way == "store" else self.address
        return (f"--{way}", url, "--token-file", str(token))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    place = tmp_path_factory.mktemp("both")
    with in_file(place) as organisation, bound("127.0.0.1", 0) as socket:
        log = SharedAuditLog(organisation.server.database.of_tenant("default"))
        for number in range(12):
            data = {
                "tool": "skills.load",
                "skill": ("deploy", "report")[number % 2],
                "user": ("ann", "bob", "bob\x1b[31m")[number % 3],
                "team": "web",
            }
            log.append(AuditEvent(kind="tool.started", session_id="s", call_id=str(number), data=data))
        organisation.sequence()
        copy = ReportedCopy(name="report", layer="personal", place="~/.prowess/skills/report", digest=_DIGEST)
        machine = Actor(user="m1", roles=("machine",), tenant="default", identified_by="token", token_id="t1")
        report = MachineReport(id="0" * 36, name="m1", inventory=(copy,))
        MachineService(ServiceCall(machine, organisation.server.database)).collect(SentRecords(machine=report))
        listener = HttpListener(organisation.app, socket)
        thread = threading.Thread(target=anyio.run, args=(listener.run,))
        thread.start()
        try:
            yield Both(organisation, f"http://127.0.0.1:{socket.getsockname()[1]}", place)
        finally:
            listener.stop()
            thread.join(20)


@pytest.fixture(autouse=True)
def in_place(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(both.place)
    monkeypatch.setenv("PROWESS_SIGNING_KEY", str(both.place / "signing.key"))


def _masked(value: Any) -> Any:  # noqa: ANN401 -- JSON
    if isinstance(value, dict):
        return {key: "masked" if key in _MASKED and item else _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "line",
    [
        "audit show",
        "audit show --tail 5 --user bob",
        "audit show --limit 3",
        "audit show --limit 4 --cursor 6 --skill deploy",
        "audit show --since 2020-01-01 --until 2020-01-02",
        "audit export --out all.export",
        "audit export --out some.export --user ann",
        "audit verify --key log.pub",
        "audit verify",
        "audit checkpoint",
        "audit witness --log-key log.pub --key witness.key --state seen.{way} --name me",
        "report",
        "report --by skill,team,user --since 2020-01-01",
        "policy replay new.toml",
        "policy replay new.toml --until 2020-01-01",
        "policy push main new.toml --accept 6",
        "policy push main open.toml",
        "policy list",
        "access report --user ann --team web",
        "inventory",
        "inventory --skill report",
        "hosts",
        "block {way}-skill --reason leaks",
        "block --list",
    ],
)
def test_a_command_prints_the_same(both: Both, line: str, capsys: Capture) -> None:
    found: dict[str, Any] = {}
    for way in ("store", "server"):
        both.organisation.sequence()
        words = line.replace("{way}", way).split()
        assert run([*words, *both.options(way), "--json"]) == 0, capsys.readouterr().err
        printed = capsys.readouterr().out
        found[way] = json.loads(printed.replace(f"{way}-skill", "skill") if "{way}" in line else printed)
        assert run([*words, *both.options(way)]) == 0
        capsys.readouterr()
    if line.startswith(("audit verify", "audit export")):
        found["server"]["size"] = found["store"]["size"]  # acts before are records now
    assert _masked(found["server"]).keys() == _masked(found["store"]).keys()
    if not line.startswith(("audit export", "audit verify", "audit checkpoint", "audit witness")):
        assert _masked(found["server"]) == _masked(found["store"])


@pytest.mark.parametrize(
    ("line", "role", "code", "told"),
    [
        (
            "audit show",
            "viewer",
            3,
            "denied by roles.audit: viewer of default has the role viewer; this needs the role",
        ),
        ("report", "author", 3, "this needs the role approver or administrator"),
        ("block deploy --reason leaks", "approver", 3, "this needs the role administrator"),
        ("policy push main open.toml", "user", 3, "this needs the role"),
        ("policy remove none", "administrator", 1, "there is no policy 'none'"),
        ("policy remove none", "approver", 3, "this needs the role"),
        ("access nothing", "administrator", 1, "there is no skill 'nothing'"),
        ("access report --user bob", "user", 3, "this needs the role approver or administrator"),
        ("audit show --cursor x", "administrator", 2, "cursor"),
        ("block --digest sha256:12 --reason leaks", "administrator", 2, "digest"),
        ("unblock block-000000000000", "administrator", 1, "there is no block 'block-000000000000'"),
        ("policy replay faulty.toml", "administrator", 2, "faulty.toml:1: "),
        ("policy push a:b open.toml", "administrator", 2, "is no name of a policy"),
        ("policy push main new.toml", "administrator", 3, "newly deny 6 calls of the last 30 days"),
    ],
)
def test_an_error_is_the_same(  # noqa: PLR0917 -- the columns of the table
    both: Both, line: str, role: str, code: int, told: str, capsys: Capture
) -> None:
    texts: Mapping[str, str] = {}
    for way in ("store", "server"):
        assert run([*line.split(), *both.options(way, role)]) == code, capsys.readouterr().err
        texts = {**texts, way: capsys.readouterr().err}
        assert told in texts[way]
    if told not in {"cursor", "digest"}:  # the schema of the interface refuses these, in its own words
        assert texts["store"] == texts["server"]


def test_a_list_that_is_empty_names_the_tenant_that_nobody_named(both: Both, capsys: Capture) -> None:
    token = both.place / "everywhere.token"
    token.write_text(both.organisation.token("administrator", "*"), encoding="utf-8")
    for way in ("store", "server"):
        place = (*both.options(way)[:2], "--token-file", str(token))
        for named, is_told in (((), True), (("--tenant", "default"), False)):
            assert run(["audit", "show", "--user", "nobody", *place, *named]) == 0
            assert ("the tenant is default, because none was named" in capsys.readouterr().err) is is_told


def test_lifting_a_block_works_over_both_ways(both: Both, capsys: Capture) -> None:
    for way, other in (("store", "server"), ("server", "store")):
        assert run(["block", f"lifted-{way}", "--reason", "x", *both.options(way), "--json"]) == 0
        made = json.loads(capsys.readouterr().out)
        assert made["tenant"] == "default"  # that of the token
        assert run(["unblock", made["id"], *both.options(other)]) == 0
        assert f"lifted-{way} is no longer blocked" in capsys.readouterr().out


def test_a_push_that_denies_shows_the_replay_and_changes_nothing(both: Both, capsys: Capture) -> None:
    assert run(["policy", "push", "closed", "new.toml", *both.options("server"), "--json"]) == 3
    printed = json.loads(capsys.readouterr().out)
    assert (printed["pushed"], printed["number"], printed["replay"]["newly_denied"]) == (False, None, 6)
    names = both.organisation.client("administrator").get("/api/v1/policies").json()["items"]
    assert "closed" not in [one["name"] for one in names]


@pytest.mark.parametrize("way", ["store", "server"])
def test_a_push_that_succeeds_replays_once(both: Both, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replays = list[object]()

    def counted(*given: Any, **more: Any) -> Replayed:  # noqa: ANN401 -- of `replay_store`
        replays.append(replay_store(*given, **more))
        return cast("Replayed", replays[-1])

    monkeypatch.setattr("prowess.governance.service.replay.replay_store", counted)
    assert run(["policy", "push", "once", "open.toml", *both.options(way)]) == 0
    assert len(replays) == 1


def test_two_people_approve_a_skill_by_the_server(both: Both, capsys: Capture) -> None:
    organisation, digest = both.organisation, f"sha256:{'0a' * 32}"
    rule = '[[approval]]\nid = "two"\nfor = ["new-skills"]\ncount = 2\nroles = ["approver"]\n'
    put = organisation.client("administrator").put("/api/v1/policies/two", json={"toml": f'default = "allow"\n{rule}'})
    assert put.status_code == 200, put.text
    asked = organisation.client("author").post("/api/v1/approvals", json={"skill": "report", "digest": digest})
    wanted = asked.json()["id"]
    for name in ("ann", "bob"):
        (both.place / f"{name}.token").write_text(organisation.token("approver", user=name), encoding="utf-8")
    ann, bob = (("--server", both.address, "--token-file", f"{name}.token", "--json") for name in ("ann", "bob"))

    def document(*words: str, code: int = 0) -> dict[str, Any]:
        assert run([*words]) == code, capsys.readouterr().err
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    (row,) = document("approvals", "list", *ann)["items"]
    assert (row["id"], row["state"], row["given"]) == (wanted, "waiting", 0)
    assert document("approve", "report", "--digest", digest, "--reason", "read it", *ann)["given"] == 1
    assert run(["approvals", "vote", wanted, *ann]) == 1  # no vote twice
    assert "ann has approved" in capsys.readouterr().err
    assert run(["approvals", "vote", wanted, *both.options("server", "author")]) == 3
    assert document("approvals", "vote", wanted, "approve", *bob)["state"] == "approved"
    shown = document("approvals", "show", wanted, *bob)
    assert [vote["user"] for vote in shown["votes"]] == ["ann", "bob"]
    printed = dict[str, list[str]]()
    for way in ("store", "server"):
        at = ("--root", str(both.place), *both.options(way))
        (one,) = document("approvals", "list", *at, "--json")["items"]
        whole = document("approvals", "show", wanted, *at, "--json")
        assert {way: one.pop("place")} == {way: whole.pop("place")}
        assert one.items() <= whole.items()
        for words in (("list",), ("show", wanted)):
            assert run(["approvals", *words, *at]) == 0
        printed[way] = [json.dumps(whole), capsys.readouterr().out]
    assert printed["store"] == printed["server"]
    revoked = document("approvals", "revoke", wanted, "--reason", "a leak", *both.options("server"), "--json")
    assert (revoked["state"], revoked["given"]) == ("waiting", 0)
    unasked = document("approve", "report", "--digest", f"sha256:{'0b' * 32}", *ann)  # who asks only to vote may vote
    assert (unasked["state"], unasked["given"], unasked["by"]) == ("waiting", 1, ["ann"])
    write_skill(both.place / "skills", "fresh")
    assert document("approve", "fresh", "--root", "skills", *ann)["given"] == 1
    for words in (("list",), ("show", wanted), ("vote", wanted)):
        assert run(["approvals", *words, *ann[:-1]]) == 0
    assert "report waits for 1 more person (1 of 2, store:default/two.toml:2)" in capsys.readouterr().out


class _Redirecting(BaseHTTPRequestHandler):
    """Redirects everything, and keeps the tokens that it was sent."""

    tokens: tuple[str, ...] = ()

    def do_GET(self) -> None:
        type(self).tokens += (self.headers["authorization"],)
        self.send_response(302)
        self.send_header("location", f"{self.path}x")
        self.end_headers()

    def log_message(self, *details: object) -> None:
        """Print nothing."""


def test_a_redirect_is_not_followed_with_the_token(both: Both, capsys: Capture) -> None:
    _, _, *token = both.options("server")
    with HTTPServer(("127.0.0.1", 0), _Redirecting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        assert run(["audit", "show", "--server", f"http://127.0.0.1:{server.server_port}", *token]) == 1
        server.shutdown()
        thread.join()
    assert len(_Redirecting.tokens) == 1
    assert "the token is not sent there" in capsys.readouterr().err


def test_a_server_that_cannot_be_used_is_named_with_a_remedy(both: Both, capsys: Capture) -> None:
    (both.place / "wrong.token").write_text("prowess_wrong-token", encoding="utf-8")
    address, token = both.address, both.options("server")[2:]
    for options, code, told in (
        (("--server", address, "--token-file", "wrong.token"), 3, "refused the token; give a token of this server"),
        (("--server", "http://127.0.0.1:1", *token), 4, "http://127.0.0.1:1"),
        (("--server", "http://example.com", *token), 2, "http is allowed on this machine only"),
        (("--server", "https://a:b@example.com", *token), 2, "must not hold a user name"),
        (("--server", address), 2, "--server needs a token"),
        (("--server", address, "--store", both.organisation.url), 2, "exclude each other"),
        (("--server", address, *token, "--tenant", "none"), 1, "there is no such tenant, or it is not yours"),
        (("--token-file", "x"), 2, "--token-file needs --store or --server"),
        (("--server", address, *token, "--log", "x"), 2, "--server excludes --log"),
    ):
        assert run(["audit", "show", *options]) == code, options
        printed = capsys.readouterr().err
        assert told in printed
        assert "prowess_" not in printed  # no token
