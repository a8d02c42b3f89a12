from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from prowess import execution
from prowess.audit.log import JsonlAuditLog
from prowess.audit.record import AuditEvent
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from tests.catalog.locking import lock, locked

if TYPE_CHECKING:
    from pathlib import Path

LINES = [
    "python",
    "yaml",
    "sandbox",
    "interpreters",
    "home",
    "cache",
    "catalog",
    "blocks",
    "packages",
    "trust",
    "audit",
    "machine",
]


def _lines(capfd: pytest.CaptureFixture[str], code: int) -> dict[str, dict[str, str]]:
    capfd.readouterr()
    assert run(["doctor", "--json"]) == code
    document = json.loads(capfd.readouterr().out)
    assert document["ok"] is (code == exit_codes.OK)
    return {check["name"]: check for check in document["checks"]}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("work")
def test_every_part_has_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    run(["doctor"])
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == LINES
    assert {line.split()[0] for line in lines} <= {"ok", "warn", "fail"}


@pytest.mark.usefixtures("work")
def test_without_a_sandbox_the_line_fails_and_says_what_to_install(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = BubblewrapSandbox(program="/no/such/bwrap")
    monkeypatch.setattr(execution, "default_sandbox", lambda: absent)
    line = _lines(capfd, exit_codes.FAILED)["sandbox"]
    assert line["status"] == "fail"
    assert "apt-get install bubblewrap" in line["next"]


@pytest.fixture
def sandboxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the line about the sandbox be `ok`, whatever this machine has."""
    working = BubblewrapSandbox()
    report = execution.SandboxReport(available=True, backend="b", tier=1, version="1", program="/b", hint="")
    monkeypatch.setattr(working, "probe", lambda: report)
    monkeypatch.setattr(execution, "default_sandbox", lambda: working)


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_home_that_others_can_read_is_a_warning(capfd: pytest.CaptureFixture[str], own_home: Path) -> None:
    (own_home / ".prowess").mkdir(mode=0o755)
    (own_home / ".prowess").chmod(0o755)
    line = _lines(capfd, exit_codes.OK)["home"]
    assert (line["status"], line["next"]) == ("warn", f"chmod 700 {own_home}/.prowess")


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_home_that_cannot_be_made_is_a_warning(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_HOME", "/proc/no-such-place/home")
    line = _lines(capfd, exit_codes.OK)["home"]
    assert line["status"] == "warn"
    assert "no call is audited" in line["detail"]


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_changed_audit_log_fails(capfd: pytest.CaptureFixture[str], own_home: Path) -> None:
    path = own_home / ".prowess" / "audit" / "audit.jsonl"
    log = JsonlAuditLog(str(path), fsync="second")
    log.append(AuditEvent(kind="tool.started", session_id=None, call_id=None, data={"tool": "x"}))
    assert "1 record," in _lines(capfd, exit_codes.OK)["audit"]["detail"]
    path.write_text(path.read_text().replace('"x"', '"y"'))
    line = _lines(capfd, exit_codes.FAILED)["audit"]
    assert (line["status"], line["next"]) == ("fail", "prowess audit verify")


@pytest.mark.usefixtures("sandboxed")
def test_skills_that_wait_for_trust_are_a_warning(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    skill = work / ".prowess" / "skills" / "demo"
    skill.mkdir(parents=True)
    (work / ".git").mkdir()
    (skill / "SKILL.md").write_text("---\nname: demo\ndescription: Does it.\n---\n")
    line = _lines(capfd, exit_codes.OK)["catalog"]
    assert line["status"] == "warn"
    assert "trust" in line["next"]


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_skill_that_does_not_load_is_a_warning(capfd: pytest.CaptureFixture[str], own_home: Path) -> None:
    broken = own_home / ".prowess" / "skills" / "broken"
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_text("no front matter")
    line = _lines(capfd, exit_codes.OK)["catalog"]
    assert (line["status"], line["next"]) == ("warn", "prowess list shows them")


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_damaged_trust_store_fails(capfd: pytest.CaptureFixture[str], own_home: Path) -> None:
    (own_home / ".prowess").mkdir(mode=0o700)
    (own_home / ".prowess" / "trust.json").write_text("{")
    assert _lines(capfd, exit_codes.FAILED)["trust"]["status"] == "fail"


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_missing_interpreter_is_a_warning_with_its_package(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from msgspec.structs import replace

    rows = tuple(
        replace(rule, programs=("/no/such",)) if rule.name == "node" else rule for rule in execution.INTERPRETERS
    )
    monkeypatch.setattr(execution, "INTERPRETERS", rows)
    line = _lines(capfd, exit_codes.OK)["interpreters"]
    assert line["status"] == "warn"
    assert "apt-get install nodejs" in line["next"]


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_slow_yaml_is_a_warning(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml  # here, because only this test needs it

    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert _lines(capfd, exit_codes.OK)["yaml"]["status"] == "warn"


@pytest.mark.usefixtures("work", "sandboxed")
def test_a_part_that_breaks_is_a_line_and_no_traceback(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_viewer: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("prowess.catalog.Catalog.discover", broken)
    line = _lines(capfd, exit_codes.FAILED)["catalog"]
    assert (line["status"], "Input/output error" in line["detail"]) == ("fail", True)


@pytest.mark.usefixtures("work")
def test_a_cache_that_cannot_be_written_is_a_warning_while_there_is_a_temporary_directory(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_HOME", "/dev/null")
    line = _lines(capfd, exit_codes.FAILED)["cache"]
    assert line["status"] == "warn"
    assert "a file with this name exists" in line["detail"]

    def full(**options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prowess.cli.commands.doctor.tempfile", SimpleNamespace(TemporaryFile=full))
    assert _lines(capfd, exit_codes.FAILED)["cache"]["status"] == "fail"


@pytest.mark.usefixtures("work")
def test_the_line_about_packages_names_version_signer_and_lock(capfd: pytest.CaptureFixture[str]) -> None:
    assert _lines(capfd, exit_codes.OK)["packages"]["detail"] == "no skill is offered by a lock"
    path = lock(
        locked("deploy", signer="acme"),
        locked("review", package="beta", version="2.0.0", unsigned=True),
        locked("sums", tree=f"sha256:{'0' * 64}", package="gone"),
    )
    line = _lines(capfd, exit_codes.OK)["packages"]
    assert line["status"] == "warn"
    assert line["detail"].endswith("has acme 1.0.0 (signed by acme), beta 2.0.0 (unsigned)")
    assert path.name in line["detail"]
    assert "sums of gone 1.0.0 is not offered" in line["next"]
    assert "run `prowess install" in line["next"]
