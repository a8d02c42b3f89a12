from __future__ import annotations

import json

import pytest

from prowess.cli import exit_codes
from prowess.cli.commands import sandbox as sandbox_command
from prowess.cli.dispatch import run
from prowess.execution import default_sandbox, self_check
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from prowess.execution.self_check import Finding, SelfCheck


def _found(*, held: bool | None = True) -> SelfCheck:
    return SelfCheck(
        report=default_sandbox().probe(),
        escapes=(Finding(name="tcp", held=True), Finding(name="udp", held=held, detail="it got out")),
        limits=(Finding(name="memory", held=None, detail="no group"),),
        overhead_ms=5.5,
    )


@pytest.fixture
def needs_sandbox() -> None:
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)


@pytest.mark.usefixtures("needs_sandbox")
def test_the_check_says_tier_backend_counts_and_cost(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["sandbox", "check"]) == exit_codes.OK
    line = capfd.readouterr().out.splitlines()[0]
    assert line.startswith("tier 1  bubblewrap ")
    assert "41 of 41 escapes blocked" in line
    assert line.endswith(" ms")


@pytest.mark.usefixtures("needs_sandbox")
def test_what_was_not_stopped_is_named_and_fails(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(sandbox: object) -> SelfCheck:
        return _found(held=False)

    monkeypatch.setattr(self_check, "check_sandbox", check)
    assert run(["sandbox", "check"]) == exit_codes.FAILED
    out = capfd.readouterr().out
    assert "1 of 2 escapes blocked   0 of 1 limits enforced   +5.5 ms" in out
    assert "escape udp: NOT STOPPED: it got out" in out
    assert "limit memory: not available: no group" in out


@pytest.mark.usefixtures("needs_sandbox")
def test_the_json_document_holds_every_finding(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(sandbox: object) -> SelfCheck:
        return _found()

    monkeypatch.setattr(self_check, "check_sandbox", check)
    assert run(["sandbox", "check", "--json"]) == exit_codes.OK
    document = json.loads(capfd.readouterr().out)
    assert document["available"] is True
    assert document["passed"] is True
    assert document["escapes"][0] == {"name": "tcp", "held": True, "detail": ""}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_without_a_sandbox_the_check_exits_with_4(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    absent = BubblewrapSandbox(program="/no/such/bwrap")
    monkeypatch.setattr(sandbox_command, "default_sandbox", lambda: absent)
    assert run(["sandbox", "check", *form]) == exit_codes.UNAVAILABLE
    said = capfd.readouterr()
    assert "apt-get install bubblewrap" in said.out + said.err
    if form:
        assert json.loads(said.out)["available"] is False
