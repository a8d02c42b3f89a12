"""Behaviours 4, 5, 11 to 16 and 20 of the twenty that other runtimes get wrong: rules, activation, scripts, races.

One test each; docs/build/sessions.md lists them all and says where ours is another on purpose.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.policy.decision import Allow
from prowess.policy.restriction import Restriction, decide
from prowess.runtime import Session
from prowess.runtime.activation.substitution import Values, substituted
from prowess.store import MemorySessionStore
from prowess.tools.functions.function_tool import FunctionTool
from tests.runtime.making import failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
needs_sandbox = pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")


async def _run(session: Session, path: str, **arguments: object) -> dict[str, Any]:
    return result(await session.call("skills.run_script", {"path": path, **arguments}))


async def _code(session: Session, tool: str, **arguments: object) -> str:
    return str(failure(await session.call(tool, arguments))["code"])


def test_04_a_prefix_of_a_command_permits_that_command_alone() -> None:
    """4. `Bash(git:*)` and prefixes of several words, held against a real reading of the command line."""
    one, two = Restriction.of_field("s", "Bash(git:*)"), Restriction.of_field("s", "Bash(git status:*)")

    def permits(restriction: Restriction, command: str) -> bool:
        return isinstance(decide("Bash", {"command": command}, [restriction], "/nowhere"), Allow)

    assert all(permits(one, command) for command in ("git status", "git", "git log -3"))
    refused = ("git status & rm x", "git;id", "gitx", "git $(id)", "git `id`", "git\nid", "git | sh", "env git")
    assert not any(permits(one, command) for command in refused)
    assert all(permits(two, command) for command in ("git status", "git status -s"))
    assert not any(permits(two, command) for command in ("git push", "git", "git statusx", "git -C x status"))


@pytest.mark.proves("governance.beyond.multi-skill")
async def test_05_no_restriction_locks_the_skill_tools_out_and_no_skill_widens_another(tmp_path: Path) -> None:
    """5. Amended: restricting is our default, and receipts say so; pre-approval is what a host opts in to."""
    write_skill(tmp_path, "narrow", extra="allowed-tools: lookup\n")
    write_skill(tmp_path, "wide", extra="allowed-tools: lookup publish\n")
    write_skill(tmp_path, "closed", extra="allowed-tools: ''\n")

    def lookup() -> str:
        """Look."""
        return ""

    def publish() -> str:
        """Publish."""
        return ""

    session = Session(Catalog(tmp_path), extra_tools=(FunctionTool(lookup), FunctionTool(publish)))
    receipt = result(await session.call("skills.load", {"names": ["narrow", "wide"]}))
    assert [entry["allowed_tools_mode"] for entry in receipt["active_skills"]] == ["restrict", "restrict"]
    assert (await session.call("lookup", {})).success
    assert await _code(session, "publish") == "tool_not_allowed"
    nested = await session.call("skill", {"skill": "wide"})
    assert nested.success
    assert await _code(session, "publish") == "tool_not_allowed"
    await session.load(["closed"], "add")
    assert await _code(session, "lookup") == "tool_not_allowed"
    assert (await session.call("skills.read", {"path": "SKILL.md"})).success
    assert names(result(await session.call("skills.unload", {"names": ["closed", "narrow"]}))) == ["wide"]
    assert (await session.call("publish", {})).success


def test_11_values_are_never_looked_at_again() -> None:
    """11. One pass: what a value holds stays, and so do shell variables, escapes and the brace behind a placeholder."""
    values = Values(args="$1 ${SKILL_DIR} {{b}} x", skill_dir="/skill", session_id="s")

    assert substituted("$ARGUMENTS", values).text == "$1 ${SKILL_DIR} {{b}} x"
    assert substituted("$ARGUMENTS}", values).text.endswith(" x}")
    for text in ("echo $USER \\$HOME ${PATH}", "awk '{print $NF}'", "\\$ and $$"):
        assert substituted(f"$0 {text}", values).text == f"$1 {text}"
        assert substituted(text, Values(args=None, skill_dir="/skill", session_id="s")).text == text


@needs_sandbox
async def test_12_commands_in_a_body_are_off_run_without_a_shell_and_never_in_code(tmp_path: Path) -> None:
    """12. Off by default; where allowed: no shell, not in code, the same text at two places twice."""
    body = "A !`echo one '$HOME; id'` B !`echo two` C !`echo two` D `!` E\n\n```\n!`echo fenced`\n```\n"
    write_skill(tmp_path, "dynamic", body=body)
    off = Session(Catalog(tmp_path))
    await off.load(["dynamic"])
    assert "!`echo two`" in off.instructions()
    on = Session(Catalog(tmp_path), commands=True)
    await on.load(["dynamic"])
    text = on.instructions()
    assert "A one $HOME; id B two C two D" in text.replace("\n", " ").replace("  ", " ")
    assert "!`echo fenced`" in text
    assert "uid=" not in text


@pytest.mark.proves("runtime.read.requires-active", "runtime.run.requires-active")
async def test_13_reading_and_running_need_a_load_and_the_refusal_names_it(tmp_path: Path) -> None:
    """13. Without an active skill, and for one that is not active: `skill_not_active`, with the call to make."""
    for name in ("one", "two"):
        write_skill(tmp_path, name, files={"a.md": "a\n", "scripts/a.sh": "true\n"})
    session = Session(Catalog(tmp_path))
    for active in (False, True):
        for tool, path in (("skills.read", "a.md"), ("skills.run_script", "scripts/a.sh")):
            given = {"path": path, "skill": "two"} if active else {"path": path}
            detail = failure(await session.call(tool, given))
            assert detail["code"] == "skill_not_active", tool
            assert "skills.load" in detail["message"], tool
            if active:
                assert "['two']" in detail["message"]
        await session.load(["one"])


@needs_sandbox
@pytest.mark.proves("runtime.read.truncation", "runtime.run.result.extended")
async def test_14_what_was_cut_says_so(tmp_path: Path) -> None:
    """14. Flags, byte totals and the offset to go on at, for a read and for both streams of a run."""
    flood = "import sys\nsys.stdout.write('o' * 1_200_000)\nsys.stderr.write('e' * 5)\n"
    write_skill(tmp_path, "long", files={"a.md": "x" * 200_000, "scripts/flood.py": flood})
    session = Session(Catalog(tmp_path))
    await session.load(["long"])

    read = result(await session.call("skills.read", {"path": "a.md"}))
    assert (read["truncated"], read["size"], read["next_offset"], len(read["text"])) == (True, 200_000, 65_536, 65_536)
    rest = result(await session.call("skills.read", {"path": "a.md", "offset": 190_000}))
    assert (rest["truncated"], rest["next_offset"], len(rest["text"])) == (False, None, 10_000)
    run = await _run(session, "scripts/flood.py")
    assert (run["stdout_truncated"], run["stdout_bytes"], len(run["stdout"])) == (True, 1_200_000, 1_000_000)
    assert (run["stderr_truncated"], run["stderr_bytes"], run["stderr"]) == (False, 5, "eeeee")
    assert (run["timed_out"], run["guarantees"]["network"]) == (False, "none")
    assert run["duration_ms"] >= 0


@needs_sandbox
async def test_15_the_time_limit_takes_the_whole_tree_and_keeps_the_output(tmp_path: Path) -> None:
    """15. A grandchild that holds the pipe neither survives nor delays the answer."""
    fork = "import os, time\nprint('begun', flush=True)\nif os.fork() == 0:\n    os.setsid()\ntime.sleep(60)\n"
    write_skill(tmp_path, "slow", files={"scripts/fork.py": fork})
    session = Session(Catalog(tmp_path))
    await session.load(["slow"])

    begun = time.monotonic()
    run = await _run(session, "scripts/fork.py", timeout=0.5)

    assert (run["timed_out"], run["stdout"]) == (True, "begun\n")
    assert time.monotonic() - begun < 10


@needs_sandbox
async def test_16_scripts_see_nothing_of_the_hosts_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """16. Only a small base set, unless a policy lists a variable by name."""
    monkeypatch.setenv("API_TOKEN", "t0p-s3cret")
    monkeypatch.setenv("PYTHONPATH", "/of/the/host")
    write_skill(tmp_path, "env", files={"scripts/env.py": "import json, os\nprint(json.dumps(dict(os.environ)))\n"})
    session = Session(Catalog(tmp_path))
    await session.load(["env"])

    seen = json.loads((await _run(session, "scripts/env.py"))["stdout"])

    assert "t0p-s3cret" not in seen.values()
    assert seen.pop("PYTHONPATH") == "/skill"  # its own, so that it imports the packages of its skill
    assert seen.keys() <= {"PATH", "HOME", "LANG", "TMPDIR", "SKILL_DIR", "SESSION_ID", "OUT", "PWD", "LC_CTYPE"}


async def test_20_parallel_calls_behave_as_if_one_came_after_the_other(tmp_path: Path) -> None:
    """20. The cap is never exceeded, a batch is whole or absent, and every load and unload has its receipt."""
    for at in range(8):
        write_skill(tmp_path, f"s{at}")
    catalog, store = Catalog(tmp_path), MemorySessionStore()
    sessions = [Session(catalog, store=store, session_id="x", cap=4) for _ in range(2)]
    seen: list[list[str]] = []
    codes: set[str] = set()

    async def work(at: int) -> None:
        session, pair = sessions[at % 2], [f"s{at % 4 * 2}", f"s{at % 4 * 2 + 1}"]
        for tool, arguments in (
            ("skills.load", {"names": pair, "mode": "add"}),
            ("skills.unload", {"names": pair}),
            ("skills.load", {"names": pair, "mode": "add"}),
        ):
            outcome = await session.call(tool, arguments)
            if outcome.success:
                seen.append(names(outcome.result or {}))
            else:
                codes.add(str(failure(outcome)["code"]))

    async with anyio.create_task_group() as group:
        for at in range(16):
            group.start_soon(work, at)

    assert codes <= {"limit_exceeded"}
    assert seen
    for active in seen:
        assert len(active) <= 4
        assert all((f"s{at * 2}" in active) == (f"s{at * 2 + 1}" in active) for at in range(4))
