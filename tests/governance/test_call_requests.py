"""Calls that wait for a person outside of their session: `prowess session`, `prowess approvals`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.cli.approvals import voting
from prowess.cli.dispatch import run
from prowess.governance.acts import LocalActs
from prowess.governance.approving import VoteRefusedError
from prowess.governance.call_requests import CallRequest, RequestFiles, vote_on_call
from prowess.policy.approval import Approval, ApprovalRequest, Unanswered
from prowess.policy.approvals.statements import Vote, Voter
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.unmeasured
_ASK = 'default = "allow"\n[[rule]]\neffect = "ask"\ntool = "skills.read"\n'


@pytest.fixture
def session(own_home: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A session over JSON lines, in which a person must approve each read."""
    (own_home / ".prowess").mkdir(mode=0o700)
    (own_home / ".prowess" / "policy.toml").write_text(_ASK, encoding="utf-8")
    write_skill(tmp_path / "skills", "deploy", files={"references/a.md": "text\n"})
    command = [sys.executable, "-m", "prowess", "session", "--root", str(tmp_path / "skills")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ, cwd=tmp_path) as process:
        assert _call(process, "skills.load", {"names": ["deploy"]})["success"]
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)


def _read(session: subprocess.Popen[str], path: str = "references/a.md") -> Any:  # noqa: ANN401 -- JSON
    return _call(session, "skills.read", {"skill": "deploy", "path": path})


def _call(session: subprocess.Popen[str], tool: str, arguments: object) -> Any:  # noqa: ANN401 -- JSON
    assert session.stdin is not None
    assert session.stdout is not None
    session.stdin.write(json.dumps({"id": 1, "tool": tool, "arguments": arguments}) + "\n")
    session.stdin.flush()
    return json.loads(session.stdout.readline())


def _approvals(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = run(["approvals", *words, "--json"])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if shown.out else shown.err


def test_a_waiting_call_is_listed_answered_and_sent_again(
    session: subprocess.Popen[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = _read(session)
    detail = refused["error_detail"]
    assert detail["code"] == "approval_required"
    assert f"prowess approvals vote {detail['request']}" in detail["message"]
    (item,) = _approvals(capsys, "list")[1]["items"]
    assert (item["id"], item["state"], item["tool"], item["given"]) == (detail["request"], "waiting", "skills.read", 0)
    assert _approvals(capsys, "show", item["id"])[1]["arguments"]["path"] == "references/a.md"

    monkeypatch.setattr(voting, "present_voter", lambda: Voter(user="www-data", kind="service"))
    assert _approvals(capsys, "vote", item["id"])[0] == 1
    monkeypatch.setattr(voting, "present_voter", lambda: Voter(user="ada"))
    assert _approvals(capsys, "vote", item["id"])[1]["state"] == "approved"
    assert _read(session)["success"]
    assert _read(session)["error_detail"]["code"] == "approval_required"  # once is once

    assert _approvals(capsys, "vote", item["id"], "--scope", "session")[1]["by"] == ["ada"]
    assert [_read(session)["success"] for _ in range(2)] == [True, True]
    other = _read(session, "SKILL.md")["error_detail"]["request"]
    assert other != item["id"]
    assert _approvals(capsys, "vote", other, "refuse", "--reason", "not now")[1]["state"] == "refused"
    assert "not now" in _read(session, "SKILL.md")["error"]
    code, error = _approvals(capsys, "vote", "ask-" + 32 * "0")
    assert (code, "no call waits with the request" in error) == (1, True)


def test_a_revocation_reaches_a_running_session(
    session: subprocess.Popen[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voting, "present_voter", lambda: Voter(user="ada"))
    request = _read(session)["error_detail"]["request"]
    assert _approvals(capsys, "vote", request, "--scope", "session")[0] == 0
    assert [_read(session)["success"] for _ in range(2)] == [True, True]
    assert _approvals(capsys, "revoke", request)[1]["state"] == "waiting"
    assert _read(session)["error_detail"]["code"] == "approval_required"
    _approvals(capsys, "vote", request, "refuse")
    assert _read(session)["error_detail"]["code"] == "policy_denied"
    _approvals(capsys, "revoke", request)
    assert _read(session)["error_detail"]["code"] == "approval_required"
    _approvals(capsys, "vote", request)
    assert _read(session)["success"]


def test_a_call_with_values_of_variables_is_approved_and_no_record_has_them(
    session: subprocess.Popen[str], own_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = own_home / ".prowess" / "policy.toml"
    policy.write_text(_ASK.replace("skills.read", "skills.run_script"), encoding="utf-8")
    with policy.open("a", encoding="utf-8") as file:
        file.write('[audit]\ncommand = "kept"\n')
    monkeypatch.setattr(voting, "present_voter", lambda: Voter(user="ada"))
    given = {"skill": "deploy", "path": "scripts/a.sh", "args": ["-p", "hunter2222"], "env": {"PLACE": "hunter2222"}}
    request = _call(session, "skills.run_script", given)["error_detail"]["request"]
    assert "hunter2222" in json.dumps(_approvals(capsys, "show", request)[1])  # a person sees what is approved
    assert _approvals(capsys, "vote", request)[0] == 0
    again = _call(session, "skills.run_script", given)
    assert (again["error_detail"] or {}).get("code") != "approval_required"
    assert run(["audit", "show", "--json"]) == 0
    records = capsys.readouterr().out
    assert "hunter2222" not in records
    assert '"[redacted]"' in records


@pytest.mark.parametrize(
    "words",
    [
        ("vote", "--role", "approver"),
        ("vote", "--until", "2099-01-01"),
        ("vote", "--key", "a.key"),
        ("revoke", "--key", "a.key"),
    ],
)
def test_options_without_effect_on_a_single_call_are_refused(
    own_home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    code, error = _approvals(capsys, words[0], "ask-" + 32 * "0", *words[1:])
    assert (code, f"{words[1]} has no effect on the request of a single call" in error) == (2, True)


def test_a_token_without_an_organisation_is_refused(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = _approvals(capsys, "show", "ask-" + 32 * "0", "--token-file", "token")
    assert (code, "--token-file needs --store or --server" in error) == (2, True)


def test_the_request_of_another_call_is_not_shown_for_an_id(
    session: subprocess.Popen[str], own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = _read(session)["error_detail"]["request"]
    path = own_home / ".prowess" / "call-requests" / f"{request}.json"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(path.read_text(encoding="utf-8").replace("references/a.md", "harmless.md"), encoding="utf-8")
    assert _approvals(capsys, "vote", request)[0] == 1
    assert _approvals(capsys, "list")[1]["items"] == []


def test_a_vote_about_an_older_state_of_a_request_is_refused(own_home: Path) -> None:
    """A second person may have read the request before the first one answered it."""
    files, ada, bob = RequestFiles(), Voter(user="ada"), Voter(user="bob")
    asked = ApprovalRequest(tool="Bash", arguments={"command": "ls"}, reason="a rule", skills=(), session_id="s")

    def vote(request: CallRequest, vote: Vote, voter: Voter) -> None:
        vote_on_call(files, request, vote, voter, reason="", scope="once", recorder=LocalActs(None))

    assert isinstance(anyio.run(files.approve, asked), Unanswered)
    seen = files.get(asked.id)
    vote(seen, "refuse", bob)
    with pytest.raises(VoteRefusedError, match="bob has refused the call"):
        vote(seen, "approve", ada)
    vote(seen, "revoke", bob)
    vote(seen, "approve", ada)
    assert isinstance(anyio.run(files.approve, asked), Approval)
    with pytest.raises(VoteRefusedError, match="its answer was used"):
        vote(seen, "approve", ada)
    assert isinstance(anyio.run(files.approve, asked), Unanswered)
