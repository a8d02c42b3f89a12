"""What is worth a case beside the twenty behaviours, A to L, as found missing in other runtimes.

One test each; docs/build/sessions.md lists them all and says where ours is another on purpose.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.client import Client

from prowess.agent.create_skill import CreateSkillTool
from prowess.catalog import Catalog
from prowess.catalog.skill_uri import parse_skill_uri, skill_uri
from prowess.catalog.sources.mirror import keep, remote_skill
from prowess.cli.dispatch import run
from prowess.errors import RemoteSkillError
from prowess.execution import default_sandbox
from prowess.mcp_server.server import build_server, open_session
from prowess.runtime import Session
from prowess.tools import ToolCall, ToolExecutor, wire_name
from prowess.tools.executor import REPEATED
from prowess.tools.gates import NoApprover
from tests.runtime.making import failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
needs_sandbox = pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")


@pytest.mark.proves("runtime.read.anywhere-below-root")
async def test_a_every_file_of_a_skill_can_be_seen_and_read(tmp_path: Path) -> None:
    """A. No file is hidden by its extension, its name or how deep it lies."""
    files: dict[str, str | bytes] = {
        "assets/dot.png": b"\x89PNG\xff", "docs/page.html": "<p>\n", "examples/run.sh": "true\n", "LICENSE": "MIT\n",
        "references/a/b/c/d/e/f/deep.md": "deep\n", ".hidden/.conf": "x\n", "Makefile": "all:\n", "data.parquet": b"\0",
    }  # fmt: skip
    root = write_skill(tmp_path, "kit", files=files)
    session = Session(Catalog(tmp_path), body="result")

    content = result(await session.call("skills.load", {"names": ["kit"]}))["active_skills"][0]["content"]
    for path in files:
        assert f"<file>{path}</file>" in content, path
        read = result(await session.call("skills.read", {"path": path, "encoding": "binary"}))
        assert read["size"] == len((root / path).read_bytes()), path
    assert "deep\n" not in content


@pytest.mark.proves("runtime.run.not-advertised")
async def test_b_the_script_tool_is_offered_only_where_a_script_can_run(tmp_path: Path) -> None:
    """B. Not where scripts are switched off, and not where no skill has any, in each exposure."""
    write_skill(tmp_path / "with", "runner", files={"scripts/a.sh": "true\n"})
    write_skill(tmp_path / "without", "reader", files={"references/a.md": "a\n"})

    async def offered(root: Path, **options: Any) -> set[bool]:  # noqa: ANN401 -- the options of Session
        session = Session(Catalog(root), **options)
        await session.load([entry.name for entry in session.catalog.entries()])
        return {
            "skills.run_script" in [spec.name for spec in session.tools(exposure=exposure)]
            for exposure in ("tools", "skill")
        }

    assert await offered(tmp_path / "with") == {default_sandbox().probe().available}
    assert await offered(tmp_path / "with", scripts=False) == {False}
    assert await offered(tmp_path / "without") == {False}


@pytest.mark.proves(
    "runtime.tools.suggest-name", "runtime.tools.error-shape", "runtime.load.unknown", "client.degrade.fallback"
)
async def test_c_a_name_that_is_nearly_right_is_answered_with_the_right_one(tmp_path: Path) -> None:
    """C. Wrong case, a slip, another separator; and of a broken skill the reason instead of a guess."""
    write_skill(tmp_path, "csv-report")
    write_skill(tmp_path, "log-triage")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("---\nname: broken\n---\nNo description.\n")
    session = Session(Catalog(tmp_path))

    for wrong in ("CSV-Report", "csv-reprot", "csv_report", "csvreport"):
        for tool, arguments in (
            ("skills.load", {"names": [wrong]}),
            ("skills.unload", {"names": [wrong]}),
            ("skills.read", {"path": "a.md", "skill": wrong}),
            ("skills.run_script", {"path": "scripts/a.sh", "skill": wrong}),
        ):
            outcome = await session.call(tool, arguments)
            detail = failure(outcome)
            assert set(detail) == {"code", "message", "suggestions"}
            assert (detail["code"], detail["suggestions"]) == ("skill_not_found", ["csv-report"]), (tool, wrong)
            assert "'csv-report'" in detail["message"]
    broken = failure(await session.call("skills.load", {"names": ["broken"]}))
    assert broken["code"] == "skill_not_found"
    assert "description" in broken["message"]


@pytest.mark.proves("runtime.tools.loop-breaker")
async def test_d_the_same_failure_twice_says_so(tmp_path: Path) -> None:
    """D. A model that sends a failed call again is told not to; another call, or a success, begins anew."""
    write_skill(tmp_path, "one")
    session = Session(Catalog(tmp_path))

    first, second = [await session.call("skills.load", {"names": ["nobody"]}) for _ in range(2)]
    other = await session.call("skills.load", {"names": ["somebody"]})

    assert REPEATED not in str(first.error)
    assert REPEATED in str(second.error)
    assert REPEATED not in str(other.error)


@needs_sandbox
async def test_e_hooks_run_in_order_once_where_they_say_so_and_stop_only_their_event(tmp_path: Path) -> None:
    """E. What is parsed is run: in the order written, `once` once, and a failing hook blocks nothing but its event."""
    note = 'echo "$1" >>"$WORKSPACE/ran"\n'
    hooks = (
        "hooks:\n  pre:\n    - {command: scripts/note.sh first}\n    - {command: scripts/note.sh second, once: true}\n"
        "  PreToolUse:\n    - {command: scripts/refuse.sh, matcher: skills.read}\n"
    )
    files = {"scripts/note.sh": note, "scripts/refuse.sh": "echo no; exit 1\n", "a.md": "a\n"}
    write_skill(tmp_path / "skills", "hooked", extra=hooks, files=files)
    (tmp_path / "work").mkdir()
    session = Session(Catalog(tmp_path / "skills"), workspace=tmp_path / "work", write=True)

    for _ in range(2):
        await session.load(["hooked"])
        await session.unload(["hooked"])
    assert (tmp_path / "work" / "ran").read_text().split() == ["first", "second", "first"]
    await session.load(["hooked"])
    refused = failure(await session.call("skills.read", {"path": "a.md"}))
    assert refused["code"] == "hook_failed"
    assert result(await session.call("skills.run_script", {"path": "scripts/note.sh", "args": ["x"]}))["exit_code"] == 0


def test_f_a_name_is_never_a_path(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """F. Amended: nothing is uninstalled yet; no command takes `../..` for a skill, and none looks there."""
    write_skill(tmp_path / "skills", "good")
    (tmp_path / "SKILL.md").write_text("---\nname: above\ndescription: Above.\n---\nx\n")
    root = ["--root", str(tmp_path / "skills")]
    for name in ("../..", "..", "good/../../", str(tmp_path)):
        for words in (["load", name], ["read", name, "SKILL.md"], ["run", name, "scripts/a.sh"], ["why", name]):
            # A path is no name below --root: load, read and run refuse it as a wrong use, why finds no such skill.
            assert run([*words, *root]) in {1, 2}, words
            printed = capfd.readouterr()
            assert printed.out == ""
            assert "rror: " in printed.err, words
    assert (tmp_path / "skills" / "good" / "SKILL.md").exists()


async def test_f_an_agent_cannot_write_a_skill_outside(tmp_path: Path) -> None:
    """F. The one way in which skills are made refuses such a name, and such a file, before anybody is asked."""
    catalog = Catalog(tmp_path)
    tool = CreateSkillTool(tmp_path / "skills", catalog, NoApprover())
    door = ToolExecutor([tool])
    for name, path in (("../evil", "a.md"), ("..", "a.md"), ("fine", "../../evil.md"), ("fine", "/etc/evil")):
        given = {
            "name": name,
            "description": "D.",
            "instructions": "I.",
            "files": [{"path": path, "text": "x"}],
        }
        outcome = await door.call(ToolCall(id="1", name=tool.spec.name, arguments=given))
        assert failure(outcome)["code"] in {"skill_invalid", "unsafe_path", "invalid_arguments"}, (name, path)
    assert os.listdir(tmp_path) == []


def test_g_what_is_fetched_is_what_was_announced(tmp_path: Path) -> None:
    """G. Amended: the one way in which skills arrive so far, from another server, verifies size and digest first."""
    data = b"---\nname: pdf\ndescription: P.\n---\nRead it.\n"
    uri = "skill://pdf/SKILL.md"
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    entry = {
        "uri": uri,
        "frontmatter": {"name": "pdf", "description": "P."},
        "resources": [{"uri": uri, "digest": digest, "size": len(data)}],
    }
    skill = remote_skill("docs", entry)
    with pytest.raises(RemoteSkillError, match="differs from the entry"):
        keep(skill, {"SKILL.md": data.replace(b"Read", b"Send")})
    assert keep(skill, {"SKILL.md": data}).origin == "docs"
    del tmp_path


@needs_sandbox
async def test_h_a_client_without_resources_reaches_everything_by_tools(tmp_path: Path) -> None:
    """H. List, load, read, run and the artifact, with `tools/call` alone."""
    files = {"references/a.md": "Read me.\n", "scripts/leave.sh": 'echo left >"$OUT/note.txt"\n'}
    write_skill(tmp_path / "skills", "kit", files=files)
    session = open_session(Catalog(tmp_path / "skills"))
    async with Client(build_server(session), mode="legacy") as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content
            return answer.structured_content or {}

        assert [skill["name"] for skill in (await call("skills_list"))["skills"]] == ["kit"]
        assert "Body of kit." in (await call("skills_load", names=["kit"]))["active_skills"][0]["content"]
        assert (await call("skills_read", path="references/a.md"))["text"] == "Read me.\n"
        assert (await call("skills_run_script", path="scripts/leave.sh"))["artifacts"][0]["name"] == "note.txt"
        assert (await call("skills_read", artifact="note.txt"))["text"] == "left\n"
    await session.close()


@pytest.mark.parametrize(
    ("name", "path", "uri"),
    [
        ("größe", "SKILL.md", "skill://gr%C3%B6%C3%9Fe/SKILL.md"),
        ("kit", "a b/100%.md", "skill://kit/a%20b/100%25.md"),
        ("kit", "q?#&+.md", "skill://kit/q%3F%23%26%2B.md"),
        ("kit", "%2e%2e.md", "skill://kit/%252e%252e.md"),
    ],
)
def test_i_uris_of_skills_are_encoded_once(name: str, path: str, uri: str) -> None:
    """I. Every name and path comes back as it was; what decodes to another place is refused."""
    assert skill_uri(name, path) == uri
    assert parse_skill_uri(uri) == (name, path)
    for hostile in ("skill://kit/%2e%2e/x", "skill://kit/a%2Fb", "skill://kit/%00", "skill://kit/%zz", "skill://../x"):
        with pytest.raises(ValueError, match="skill"):
            parse_skill_uri(hostile)


async def test_j_tool_names_have_a_form_without_dots_and_a_way_back(tmp_path: Path) -> None:
    """J. Exported with underscores, accepted in three spellings, by a table and not by replacing characters."""
    write_skill(tmp_path, "one", files={"scripts/a.sh": "true\n"})
    session = Session(Catalog(tmp_path))
    await session.load(["one"])
    exported = [tool["name"] for tool in session.tools("mcp")]

    assert {"skills_load", "skills_unload", "skills_read"} <= set(exported)
    for spec in session.tools():
        assert wire_name(spec.name) in exported
    for name in ("skills.read", "skills_read", "skills-read"):
        assert (await session.call(name, {"path": "SKILL.md"})).success
    for name in ("skills.run_script", "skills_run_script", "skills-run_script", "skills-run-script"):
        assert failure(await session.call(name, {"path": "x"}))["code"] != "tool_not_found", name
    for name in ("skills.run.script", "skills_run.script", "Skills.read", "skills/read", "skillsread"):
        assert failure(await session.call(name, {"path": "x"}))["code"] == "tool_not_found", name


@pytest.mark.proves("runtime.unload.prompt")
@pytest.mark.parametrize("how", ["unload", "replace", "all"])
async def test_k_what_was_unloaded_is_gone_from_the_next_prompt(tmp_path: Path, how: str) -> None:
    """K. Nothing of the body of an unloaded skill is left, in either place where bodies stand."""
    write_skill(tmp_path, "gone", body="Unmistakable words.\n")
    write_skill(tmp_path, "stays", body="Other words.\n")
    session = Session(Catalog(tmp_path))
    await session.load(["stays", "gone"])
    assert "Unmistakable words." in session.instructions()
    if how == "replace":
        receipt = await session.load(["stays"])
        assert receipt.unloaded_skills == ("gone",)
    else:
        receipt = await session.unload(["gone"] if how == "unload" else [], all=how == "all")

    assert "gone" not in names(receipt)
    assert "Unmistakable words." not in session.instructions()
    assert "Unmistakable words." not in session.restore_after_compaction()
    assert ("Other words." in session.instructions()) is (how != "all")


async def test_l_an_edited_description_is_in_the_next_list(tmp_path: Path) -> None:
    """L. Without a restart, without a refresh by hand, and for the other processes' tools as well."""
    write_skill(tmp_path, "one", description="Before.")
    session = Session(Catalog(tmp_path))
    assert "Before." in session.instructions()

    write_skill(tmp_path, "one", description="After, and longer.")

    assert "After, and longer." in session.instructions()
    write_skill(tmp_path, "two", description="New.")
    assert "<name>two</name>" in session.instructions()
    assert "Before." not in json.dumps(session.tools("mcp", exposure="skill"))
