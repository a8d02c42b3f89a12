from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from prowess.catalog import Catalog
from prowess.execution import SandboxReport
from prowess.runtime import Session
from prowess.runtime.tools.run_script import SPEC
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution import ExecRequest, ExecResult

pytestmark = pytest.mark.anyio

_ECHO = """\
import json, os, sys
print(json.dumps({
    "args": sys.argv[1:],
    "env": {name: os.environ.get(name) for name in ("KEY", "HOST_SECRET", "SKILL_DIR", "SESSION_ID", "WORKSPACE")},
    "cwd": os.getcwd(),
    "stdin": sys.stdin.read(),
}))
"""

_MAKE = """\
import os
with open(os.environ["OUT"] + "/chart.svg", "w") as chart:
    chart.write("<svg/>")
with open(os.environ["OUT"] + "/b.bin", "wb") as data:
    data.write(bytes([0, 255]))
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "tools"
    write_skill(
        root,
        "kit",
        files={
            "scripts/echo.py": _ECHO,
            "scripts/fail.sh": "echo out; echo err >&2; exit 3\n",
            "scripts/slow.sh": "echo begun; sleep 30\n",
            "scripts/make.py": _MAKE,
            "scripts/lib.py": "WORD = 'hashed'\n",
            "scripts/use.py": "import lib\nprint(lib.WORD)\n",
            "scripts/data.xyz": "?",
            "scripts/bytes.py": "import sys\nsys.stdout.buffer.write(b'a\\xffb')\n",
            "bin/tool.py": "print('no')\n",
        },
    )
    write_skill(root, "other", files={"scripts/who.sh": "echo other\n"})
    return root


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "work"
    (place / "sub").mkdir(parents=True)
    (place / "input.txt").write_text("data\n")
    return place


@pytest.fixture
async def kit(tools: Path, workspace: Path) -> Session:
    session = Session(Catalog(tools), workspace=workspace)
    await session.load(["kit"])
    return session


async def _run(session: Session, path: str, **arguments: object) -> dict[str, Any]:
    found = result(await session.call("skills.run_script", {"path": path, **arguments}))
    assert SPEC.output_schema is not None
    jsonschema.validate(found, dict(SPEC.output_schema))
    return found


async def _refused(session: Session, path: str, **arguments: object) -> dict[str, Any]:
    return failure(await session.call("skills.run_script", {"path": path, **arguments}))


async def _echo(session: Session, **arguments: object) -> dict[str, Any]:

    found: dict[str, Any] = json.loads((await _run(session, "scripts/echo.py", **arguments))["stdout"])
    return found


@pytest.mark.proves("runtime.run.result", "runtime.run.nonzero")
async def test_a_status_other_than_zero_is_a_successful_call_with_separate_streams(kit: Session) -> None:
    found = await _run(kit, "scripts/fail.sh")

    assert (found["path"], found["exit_code"]) == ("scripts/fail.sh", 3)
    assert (found["stdout"], found["stderr"]) == ("out\n", "err\n")
    assert list(found) == [
        "path", "exit_code", "stdout", "stderr", "timed_out", "duration_ms", "stdout_truncated", "stderr_truncated",
        "stdout_bytes", "stderr_bytes", "artifacts", "guarantees",
    ]  # fmt: skip
    assert found["guarantees"]["network"] == "none"


@pytest.mark.proves("runtime.run.args")
async def test_arguments_reach_the_script_exactly_and_in_order(kit: Session) -> None:
    args = ["--in", "a b", "", "$HOME", "`id`", "; rm -rf x", "*", "'\"\\", "ü\n\t", "--", "-"]

    assert (await _echo(kit, args=args))["args"] == args


@pytest.mark.proves("runtime.run.env")
async def test_variables_are_set_for_this_run_alone_and_nothing_else_leaks_in(
    kit: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_SECRET", "token")

    env = (await _echo(kit, env={"KEY": "VALUE ü"}))["env"]

    assert (env["KEY"], env["HOST_SECRET"], env["SKILL_DIR"]) == ("VALUE ü", None, "/skill")
    assert env["SESSION_ID"] == kit.session_id
    assert (await _echo(kit))["env"]["KEY"] is None
    assert os.environ.get("KEY") is None


@pytest.mark.proves("runtime.run.env")
@pytest.mark.parametrize("name", ["LD_PRELOAD", "PYTHONPATH", "BASH_ENV", "A=B", ""])
async def test_variables_that_would_load_other_code_are_refused(kit: Session, name: str) -> None:
    assert (await _refused(kit, "scripts/echo.py", env={name: "x"}))["code"] == "invalid_arguments"


@pytest.mark.proves("runtime.run.workdir")
async def test_the_working_directory_is_the_workspace_or_below_it_and_never_outside(
    kit: Session, workspace: Path
) -> None:
    assert (await _echo(kit))["cwd"] == "/workspace"
    assert (await _echo(kit, workdir="."))["cwd"] == "/workspace"
    assert (await _echo(kit, workdir="./sub"))["cwd"] == "/workspace/sub"
    (workspace / "out").symlink_to("/etc")

    for workdir in ("..", "/etc", "sub/../..", "C:\\x"):
        refusal = await _refused(kit, "scripts/echo.py", workdir=workdir)
        assert refusal["code"] == "unsafe_path", workdir
        assert "the skill's directory" not in refusal["message"], workdir
    for workdir in ("out", "none", "input.txt"):
        assert (await _refused(kit, "scripts/echo.py", workdir=workdir))["code"] in {
            "unsafe_path", "invalid_arguments", "resource_not_found"
        }, workdir  # fmt: skip


async def test_without_a_workspace_the_script_has_an_empty_place_of_its_own(tools: Path) -> None:
    session = Session(Catalog(tools))
    await session.load(["kit"])

    found = await _echo(session)

    assert found["env"]["WORKSPACE"] is None
    assert found["cwd"] not in {"/workspace", "/skill"}


@pytest.mark.proves("runtime.run.stdin-timeout")
async def test_standard_input_and_a_time_limit_are_accepted(kit: Session) -> None:
    assert (await _echo(kit, stdin="line\nü"))["stdin"] == "line\nü"
    assert (await _echo(kit))["stdin"] == ""

    begun = time.monotonic()
    found = await _run(kit, "scripts/slow.sh", timeout=0.5)
    assert (found["timed_out"], found["stdout"]) == (True, "begun\n")
    assert time.monotonic() - begun < 10

    for timeout in (0, -1, 601, "5"):
        assert (await _refused(kit, "scripts/slow.sh", timeout=timeout))["code"] == "invalid_arguments"


@pytest.mark.proves("runtime.run.skill-field")
async def test_a_run_uses_the_skill_it_names_or_the_one_loaded_last(kit: Session) -> None:
    await kit.load(["other"], "add")

    assert (await _run(kit, "scripts/who.sh"))["stdout"] == "other\n"
    assert (await _run(kit, "scripts/fail.sh", skill="kit"))["exit_code"] == 3
    assert (await _refused(kit, "scripts/fail.sh"))["code"] == "resource_not_found"


@pytest.mark.proves("runtime.session.authorises")
async def test_only_scripts_of_active_skills_can_be_run(tools: Path) -> None:
    session = Session(Catalog(tools))
    assert (await _refused(session, "scripts/who.sh"))["code"] == "skill_not_active"

    await session.load(["kit"])
    detail = await _refused(session, "scripts/who.sh", skill="other")
    assert detail["code"] == "skill_not_active"
    assert "['other']" in detail["message"]


@pytest.mark.proves("runtime.run.path")
async def test_a_script_path_obeys_the_rules_of_a_read(kit: Session, tools: Path) -> None:
    (tools / "kit" / "scripts" / "link.sh").symlink_to("fail.sh")
    os.mkfifo(tools / "kit" / "scripts" / "pipe.sh")
    await kit.load(["kit"])

    assert (await _run(kit, "./scripts//fail.sh"))["path"] == "scripts/fail.sh"
    unsafe = (
        "scripts/../../other/scripts/who.sh",
        "/bin/sh",
        "scripts\\fail.sh",
        "",
        "scripts/link.sh",
        "scripts/pipe.sh",
    )
    for path in unsafe:
        assert (await _refused(kit, path))["code"] == "unsafe_path", path
    assert (await _refused(kit, "scripts/%2e%2e/fail.sh"))["code"] == "resource_not_found"


@pytest.mark.proves("runtime.run.scripts-dir")
async def test_only_regular_files_below_scripts_can_be_run(kit: Session) -> None:
    for path in ("bin/tool.py", "SKILL.md", "."):
        assert (await _refused(kit, path))["code"] == "script_unsupported", path
    assert (await _refused(kit, "scripts"))["code"] == "not_a_file"
    assert (await _refused(kit, "scripts/none.py"))["code"] == "resource_not_found"
    detail = await _refused(kit, "scripts/data.xyz")
    assert detail["code"] == "script_unsupported"
    assert ".xyz" in detail["message"]


async def test_output_that_is_not_text_is_shown_with_replacements(kit: Session) -> None:
    found = await _run(kit, "scripts/bytes.py")

    assert (found["stdout"], found["stdout_bytes"]) == ("a\ufffdb", 3)


async def test_what_runs_is_what_was_loaded(kit: Session, tools: Path) -> None:
    assert (await _run(kit, "scripts/use.py"))["stdout"] == "hashed\n"
    (tools / "kit" / "scripts" / "use.py").write_text("print('edited')\n")

    assert (await _refused(kit, "scripts/use.py"))["code"] == "digest_changed"
    await kit.load(["kit"])
    assert (await _run(kit, "scripts/use.py"))["stdout"] == "edited\n"


async def test_an_edited_library_of_a_script_never_runs(kit: Session, tools: Path) -> None:
    (tools / "kit" / "scripts" / "lib.py").write_text("WORD = 'edited'\n")

    detail = await _refused(kit, "scripts/use.py")

    assert detail["code"] == "digest_changed"
    assert "lib.py" in detail["message"]


async def test_a_live_skill_runs_its_authors_edit_with_a_notice(tools: Path) -> None:
    session = Session(Catalog(tools, live=True))
    await session.load(["kit"])
    (tools / "kit" / "scripts" / "use.py").write_text("print('edited')\n")

    found = await _run(session, "scripts/use.py")

    assert found["stdout"] == "edited\n"
    assert [notice["code"] for notice in found["notices"]] == ["skill_reloaded"]


async def test_what_a_script_leaves_comes_back_and_can_be_read_until_the_session_ends(
    tools: Path, tmp_path: Path
) -> None:
    place = tmp_path / "artifacts"
    session = Session(Catalog(tools), artifacts_dir=place)
    await session.load(["kit"])

    found = await _run(session, "scripts/make.py")
    svg = next(artifact for artifact in found["artifacts"] if artifact["name"] == "chart.svg")
    assert list(svg) == ["name", "size", "digest", "media_type", "path"]
    assert (svg["size"], svg["media_type"]) == (6, "image/svg+xml")
    assert svg["path"].startswith(str(place / session.session_id))

    read = result(await session.call("skills.read", {"artifact": "chart.svg"}))
    assert (read["text"], read["digest"], read["skill"]) == ("<svg/>", svg["digest"], None)
    again = result(await session.call("skills.read", {"artifact": read["path"]}))
    assert again == read
    binary = result(await session.call("skills.read", {"artifact": "b.bin", "encoding": "binary"}))
    assert binary["data_base64"] == "AP8="
    assert failure(await session.call("skills.read", {"artifact": "b.bin"}))["code"] == "not_text"
    large = tools / "kit" / "scripts" / "large.py"
    large.write_text("open('/out/large.bin', 'wb').write(bytes(20 << 20))\n")
    await session.load(["kit"])
    [left] = (await _run(session, "scripts/large.py"))["artifacts"]
    part = result(await session.call("skills.read", {"artifact": "large.bin", "encoding": "binary", "limit": 3}))
    assert (part["data_base64"], left["size"]) == ("AAAA", 20 << 20)
    missing = failure(await session.call("skills.read", {"artifact": "chart.svgg"}))
    assert missing["code"] == "resource_not_found"
    assert missing["suggestions"] == ["chart.svg"]
    assert "artifact 'chart.svgg'" in missing["message"]
    assert failure(await session.call("skills.read", {"artifact": "../x"}))["code"] == "unsafe_path"

    await session.close()
    assert not (place / session.session_id).exists()


async def test_without_locations_artifacts_have_no_path(tools: Path) -> None:
    session = Session(Catalog(tools), expose_location=False)
    await session.load(["kit"])

    assert {artifact["path"] for artifact in (await _run(session, "scripts/make.py"))["artifacts"]} == {None}


class _NoSandbox:
    """A machine without any; it must never be asked to run."""

    async def run(self, request: ExecRequest) -> ExecResult:
        raise AssertionError(request)

    def probe(self) -> SandboxReport:
        return SandboxReport(available=False, backend="none", tier=0, version=None, program=None, hint="install one")


async def test_the_script_tool_is_offered_only_where_something_can_be_run(tools: Path, tmp_path: Path) -> None:
    def offered(session: Session) -> bool:
        return "skills.run_script" in [spec.name for spec in session.tools()]

    assert offered(Session(Catalog(tools)))
    assert not offered(Session(Catalog(tools), scripts=False))
    assert not offered(Session(Catalog(tools), sandbox=_NoSandbox()))
    write_skill(tmp_path / "plain", "words")
    catalog = Catalog(tmp_path / "plain")
    session = Session(catalog)
    assert not offered(session)
    write_skill(tmp_path / "plain", "more", files={"scripts/a.sh": "true\n"})
    await session.refresh()
    assert offered(session)


async def test_with_scripts_switched_off_a_run_is_unsupported(tools: Path) -> None:
    session = Session(Catalog(tools), scripts=False)
    await session.load(["kit"])

    detail = await _refused(session, "scripts/fail.sh")

    assert detail["code"] == "script_unsupported"
    assert "switched off" in detail["message"]
