from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from prowess.audit import verify_log
from prowess.store.shared.organisation import OrganisationStore
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgresql import Postgresql


def _write_skill(root: Path, name: str, files: dict[str, str] | None = None) -> None:
    for path, text in {
        "SKILL.md": f"---\nname: {name}\ndescription: Does {name}.\n---\nBody of {name}.\n",
        **(files or {}),
    }.items():
        target = root / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "skills"
    _write_skill(
        place,
        "kit",
        {
            "scripts/here.sh": "pwd; cat input.txt; echo x > new.txt\n",
            "scripts/leave.sh": "echo 1 > $OUT/left.txt\n",
            "scripts/slow.sh": "echo begun; sleep 60\n",
            "references/a.md": "Text.\n",
        },
    )
    return place


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "input.txt").write_text("data\n")
    return place


def _start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [prowess(), "session", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
    )


def _host(*arguments: str, cwd: Path, requests: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    process = _start(*arguments, cwd=cwd)
    lines = b"".join(json.dumps({"id": n, **request}).encode() + b"\n" for n, request in enumerate(requests))
    output, errors = process.communicate(lines, timeout=30)
    assert process.returncode == 0, errors
    answers = [json.loads(line) for line in output.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(len(requests)))
    return answers, errors.decode()


def _call(tool: str, **arguments: object) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def test_a_host_loads_reads_and_runs_and_everything_is_audited(root: Path, workspace: Path, own_home: Path) -> None:
    answers, errors = _host(
        "--root",
        str(root),
        cwd=workspace,
        requests=[
            _call("skills.load", names=["kit"]),
            _call("skills.read", path="references/a.md"),
            _call("skills.run_script", path="scripts/here.sh"),
            {"method": "instructions"},
            _call("skills.read", path="../x"),
        ],
    )

    loaded, read, ran, instructions, refused = answers
    assert loaded["result"]["active_skills"][0]["location"] == str(root / "kit" / "SKILL.md")
    assert read["result"]["text"] == "Text.\n"
    assert ran["result"]["stdout"] == "/workspace\ndata\n"
    assert ran["result"]["exit_code"] != 0  # the workspace cannot be written
    assert "Body of kit." in instructions["result"]["instructions"]
    assert refused["error_detail"]["code"] == "unsafe_path"
    assert errors == ""
    log = own_home / ".prowess" / "audit" / "audit.jsonl"
    assert verify_log(str(log)).ok
    kinds = [json.loads(line)["kind"] for line in log.read_text().splitlines()]
    assert kinds.count("tool.started") == kinds.count("tool.finished") == 4
    assert {"skill.loaded", "script.finished"} <= set(kinds)
    assert not (own_home / ".prowess" / "state.db").exists()


def test_with_write_a_script_may_change_the_workspace(root: Path, workspace: Path, tmp_path: Path) -> None:
    run = [_call("skills.load", names=["kit"]), _call("skills.run_script", path="scripts/here.sh")]

    answers, _ = _host("--root", str(root), "--workspace", str(workspace), "--write", cwd=tmp_path, requests=run)

    assert answers[1]["result"]["exit_code"] == 0
    assert (workspace / "new.txt").read_text() == "x\n"


def test_a_session_with_a_name_outlives_its_process_until_it_is_closed(
    root: Path, workspace: Path, own_home: Path
) -> None:
    options = ("--root", str(root), "--id", "mine")
    _host(*options, cwd=workspace, requests=[_call("skills.load", names=["kit"])])

    answers, _ = _host(
        *options, cwd=workspace, requests=[_call("skills.read", path="references/a.md"), {"method": "close"}]
    )
    assert answers[0]["result"]["skill"] == "kit"
    assert answers[1]["result"] == {"closed": True}
    assert (own_home / ".prowess" / "state.db").stat().st_mode & 0o077 == 0

    answers, _ = _host(*options, cwd=workspace, requests=[_call("skills.read", path="references/a.md")])
    assert answers[0]["error_detail"]["code"] == "skill_not_active"


def test_without_a_name_nothing_is_kept(root: Path, workspace: Path) -> None:
    _host("--root", str(root), cwd=workspace, requests=[_call("skills.load", names=["kit"])])

    answers, _ = _host("--root", str(root), cwd=workspace, requests=[_call("skills.read", path="SKILL.md")])

    assert answers[0]["error_detail"]["code"] == "skill_not_active"


def test_body_result_puts_the_instructions_into_the_load_result(root: Path, workspace: Path) -> None:
    answers, _ = _host(
        "--root", str(root), "--body", "result", cwd=workspace, requests=[_call("skills.load", names=["kit"])]
    )

    assert "Body of kit." in answers[0]["result"]["active_skills"][0]["content"]


def test_plugins_are_added_and_project_skills_wait_for_trust(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    _write_skill(project / ".prowess" / "skills", "local")
    _write_skill(tmp_path / "plugin", "extra")
    list_ = [{"method": "instructions"}]

    held, notice = _host("--plugin", str(tmp_path / "plugin"), cwd=project, requests=list_)
    offered, quiet = _host("--trust-project", cwd=project, requests=list_)

    assert "<name>extra</name>" in held[0]["result"]["instructions"]
    assert "<name>local</name>" not in held[0]["result"]["instructions"]
    assert "prowess trust" in notice
    assert "<name>local</name>" in offered[0]["result"]["instructions"]
    assert quiet == ""


def test_a_home_that_cannot_be_used_costs_one_notice(
    root: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "file" / "home"))

    answers, errors = _host(
        "--root", str(root), "--id", "x", cwd=workspace, requests=[_call("skills.load", names=["kit"])]
    )

    assert answers[0]["success"]
    assert errors.count("\n") == 1
    assert "cannot be written" in errors


def test_a_workspace_that_would_hand_over_the_home_is_refused_with_a_notice(root: Path, own_home: Path) -> None:
    answers, errors = _host(
        "--root",
        str(root),
        cwd=own_home,
        requests=[_call("skills.load", names=["kit"]), _call("skills.run_script", path="scripts/here.sh")],
    )

    assert "not used as the workspace" in errors
    assert "/workspace" not in answers[1]["result"]["stdout"]


@pytest.mark.parametrize(
    "arguments", [("--root", "/nowhere"), ("--body", "neither"), ("--unknown",), ("--workspace", "/nowhere")]
)
def test_a_wrong_command_line_is_told_so(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    process = _start(*arguments, cwd=tmp_path)
    output, errors = process.communicate(b"", timeout=30)

    assert (process.returncode, output) == (2, b"")
    assert b"Traceback" not in errors


def test_a_name_that_could_be_a_path_is_refused(root: Path, tmp_path: Path) -> None:
    process = _start("--root", str(root), "--id", "../x", cwd=tmp_path)
    _, errors = process.communicate(b"", timeout=30)

    assert process.returncode == 2
    assert b"--id: must be 1 to 128 letters" in errors
    assert b"Traceback" not in errors


def test_a_store_that_cannot_be_read_is_told_at_the_start(root: Path, tmp_path: Path, own_home: Path) -> None:
    (own_home / ".prowess").mkdir(mode=0o700)
    (own_home / ".prowess" / "state.db").write_bytes(b"no database" * 100)
    process = _start("--root", str(root), "--id", "x", cwd=tmp_path)
    output, errors = process.communicate(b'{"id":1,"method":"tools"}\n', timeout=30)

    assert (process.returncode, output) == (4, b"")
    assert b"state.db" in errors
    assert b"Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_session_that_is_asked_to_end_leaves_nothing_unfinished(
    root: Path, workspace: Path, own_home: Path, number: signal.Signals
) -> None:
    process = _start("--root", str(root), cwd=workspace)
    assert process.stdin is not None
    assert process.stdout is not None
    for call in (_call("skills.load", names=["kit"]), _call("skills.run_script", path="scripts/leave.sh")):
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
    process.stdin.write(json.dumps(_call("skills.run_script", path="scripts/slow.sh")).encode() + b"\n")
    process.stdin.flush()
    log = own_home / ".prowess" / "audit" / "audit.jsonl"
    deadline = time.monotonic() + 15
    while log.read_text().count('"tool.started"') < 3 and time.monotonic() < deadline:
        time.sleep(0.02)

    process.send_signal(number)
    _, errors = process.communicate(timeout=30)

    assert process.returncode == 128 + number
    assert errors.decode().endswith(f"ended by {number.name}\n")
    assert log.read_text().count('"tool.started"') == log.read_text().count('"tool.finished"') == 3
    assert list((own_home / ".prowess" / "artifacts").iterdir()) == []


@pytest.mark.parametrize("busy", [False, True], ids=["waiting", "running a script"])
def test_an_interrupt_ends_the_session_at_once(root: Path, workspace: Path, busy: bool) -> None:  # noqa: FBT001 -- parametrised
    process = _start("--root", str(root), cwd=workspace)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(_call("skills.load", names=["kit"])).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    if busy:
        process.stdin.write(json.dumps(_call("skills.run_script", path="scripts/slow.sh")).encode() + b"\n")
        process.stdin.flush()
        time.sleep(0.2)

    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)

    assert process.returncode == 130, errors
    assert time.monotonic() - begun < 10
    assert b"Traceback" not in errors


def test_a_reader_that_goes_away_is_no_failure(root: Path, workspace: Path) -> None:
    process = _start("--root", str(root), cwd=workspace)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    for _ in range(3):
        try:
            process.stdin.write(b'{"id":1,"method":"tools"}\n')
            process.stdin.flush()
        except BrokenPipeError:
            break
    process.stdin.close()

    assert process.wait(20) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_the_help_shows_an_example() -> None:
    done = subprocess.run([prowess(), "session", "--help"], capture_output=True, text=True, timeout=30, check=True)

    assert "| prowess session --root" in " ".join(done.stdout.split())


def test_processes_on_one_shared_store_have_one_session_for_each_tenant(
    root: Path, workspace: Path, postgresql: Postgresql
) -> None:
    url = postgresql.store_url()
    organisation = OrganisationStore(url)
    organisation.add_tenant("acme")
    organisation.database.close()
    options = ("--root", str(root), "--store", url, "--id", "shared")
    first = _start(*options, cwd=workspace)
    assert first.stdin is not None
    assert first.stdout is not None
    first.stdin.write(json.dumps({"id": 0, **_call("skills.load", names=["kit"])}).encode() + b"\n")
    first.stdin.flush()
    assert json.loads(first.stdout.readline())["success"]

    (read,), _ = _host(*options, cwd=workspace, requests=[_call("skills.read", path="references/a.md")])
    assert read["success"], read
    (foreign,), _ = _host(
        *options, "--tenant", "acme", cwd=workspace, requests=[_call("skills.read", path="references/a.md")]
    )
    assert foreign["error_detail"]["code"] == "skill_not_active"
    assert first.communicate(timeout=30)[0] == b""


@pytest.mark.parametrize(
    ("url", "code", "message"),
    [
        ("mysql://user:secret@host/db", 2, "no such kind of store"),
        ("postgresql://user:secret@127.0.0.1:1/db", 4, "check that the database runs"),
    ],
)
def test_a_store_that_cannot_be_used_is_refused_without_its_password(
    root: Path, tmp_path: Path, url: str, code: int, message: str
) -> None:
    process = _start("--root", str(root), "--store", url, cwd=tmp_path)
    _, errors = process.communicate(b"", timeout=30)
    assert process.returncode == code
    assert message in errors.decode()
    assert b"secret" not in errors
    assert b"Traceback" not in errors
