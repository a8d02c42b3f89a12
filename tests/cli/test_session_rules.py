"""`prowess session` under rules: policies, approvals, built-in tools, and judging without running."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from prowess.cli import exit_codes
from tests.fork_server import prowess

_CONFORMANCE = Path(__file__).parents[1] / "conformance"


def _write_skill(root: Path, name: str, field: object = None, denied: object = None) -> None:
    (root / name).mkdir(parents=True)
    # JSON is YAML, so any text and any list can be written like this.
    extra = "" if field is None else f"allowed-tools: {json.dumps(field)}\n"
    extra += "" if denied is None else f"disallowed-tools: {json.dumps(denied)}\n"
    (root / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name}.\n{extra}---\nBody.\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "skills"
    _write_skill(place, "free")
    _write_skill(place, "looker", "Read Bash(git:*)")
    return place


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "input.txt").write_text("data\n")
    return place


def _run(*arguments: str, cwd: Path, lines: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [prowess(), "session", *arguments]
    return subprocess.run(command, input=lines, capture_output=True, cwd=cwd, timeout=60, check=False)


def _host(root: Path, *arguments: str, cwd: Path, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = b"".join(json.dumps({"id": n, **request}).encode() + b"\n" for n, request in enumerate(requests))
    done = _run("--root", str(root), *arguments, cwd=cwd, lines=lines)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(len(requests)))
    return answers


def _call(tool: str, **arguments: object) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def _code(answer: dict[str, Any]) -> object:
    return (answer["error_detail"] or {}).get("code")


@pytest.mark.proves("runtime.restrict.bash-scope", "runtime.restrict.bash-multiword", "runtime.restrict.lifted")
@pytest.mark.parametrize(
    "suite", ["permission-cases", pytest.param("permission-cases-more", marks=pytest.mark.unmeasured)]
)
def test_a_host_in_any_language_gets_the_right_judgement_of_every_case(suite: str, tmp_path: Path) -> None:
    cases = json.loads((_CONFORMANCE / f"{suite}.json").read_text(encoding="utf-8"))["cases"]
    fields = list({json.dumps(_fields(case)): _fields(case) for case in cases}.values())
    requests: list[dict[str, Any]] = []
    for number, field in enumerate(fields):
        _write_skill(tmp_path / "skills", f"s{number}", *field)
    for case in cases:
        requests.append(_call("skills.load", names=[f"s{fields.index(_fields(case))}"]))
        requests.append(_call(case["tool"], **case["arguments"]))
        # What a case loads or unloads must not reach the next one.
        requests.append(_call("skills.unload", all=True))
    (tmp_path / "work").mkdir()

    answers = _host(tmp_path / "skills", "--decide", cwd=tmp_path / "work", requests=requests)

    assert all(list(answer)[:4] == ["id", "decision", "rule", "reason"] for answer in answers)
    for carried_out in (answers[::3], answers[2::3]):
        assert all(answer["decision"] == "allow" and "error_detail" not in answer for answer in carried_out)
    wrong = [
        (case, answer)
        for case, answer in zip(cases, answers[1::3], strict=True)
        if (answer["decision"] == "allow") is not case["allowed"]
    ]
    assert wrong == []


def _fields(case: dict[str, Any]) -> tuple[object, object]:
    return case["allowed_tools"], case.get("disallowed_tools")


def test_a_judgement_carries_out_loads_and_nothing_else(root: Path, workspace: Path) -> None:
    answers = _host(
        root,
        "--decide",
        cwd=workspace,
        requests=[
            _call("Bash", command="git status"),
            _call("skills_load", names=["looker"]),
            _call("Bash", command="git status; id"),
            _call("Bash", command="git status"),
            _call("skills.read", path="SKILL.md"),
            _call("skills.load", names=["nobody"]),
            {"method": "tools"},
            _call("skills.unload", all=True),
            _call("Bash", command="git status; id"),
            {"method": "close"},
            _call("Bash", command="git status"),
        ],
    )

    tools = answers.pop(6)
    closed = answers.pop(8)
    assert tools["success"]
    assert closed["result"] == {"closed": True}
    judged = [answer["decision"] for answer in answers]
    assert judged == ["allow", "allow", "deny", "allow", "allow", "allow", "allow", "allow", "deny"]
    assert answers[2]["rule"].startswith("allowed-tools:")
    assert answers[5]["error_detail"]["code"] == "skill_not_found"
    assert all("error_detail" not in answer for n, answer in enumerate(answers) if n != 5)
    assert answers[8]["rule"] == "session_not_found"


def test_with_a_policy_its_rules_are_judged_too(root: Path, workspace: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[rule]]\neffect = "allow"\ntool = "skills.*"\n'
        '[[rule]]\neffect = "deny"\ntool = "Bash"\nmatch = { command = "git push:*" }\nreason = "people publish"\n'
    )

    answers = _host(
        root,
        "--decide",
        "--policy",
        str(policy),
        cwd=workspace,
        requests=[
            _call("skills.load", names=["looker"]),
            _call("Bash", command="git push"),
            _call("Bash", command="git log"),
            _call("Write", file_path="x"),
        ],
    )

    assert [answer["decision"] for answer in answers] == ["allow", "deny", "ask", "deny"]
    assert (answers[1]["rule"], answers[1]["reason"]) == (f"{policy}:4", "people publish")


def test_built_in_tools_are_there_by_name_and_those_that_change_things_wait(root: Path, workspace: Path) -> None:
    requests = [
        _call("skills.load", names=["free"]),
        _call("Read", file_path="input.txt"),
        _call("Read", file_path=str(root / "free" / "SKILL.md")),
        _call("Write", file_path="new.txt", content="x"),
        _call("Grep", pattern="data"),
        {"method": "tools"},
    ]
    answers = _host(root, "--tools", "read, write", "--write", cwd=workspace, requests=requests)

    assert "data" in json.dumps(answers[1]["result"])
    assert "Body." in json.dumps(answers[2]["result"])  # what is active may be read
    assert _code(answers[3]) == "approval_required"
    assert answers[3]["error_detail"]["request"].startswith("ask-")
    assert _code(answers[4]) == "tool_not_found"
    names = {tool["name"] for tool in answers[5]["result"]["tools"]}
    assert {"Read", "Write"} <= names
    assert not names & {"Bash", "Edit", "Glob", "Grep"}
    assert not (workspace / "new.txt").exists()

    refused = _host(root, "--tools", "write", "--write", "--approve", "deny", cwd=workspace, requests=requests[3:4])
    assert _code(refused[0]) == "policy_denied"


def test_a_policy_of_the_user_holds_in_every_session(root: Path, workspace: Path, own_home: Path) -> None:
    place = own_home / ".prowess"
    place.mkdir(mode=0o700)
    (place / "policy.toml").write_text('default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.load"\n')

    answers = _host(root, cwd=workspace, requests=[_call("skills.load", names=["free"])])

    assert _code(answers[0]) == "policy_denied"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tools", "read,shell"], "no tool is called 'shell'; did you mean 'Read' or"),
        (["--policy", "none.toml"], "none.toml"),
    ],
)
def test_what_cannot_be_set_up_ends_before_the_first_request(
    arguments: list[str], said: str, root: Path, workspace: Path
) -> None:
    done = _run("--root", str(root), *arguments, cwd=workspace)

    assert done.returncode == exit_codes.USAGE
    assert said in done.stderr.decode()


def test_a_log_that_cannot_be_written_ends_a_session_whose_policy_wants_one(
    root: Path, workspace: Path, own_home: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "allow"\naudit = { required = true }\n')
    (own_home / ".prowess").write_text("no directory")

    done = _run("--root", str(root), "--policy", str(policy), cwd=workspace)

    assert done.returncode == exit_codes.UNAVAILABLE
    assert "without a record" in done.stderr.decode()
