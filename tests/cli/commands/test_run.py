"""`prowess run`, as a person and as a pipe see it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.execution import default_sandbox

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
echo "$# $*"
echo problem >&2
echo '<svg/>' > $OUT/chart.svg
mkdir -p $OUT/more && echo 1 > $OUT/more/a.csv
exit ${1:-0}
"""


@pytest.fixture(autouse=True)
def needs_sandbox() -> None:
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    skill = tmp_path / "skills" / "demo"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: demo\ndescription: Shows how scripts run.\n---\nRun it.\n")
    (skill / "scripts" / "run.sh").write_text(SCRIPT)
    (skill / "scripts" / "sleep.sh").write_text("echo before\nsleep 30\n")
    (skill / "scripts" / "look.sh").write_text("pwd; ls; echo x > new\n")
    (skill / "scripts" / "flood.sh").write_text("head -c 1500000 /dev/zero\n")
    (skill / "scripts" / "run.rb").write_text("puts 1\n")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path / "skills"


def _call(root: Path, *words: str) -> int:
    return run(["run", "demo", *words[:1], "--root", str(root), *words[1:]])


def test_a_script_that_succeeds_prints_what_it_prints(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _call(root, "scripts/run.sh") == exit_codes.OK
    out, err = capfdbinary.readouterr()
    assert out == b"0 \n"
    assert b"problem\n" in err
    assert b"artifact chart.svg (7 bytes): not kept, see --out" in err


def test_arguments_after_the_dashes_reach_the_script(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _call(root, "scripts/run.sh", "--", "0", "--json", "a b") == exit_codes.OK
    assert capfdbinary.readouterr().out == b"3 0 --json a b\n"


def test_a_script_that_fails_gives_1_and_its_status_on_standard_error(
    root: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert _call(root, "scripts/run.sh", "--", "7") == exit_codes.FAILED
    assert b"scripts/run.sh exited with status 7\n" in capfdbinary.readouterr().err


def test_the_json_result_is_one_document(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _call(root, "scripts/run.sh", "--json", "--", "3") == exit_codes.FAILED
    result = json.loads(capfdbinary.readouterr().out)
    assert (result["exit_code"], result["stdout"], result["stderr"]) == (3, "1 3\n", "problem\n")
    assert result["guarantees"]["network"] == "none"
    assert [artifact["path"] for artifact in result["artifacts"]] == [None, None]


def test_artifacts_are_kept_where_asked(root: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    home = tmp_path / "results"
    for _ in range(2):  # a second run replaces what the first left
        assert _call(root, "scripts/run.sh", "--out", str(home), "--json") == exit_codes.OK
        result = json.loads(capfdbinary.readouterr().out)
    assert (home / "chart.svg").read_text() == "<svg/>\n"
    assert [artifact["path"] for artifact in result["artifacts"]] == [
        str(home / "chart.svg"),
        str(home / "more" / "a.csv"),
    ]
    assert sorted(os.listdir(home)) == ["chart.svg", "more"]


def test_an_artifact_is_never_written_through_a_link(
    root: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    home, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / "more").symlink_to(elsewhere)
    assert _call(root, "scripts/run.sh", "--out", str(home)) == exit_codes.FAILED
    assert b"symbolic link" in capfdbinary.readouterr().err
    assert os.listdir(elsewhere) == []


def test_the_time_limit_is_said(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _call(root, "scripts/sleep.sh", "--timeout", "0.3") == exit_codes.FAILED
    out, err = capfdbinary.readouterr()
    assert out == b"before\n"
    assert b"stopped at the time limit" in err


def test_output_that_was_cut_is_said(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _call(root, "scripts/flood.sh") == exit_codes.OK
    out, err = capfdbinary.readouterr()
    assert len(out) == 1_000_000
    assert b"stdout was cut: the script wrote 1500000 bytes" in err


def test_the_current_directory_is_the_workspace_and_read_only_without_write(
    root: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "work" / "data.csv").write_text("")
    assert _call(root, "scripts/look.sh") == exit_codes.FAILED
    assert capfdbinary.readouterr().out == b"/workspace\ndata.csv\n"
    assert _call(root, "scripts/look.sh", "--write") == exit_codes.OK
    assert (tmp_path / "work" / "new").exists()


def test_the_working_directory_that_may_not_be_the_workspace_is_named(
    root: Path, own_home: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_home)
    assert _call(root, "scripts/look.sh") == exit_codes.OK
    out, err = capfdbinary.readouterr()
    assert out == b"/tmp/work\n"
    assert b"is not used as the workspace" in err


def test_a_workspace_that_was_asked_for_and_is_refused_ends_the_command(
    root: Path, own_home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert _call(root, "scripts/look.sh", "--workspace", str(own_home)) == exit_codes.USAGE
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert b"it is the home directory or contains it" in err


def test_a_place_for_artifacts_that_cannot_be_written_is_told_before_the_run(
    root: Path, own_home: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "file").write_text("")
    assert _call(root, "scripts/run.sh", "--out", str(tmp_path / "file" / "out")) == exit_codes.USAGE
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert b"the script was not run" in err
    assert not (own_home / ".prowess" / "audit").exists()


def test_a_copy_that_fails_leaves_nothing_behind(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "charts"
    (out / "chart.svg").mkdir(parents=True)  # a directory cannot be replaced by the file
    assert _call(root, "scripts/run.sh", "--out", str(out)) == exit_codes.FAILED
    assert [path.name for path in out.iterdir()] == ["chart.svg"]


def test_files_that_are_kept_have_the_mode_that_the_umask_asks_for(root: Path, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        assert _call(root, "scripts/run.sh", "--out", str(tmp_path / "charts")) == exit_codes.OK
    finally:
        os.umask(before)
    assert (tmp_path / "charts" / "chart.svg").stat().st_mode & 0o777 == 0o640


def test_a_log_that_cannot_be_written_is_unavailable(
    root: Path, own_home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (own_home / ".prowess" / "audit" / "audit.jsonl").mkdir(parents=True)
    assert _call(root, "scripts/run.sh") == exit_codes.UNAVAILABLE
    assert b"audit log" in capfdbinary.readouterr().err


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("scripts/run.rb", b"no interpreter is configured for '.rb'"),
        ("scripts/none.sh", b"none.sh"),
        ("../x.sh", b"'..'"),
        ("SKILL.md", b"scripts/"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(
    root: Path, capfdbinary: pytest.CaptureFixture[bytes], script: str, words: bytes
) -> None:
    assert _call(root, script) == exit_codes.FAILED
    err = capfdbinary.readouterr().err
    assert words in err
    assert b"Traceback" not in err


def test_the_run_is_in_the_audit_log(root: Path, own_home: Path) -> None:
    _call(root, "scripts/run.sh")
    log = (own_home / ".prowess" / "audit" / "audit.jsonl").read_text()
    assert "skills.run_script" in log


def test_a_home_that_cannot_be_written_costs_only_the_record(
    root: Path, own_home: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_home / "file").write_text("")
    monkeypatch.setenv("PROWESS_HOME", str(own_home / "file" / "below"))
    code = _call(root, "scripts/run.sh")
    assert b"leaves no audit record" in capfdbinary.readouterr().err
    assert code == exit_codes.OK


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, b"interrupted: the script was stopped"),
        (signal.SIGTERM, 143, b"ended by SIGTERM"),
        (signal.SIGHUP, 129, b"ended by SIGHUP"),
    ],
    ids=["INT", "TERM", "HUP"],
)
def test_a_signal_ends_the_script_and_the_command_in_order(
    root: Path, own_home: Path, number: signal.Signals, code: int, said: bytes
) -> None:
    token = uuid.uuid4().hex
    command = [sys.executable, "-m", "prowess", "run", "demo", "scripts/sleep.sh", "--root", str(root), "--", token]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        deadline = time.monotonic() + 15
        while not _runs(f"/skill/scripts/sleep.sh {token}") and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.02)
        child.send_signal(number)
        _, err = child.communicate(timeout=15)
    assert child.returncode == code
    assert said in err
    assert b"Traceback" not in err
    records = (own_home / ".prowess" / "audit" / "audit.jsonl").read_text()
    assert records.count('"tool.started"') == records.count('"tool.finished"') == 2
    assert not any((own_home / ".prowess" / "artifacts").glob("*"))
    assert not _runs(f"/skill/scripts/sleep.sh {token}")


def _runs(words: str) -> bool:
    return subprocess.run(["pgrep", "-f", words], capture_output=True, check=False).returncode == 0


def test_a_policy_that_denies_scripts_ends_with_the_exit_code_for_it(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.run_script"\nreason = "no scripts"\n'
    )

    assert _call(root, "scripts/run.sh", "--policy", str(policy)) == exit_codes.DENIED
    assert "no scripts" in capfd.readouterr().err


def test_where_a_record_is_required_and_cannot_be_written_nothing_is_run(
    root: Path, tmp_path: Path, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "allow"\naudit = { required = true }\n')
    (own_home / ".prowess").write_text("no directory")

    assert _call(root, "scripts/run.sh", "--policy", str(policy)) == exit_codes.UNAVAILABLE
    assert "without a record" in capfd.readouterr().err


def test_a_policy_says_which_scripts_run_and_which_variables_they_get(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    (root / "demo" / "bin").mkdir()
    (root / "demo" / "bin" / "say.sh").write_text('echo "$HOST_WORD"\n')
    monkeypatch.setenv("HOST_WORD", "given")
    policy.write_text('default = "allow"\nscript_dirs = ["bin"]\nenv_allow = ["HOST_WORD"]\n')

    assert _call(root, "bin/say.sh", "--policy", str(policy)) == exit_codes.OK
    assert capfd.readouterr().out == "given\n"
    assert _call(root, "scripts/run.sh", "--policy", str(policy)) == exit_codes.DENIED
    assert f"script_dirs in {policy}" in capfd.readouterr().err
    assert _call(root, "bin/say.sh") == exit_codes.FAILED
    assert "only files below scripts/ can be run" in capfd.readouterr().err
