"""`prowess load` without a session, held against the one with it: the same text, exit code and records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes, plain_load
from prowess.cli.dispatch import run
from prowess.errors import AuditError
from prowess.policy import JsonlAuditLog
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.policy import AuditEvent, AuditRecord

    Capture = pytest.CaptureFixture[str]

# What a plain activation must never pay for. The session and what it stands on, the command line's library, the reader
# of YAML, and what makes classes at import.
_COSTLY = (
    "anyio", "asyncio", "click", "concurrent.futures", "dataclasses", "difflib", "importlib.metadata", "inspect",
    "logging", "pathlib", "prowess.execution", "prowess.policy.policy_file", "prowess.runtime", "prowess.tools",
    "pyromark", "sqlite3", "ssl", "subprocess", "tomllib", "uuid", "yaml",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "skills"
    write_skill(place, "alpha", body="Follow $HOME, $1 and `ls`.\n\nAnd ünder.\n", files={"references/a.md": "a\n"})
    write_skill(place, "beta", extra="license: MIT\nallowed-tools: Read Bash(git:*)\nmetadata:\n  a: b\n", body="")
    write_skill(place, "gamma", body="\n\nA blank line first, no line break at the end", files={"LICENSE": "x"})
    write_skill(place, "delta", body="In ${SKILL_DIR}, not \\${SKILL_DIR}, $ARGUMENTS or $$1.\n")
    return place


def _records(home: Path) -> list[dict[str, object]]:
    lines = (home / ".prowess/audit/audit.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        for name in ("at", "hash", "previous", "sequence"):
            del record[name]
        record["data"].pop("duration_ms", None)
        record["session_id"] = len(str(record["session_id"]))
        record["call_id"] = [one["call_id"] for one in records].index(record["call_id"]) // 3
    return records


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma", "delta"])
def test_both_ways_print_and_record_the_same(name: str, root: Path, own_home: Path, capfd: Capture) -> None:
    assert plain_load.plain_load([name, "--root", str(root)]) == exit_codes.OK
    plain = capfd.readouterr()
    assert run(["load", name, "--root", str(root)]) == exit_codes.OK
    assert capfd.readouterr() == plain
    records = _records(own_home)
    assert len(records) == 6
    assert [{**record, "call_id": 0} for record in records[:3]] == [{**record, "call_id": 0} for record in records[3:]]


def test_the_session_that_a_body_names_is_the_one_in_the_log(root: Path, own_home: Path, capfd: Capture) -> None:
    write_skill(root, "named", body="Of ${SESSION_ID}.\n")
    assert plain_load.plain_load(["named", "--root", str(root)]) == exit_codes.OK
    log = (own_home / ".prowess/audit/audit.jsonl").read_text(encoding="utf-8")
    assert capfd.readouterr().out == f"Of {json.loads(log.splitlines()[0])['session_id']}.\n"


def test_a_plain_activation_imports_no_session_no_command_line_and_no_yaml(root: Path, own_home: Path) -> None:
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = ['prowess', 'load', 'beta', '--root', {str(root)!r}]\n"
        "from prowess.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print(*sorted(sys.modules))"
    )
    # -S: what the environment of a developer, or the measuring of coverage, adds to a start is not ours.
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert [name for name in done.stdout.split() if name in _COSTLY] == []
    assert len(_records(own_home)) == 3


def test_the_command_takes_this_way_by_itself_and_says_where_nothing_more_can_be_written(root: Path) -> None:
    command = [sys.executable, "-m", "prowess", "load", "alpha", "--root", str(root)]
    assert "Follow $HOME" in subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=30)
        assert done.returncode == exit_codes.FAILED
        assert done.stderr == "error: standard output: No space left on device\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["alpha", "args"],
        ["alpha", "--json"],
        ["alpha", "--policy", "p.toml"],
        ["--help"],
        ["/alpha"],
        ["alpha@plugin"],
        ["nobody"],
        ["alpha", "--root"],
        ["alpha", "--root", "/nowhere/at/all"],
        ["alpha", "--root="],
        ["alpha", "--trust-project"],
    ],
)
def test_a_command_line_that_asks_for_more_is_handed_over(
    words: list[str], root: Path, own_home: Path, capfd: Capture
) -> None:
    assert plain_load.plain_load([f"--root={root}", *words]) is None
    assert capfd.readouterr() == ("", "")
    assert not (own_home / ".prowess/audit").exists()


@pytest.mark.parametrize(
    ("extra", "body", "file"),
    [
        ("hooks:\n  pre: scripts/refuse.sh\n", "x\n", ""),
        ("context: fork\n", "x\n", ""),
        ("user-invocable: false\n", "x\n", ""),
        ("unknown: field\n", "x\n", ""),
        ("license: {a: b}\n", "x\n", ""),
        ("", "Now !`date`.\n", ""),
        ("", "carriage\r\nreturn\n", ""),
        ("", "x\n", "skill.manifest.yaml"),
        ("", "x\n", ".hidden"),
    ],
)
def test_a_skill_that_something_has_a_say_in_is_handed_over(
    extra: str, body: str, file: str, tmp_path: Path, own_home: Path
) -> None:
    write_skill(tmp_path, "one", extra=extra, body=body, files={file: "x"} if file else {})
    assert plain_load.plain_load(["one", "--root", str(tmp_path)]) is None
    assert not (own_home / ".prowess/audit").exists()


def test_a_link_in_the_skill_is_handed_over(root: Path) -> None:
    (root / "alpha" / "references" / "link").symlink_to(root / "beta")
    assert plain_load.plain_load(["alpha", "--root", str(root)]) is None


@pytest.mark.parametrize("policy", ["", "default = 'deny'\n", "no policy at all"])
def test_where_a_policy_file_lies_the_session_decides(policy: str, root: Path, own_home: Path) -> None:
    (own_home / ".prowess").mkdir(mode=0o700)
    (own_home / ".prowess/policy.toml").write_text(policy, encoding="utf-8")
    assert plain_load.plain_load(["alpha", "--root", str(root)]) is None
    (own_home / ".prowess/policy.toml").unlink()
    (own_home / ".prowess/policy.toml").symlink_to("nowhere")
    assert plain_load.plain_load(["alpha", "--root", str(root)]) is None


def test_without_a_home_or_with_a_broken_log_the_session_says_what_follows(
    root: Path, own_home: Path, capfd: Capture
) -> None:
    assert plain_load.plain_load(["alpha", "--root", str(root)]) == exit_codes.OK
    (own_home / ".prowess/audit/head.json").unlink()
    capfd.readouterr()
    assert plain_load.plain_load(["alpha", "--root", str(root)]) is None
    assert len(_records(own_home)) == 3
    (own_home / ".prowess").chmod(0o777)
    assert plain_load.plain_load(["alpha", "--root", str(root)]) is None
    assert capfd.readouterr() == ("", "")


class _FailingLog(JsonlAuditLog):
    """A log whose second record fails."""

    fault: BaseException = AuditError("the log", "is full")

    def append(self, event: AuditEvent) -> AuditRecord:
        if event.kind == "skill.loaded":
            raise self.fault
        return super().append(event)


def _failing(monkeypatch: pytest.MonkeyPatch, home: Path, fault: BaseException) -> None:
    log = _FailingLog(home / ".prowess/audit/audit.jsonl")
    log.fault = fault
    monkeypatch.setattr(plain_load, "audit_log", lambda _home: log)


def test_nothing_is_shown_that_is_not_recorded_in_full(
    root: Path, own_home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, own_home, AuditError("the log", "is full"))
    assert plain_load.plain_load(["alpha", "--root", str(root)]) == exit_codes.UNAVAILABLE
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "nothing is shown" in printed.err
    assert [record["kind"] for record in _records(own_home)] == ["tool.started", "tool.finished"]


def test_an_interruption_is_recorded_as_one(
    root: Path, own_home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, own_home, KeyboardInterrupt())
    assert plain_load.plain_load(["alpha", "--root", str(root)]) == exit_codes.INTERRUPTED
    assert capfd.readouterr().out == ""
    last = _records(own_home)[-1]
    assert (last["kind"], last["data"]) == (
        "tool.finished",
        {"tool": "skills.invoke", "outcome": "cancelled", "code": "cancelled"},
    )
