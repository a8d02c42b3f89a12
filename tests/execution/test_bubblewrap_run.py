"""What a script gets, and what comes back of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError, ScriptUnsupportedError, UnsafePathError
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from prowess.execution.interpreters import InterpreterMount
from prowess.execution.request import ExecRequest

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution.result import ExecResult
    from tests.execution.bench import Bench

pytestmark = pytest.mark.anyio


async def test_a_script_returns_its_status_and_both_streams_apart(bench: Bench) -> None:
    result = await bench.sh("echo out; echo err >&2; exit 7")
    assert (result.exit_code, result.stdout, result.stderr) == (7, b"out\n", b"err\n")
    assert not result.timed_out
    assert not result.stdout_truncated
    assert not result.stderr_truncated


async def test_a_script_that_a_signal_ends_has_128_more(bench: Bench) -> None:
    assert (await bench.sh("kill -TERM $$")).exit_code == 128 + 15


async def test_arguments_reach_the_script_unchanged(bench: Bench) -> None:
    args = ("", "a b", "$HOME", "`id`", "--", "-rf", "*", "line\nbreak", "'\"\\", "ünï", "; exit 9")
    result = await bench.python("import sys; sys.stdout.write(repr(sys.argv[1:]))", *args)
    assert result.stdout.decode() == repr(list(args))


@pytest.mark.proves("runtime.run.env.clean")
async def test_a_script_sees_the_base_set_and_nothing_of_the_host(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_TEST_SECRET", "canary-value")
    source = "import os, sys\nsys.stdout.write(repr(sorted(set(os.environ) - {'LC_CTYPE'})))"
    result = await bench.python(source, env={"GREETING": "hi"}, workspace=True, session_id="s1")
    base = {"HOME", "LANG", "OUT", "PATH", "PWD", "PYTHONPATH", "SESSION_ID", "SKILL_DIR", "TMPDIR", "WORKSPACE"}
    assert result.stdout.decode() == repr(sorted(base | {"GREETING"}))
    values = await bench.sh('cat /proc/1/environ; echo "$GREETING $SESSION_ID $SKILL_DIR $OUT"', env={"GREETING": "hi"})
    assert values.stdout == b"hi  /skill /out\n"


async def test_without_a_workspace_the_directory_is_private_empty_and_unnamed(bench: Bench) -> None:
    result = await bench.sh('ls -A; echo "${WORKSPACE-unset}"; echo x > mine && cat mine')
    assert result.stdout == b"unset\nx\n"


async def test_the_home_is_scratch(bench: Bench) -> None:
    result = await bench.sh('cd && ls -A && echo x > file && cat "$HOME/file" && ls "$TMPDIR"')
    assert result.stdout == b"x\nhome\nwork\n"


@pytest.mark.proves("runtime.run.path-limits")
async def test_the_workspace_is_the_working_directory_and_read_only(bench: Bench) -> None:
    (bench.workspace / "data.txt").write_text("data")
    result = await bench.sh("pwd; cat data.txt; echo x > new", workspace=True)
    assert result.stdout == b"/workspace\ndata"
    assert result.exit_code != 0
    assert not (bench.workspace / "new").exists()


@pytest.mark.proves("runtime.run.path-limits")
async def test_with_write_the_workspace_can_be_changed_and_the_skill_cannot(bench: Bench) -> None:
    result = await bench.sh("echo x > new; echo y > $SKILL_DIR/new", workspace=True, write=True)
    assert (bench.workspace / "new").read_text() == "x\n"
    assert result.exit_code != 0
    assert not (bench.skill / "new").exists()


async def test_workdir_is_relative_to_the_workspace(bench: Bench) -> None:
    (bench.workspace / "a" / "b").mkdir(parents=True)
    assert (await bench.sh("pwd", workspace=True, workdir="a/./b")).stdout == b"/workspace/a/b\n"


@pytest.mark.parametrize("workdir", ["../x", "/etc", "a/../../b"])
async def test_a_workdir_that_leaves_the_workspace_is_refused(bench: Bench, workdir: str) -> None:
    with pytest.raises(UnsafePathError):
        await bench.sh("pwd", workspace=True, workdir=workdir)


async def test_a_workdir_through_a_link_is_refused(bench: Bench) -> None:
    (bench.workspace / "link").symlink_to("/etc")
    with pytest.raises(UnsafePathError):
        await bench.sh("pwd", workspace=True, workdir="link")


@pytest.mark.parametrize("workdir", ["absent", "file"])
async def test_a_workdir_that_is_no_directory_is_refused(bench: Bench, workdir: str) -> None:
    (bench.workspace / "file").write_text("")
    with pytest.raises(InvalidArgumentsError, match="not a directory in the workspace"):
        await bench.sh("pwd", workspace=True, workdir=workdir)


async def test_a_workdir_without_a_workspace_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidArgumentsError, match="no workspace"):
        await bench.sh("pwd", workdir="a")


async def test_a_workspace_that_would_hand_over_the_machine_is_refused(bench: Bench) -> None:
    request = bench.request("run.sh", "pwd")
    with pytest.raises(InvalidArgumentsError, match="root of the file system"):
        await bench.sandbox.run(
            ExecRequest(skill_dir=request.skill_dir, script=request.script, workspace="/", write=True)
        )


async def test_input_is_empty_unless_given(bench: Bench) -> None:
    assert (await bench.sh("cat; echo end")).stdout == b"end\n"
    assert (await bench.sh("cat", stdin=b"hello\0\n")).stdout == b"hello\0\n"


async def test_input_that_nobody_reads_is_no_fault(bench: Bench) -> None:
    assert (await bench.sh("exit 0", stdin=b"x" * 1_000_000)).exit_code == 0


async def test_a_large_input_arrives_whole(bench: Bench) -> None:
    assert (await bench.sh("wc -c", stdin=b"x" * 1_000_000)).stdout == b"1000000\n"


@pytest.mark.proves("runtime.run.interpreters", "client.safety.languages")
@pytest.mark.parametrize(
    ("script", "source"),
    [
        ("a.py", "print('py')"),
        ("a.sh", "echo py"),
        ("a.bash", "x=(p y); echo ${x[0]}${x[1]}"),
        ("a.js", "console.log('py')"),
        ("shell_in_python_clothes.py", "#!/bin/sh\necho py"),
        ("none", "#!/usr/bin/env python3\nprint('py')"),
    ],
)
async def test_each_language_runs(bench: Bench, script: str, source: str) -> None:
    if script == "a.js" and not os.access("/usr/bin/node", os.X_OK):
        pytest.skip("node is not installed at /usr/bin/node")
    result = await bench.sandbox.run(bench.request(script, source))
    assert (result.exit_code, result.stdout) == (0, b"py\n"), result.stderr


async def test_flags_of_a_shebang_that_are_listed_count(bench: Bench) -> None:
    result = await bench.sandbox.run(bench.request("a.sh", "#!/bin/sh -e\nfalse\necho still here\n"))
    assert (result.exit_code, result.stdout) == (1, b"")


@pytest.mark.proves("runtime.run.unsupported", "client.safety.languages")
async def test_a_script_without_an_interpreter_names_what_is_needed(bench: Bench) -> None:
    with pytest.raises(ScriptUnsupportedError, match=r"no interpreter is configured for '\.rb'.*python3 \(\.py\)"):
        await bench.sandbox.run(bench.request("a.rb", "puts 1"))
    with pytest.raises(ScriptUnsupportedError, match="'ruby'"):
        await bench.sandbox.run(bench.request("a", "#!/usr/bin/ruby\nputs 1"))


async def test_an_absent_script_is_named(bench: Bench) -> None:
    with pytest.raises(ScriptUnsupportedError, match="no such file"):
        await bench.sandbox.run(ExecRequest(skill_dir=str(bench.skill), script="scripts/none.sh"))


async def test_an_interpreter_outside_usr_is_mounted_by_configuration(bench: Bench, tmp_path: Path) -> None:
    program = tmp_path / "python" / "bin" / "python3"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "mine runs $2 at $0"\n')
    program.chmod(0o755)
    mount = InterpreterMount(prefix=str(tmp_path / "python"), program="bin/python3")
    sandbox = BubblewrapSandbox(interpreters={"python3": mount}, extensions={".pyx": "python3"})
    result = await sandbox.run(bench.request("a.pyx", ""))
    assert result.stdout == b"mine runs /skill/scripts/a.pyx at /interpreters/python3/bin/python3\n", result.stderr


async def test_an_interpreter_may_be_given_outright(bench: Bench) -> None:
    request = bench.request("words.txt", "one\ntwo\n")
    given = ExecRequest(skill_dir=request.skill_dir, script=request.script, interpreter=("/usr/bin/wc", "-l"))
    assert (await bench.sandbox.run(given)).stdout == b"2 /skill/scripts/words.txt\n"


async def test_refused_variables_are_all_named(bench: Bench) -> None:
    with pytest.raises(InvalidArgumentsError) as fault:
        await bench.sh("env", env={"LD_PRELOAD": "x", "PATH": "/x", "FINE": "y"})
    assert len(fault.value.problems) == 2


async def test_arguments_that_the_kernel_would_refuse_are_refused_before(bench: Bench) -> None:
    with pytest.raises(InvalidArgumentsError) as fault:
        await bench.sh("exit 0", "a\0b", "x" * 140_000)
    assert len(fault.value.problems) == 2
    with pytest.raises(InvalidArgumentsError, match="together"):
        await bench.sh("exit 0", *["x" * 120_000] * 13)


async def test_as_many_arguments_as_are_allowed_work(bench: Bench) -> None:
    assert (await bench.sh('echo "$#"', *["x" * 120_000] * 12)).stdout == b"12\n"


async def test_files_left_in_out_come_back(bench: Bench) -> None:
    result = await bench.sh(
        "mkdir $OUT/charts; echo '<svg/>' > $OUT/charts/a.svg; echo 1 > /out/b.csv; chmod 0 /out/b.csv"
    )
    assert [(artifact.name, artifact.size, artifact.media_type) for artifact in result.artifacts] in (
        [("b.csv", 2, "text/csv"), ("charts/a.svg", 7, "image/svg+xml")],
        [("charts/a.svg", 7, "image/svg+xml")],  # a user who is not root cannot read what nobody may read
    )
    assert (bench.out / "charts" / "a.svg").read_text() == "<svg/>\n"


async def test_links_and_pipes_in_out_are_left_behind_and_named(bench: Bench) -> None:
    source = "cd /out; ln -s /etc/passwd link; mkfifo pipe; echo x > file; ln file second; echo ok > fine"
    result = await bench.sh(source)
    assert [artifact.name for artifact in result.artifacts] == ["fine"]
    assert sorted(notice.message.split()[0] for notice in result.notices) == ["file", "link", "pipe", "second"]
    assert os.listdir(bench.out) == ["fine"]


async def test_an_out_directory_that_cannot_be_written_loses_artifacts_not_the_result(bench: Bench) -> None:
    bench.out.write_text("in the way")
    result = await bench.sh("echo x > /out/a; echo done")
    assert result.stdout == b"done\n"
    assert [notice.code for notice in result.notices] == ["artifacts_lost"]


async def test_runs_side_by_side_do_not_meet(bench: Bench) -> None:
    import anyio  # here, because only this test needs it

    results = {}

    async def one(number: int) -> None:
        source = f"echo {number} > /tmp/mine; sleep 0.05; cat /tmp/*mine; ls /out | wc -l"
        results[number] = await bench.sandbox.run(bench.request(f"{number}.sh", source))

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(one, number)
    assert {number: result.stdout for number, result in results.items()} == {n: f"{n}\n0\n".encode() for n in range(6)}


def _virtual_environment(place: Path, python: str) -> InterpreterMount:
    """Make what `python -m venv` makes, as far as it counts, with one package."""
    asks = [python, "-c", "import sys; print('python%d.%d' % sys.version_info[:2])"]
    packages = place / "lib" / subprocess.check_output(asks, text=True).strip() / "site-packages"
    packages.mkdir(parents=True)
    (packages / "of_the_environment.py").write_text("")
    (place / "bin").mkdir()
    (place / "bin" / "python3").symlink_to(python)
    (place / "pyvenv.cfg").write_text(f"home = {os.path.dirname(python)}\n")
    return InterpreterMount(prefix=str(place), program="bin/python3")


def _run_with(bench: Bench, mount: InterpreterMount, source: str) -> ExecResult:
    reader, writer = os.pipe()
    try:
        return BubblewrapSandbox(interpreters={"python3": mount}).run_blocking(bench.request("run.py", source), reader)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_virtual_environment_of_the_system_lends_its_packages(bench: Bench, tmp_path: Path) -> None:
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("no /usr/bin/python3")
    mount = _virtual_environment(tmp_path / "venv", "/usr/bin/python3")
    assert _run_with(bench, mount, "import of_the_environment").exit_code == 0


def test_a_virtual_environment_of_another_interpreter_is_told_what_to_mount(bench: Bench, tmp_path: Path) -> None:
    python = tmp_path / "elsewhere" / "bin" / "python3.13"
    python.parent.mkdir(parents=True)
    shutil.copy("/usr/bin/true", python)
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python3").symlink_to(python)
    wanted = f"prefix '{tmp_path}/elsewhere', program 'bin/python3.13'"
    with pytest.raises(ScriptUnsupportedError, match=wanted):
        _run_with(bench, InterpreterMount(prefix=str(tmp_path / "venv"), program="bin/python3"), "")
    lent = InterpreterMount(prefix=f"{tmp_path}/elsewhere", program="bin/python3.13")
    assert _run_with(bench, lent, "").exit_code == 0


async def test_a_package_that_is_missing_is_explained(bench: Bench) -> None:
    result = await bench.python("import requests_of_nobody.parts")
    [notice] = result.notices
    assert notice.code == "package_missing"
    assert "imports requests_of_nobody, which" in notice.message
    assert "mount an interpreter that has it" in notice.message
    caught = await bench.python("try:\n    import nothing_here\nexcept ModuleNotFoundError as e:\n    print(e)")
    assert caught.notices == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.sh", "set -e\r\ncd /tmp\r\n"),
        ("x.bash", "#!/bin/bash\r\nset -euo pipefail\r\necho no\r\n"),
        ("x", "#!/usr/bin/env bash\r\nif true; then\r\n  exit 0\r\nfi\r\n"),
        ("x.py", "import os\nos.write(2, b\"env: 'python3\\\\r': No such file\\n\")\nraise SystemExit(127)\n"),
    ],
)
async def test_a_script_that_fails_of_carriage_returns_is_explained(bench: Bench, name: str, text: str) -> None:
    result = await bench.sandbox.run(bench.request(name, text))
    assert result.exit_code != 0
    [notice] = result.notices
    assert notice.code == "script_crlf"
    assert "prowess check --fix" in notice.message


async def test_carriage_returns_that_do_no_harm_are_no_news(bench: Bench) -> None:
    fine = await bench.sandbox.run(bench.request("x.py", "#!/usr/bin/env python3\r\nprint('a')\r\n"))
    assert (fine.exit_code, fine.stdout, fine.notices) == (0, b"a\n", ())
    progress = await bench.sandbox.run(bench.request("y.sh", "printf '10%%\\r20%%\\r' >&2; exit 3\n"))
    assert (progress.exit_code, progress.notices) == (3, ())
