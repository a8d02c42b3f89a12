"""What a session's methods return: values with attributes, and the JSON of the tools under the same names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from prowess import Catalog, Session, SyncSession
from prowess.errors import InvalidArgumentsError, SkillNotActiveError
from prowess.runtime import (
    AgentType,
    ForkOutcome,
    ForkRequest,
    InvokeResult,
    LoadedSkill,
    LoadResult,
    Notice,
    ReadResult,
    RunArtifact,
    RunResult,
)
from prowess.runtime.activation import load_result
from prowess.runtime.disclosure import skill_tool
from prowess.runtime.tools import read, run_script
from tests.runtime.making import result, write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from msgspec import Struct

pytestmark = pytest.mark.anyio

GUIDE = "# One\n\nFirst.\n\n# Two\n\nSecond.\n"
SCRIPT = '#!/bin/sh\necho "$@"\necho left > $OUT/left.txt\n'


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {"guide.md": GUIDE, "dot.bin": b"\x00\xff", "scripts/show.sh": SCRIPT}
    files["scripts/none.xyz"] = "?"
    write_skill(tmp_path, "alpha", extra="allowed-tools: Read Bash(git:*)\nmodel: fast\n", files=files)
    write_skill(tmp_path, "beta", extra="allowed-tools: []\n")
    write_skill(tmp_path, "sub", extra="context: fork\n")
    return tmp_path


async def test_a_load_has_attributes(skills: Path) -> None:
    session = Session(Catalog(skills))

    loaded = await session.load("alpha")

    (alpha,) = loaded.active_skills
    assert (alpha.name, alpha.root_dir, alpha.allowed_tools_mode) == ("alpha", str(skills / "alpha"), "restrict")
    assert alpha.location == f"{alpha.root_dir}/SKILL.md"
    assert str(alpha.digest).startswith("sha256:")
    assert alpha.properties["description"] == "Does alpha."
    assert (loaded.unloaded_skills, loaded.notices) == ((), ())
    assert (await session.load(["beta", "alpha"])).notices[0].code == "already_active"
    assert (await session.load("beta")).unloaded_skills == ("alpha",)
    assert (await session.unload("beta")).unloaded_skills == ("beta",)
    assert (await session.unload(["alpha"])).active_skills == ()


@pytest.mark.parametrize("body", ["instructions", "result"])
async def test_a_load_has_content_if_bodies_are_in_results(skills: Path, body: str) -> None:
    session = Session(Catalog(skills), body=body)  # type: ignore[arg-type]  # a text of the parameters

    first, again = [(await session.load("alpha")).active_skills[0] for _ in range(2)]

    if body == "result":
        assert "Body of alpha." in str(first.content)
        assert again.content is None
        assert again.as_dict()["content"] is None
    else:
        assert first.content is msgspec.UNSET
        assert "content" not in first.as_dict()


async def test_a_read_has_attributes(skills: Path) -> None:
    session = Session(Catalog(skills))
    await session.load("alpha")

    part = await session.read("guide.md", limit=7)
    assert (part.skill, part.path, part.encoding, part.media_type) == ("alpha", "guide.md", "text", "text/markdown")
    assert (part.text, part.offset, part.size, part.truncated, part.next_offset) == ("# One\n\n", 0, 30, True, 7)
    rest = await session.read("guide.md", offset=part.next_offset)
    assert part.text + rest.text == GUIDE
    assert (rest.truncated, rest.next_offset, rest.sections) == (False, None, ())
    section = await session.read("guide.md", section="two")
    assert section.text == "# Two\n\nSecond.\n"
    assert [(one.slug, one.title, one.level) for one in section.sections][-1] == ("two", "Two", 1)
    assert (await session.read("dot.bin", encoding="binary")).data == b"\x00\xff"
    script = await session.read("scripts/show.sh")
    assert (script.encoding, script.text, script.interpreter) == (None, "", "sh")
    assert "skills.run_script" in script.usage
    assert (await session.read("scripts/none.xyz")).interpreter is None


async def test_a_run_has_attributes(skills: Path) -> None:
    session = Session(Catalog(skills))
    await session.load("alpha")

    done = await session.run_script("scripts/show.sh", "a b", skills / "x", timeout=20)

    assert (done.exit_code, done.stdout, done.timed_out) == (0, f"a b {skills / 'x'}\n", False)
    assert [(one.name, one.size) for one in done.artifacts] == [("left.txt", 5)]
    assert done.guarantees["network"] == "none"
    left = await session.read(artifact="left.txt")
    assert (left.skill, left.text) == (None, "left\n")


@pytest.mark.parametrize("wrong", [["a"], 3, None, b"a"])
async def test_what_is_no_argument_of_a_script_is_told_and_nothing_runs(skills: Path, wrong: object) -> None:
    session = Session(Catalog(skills))
    await session.load("alpha")

    with pytest.raises(InvalidArgumentsError) as caught:
        await session.run_script("scripts/show.sh", wrong)  # type: ignore[arg-type]  # the point of the test

    assert type(wrong).__name__ in str(caught.value)


async def test_an_invocation_has_attributes(skills: Path) -> None:
    class Runner:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            return ForkOutcome(output=f"did {request.input}", turns=1)

    session = Session(Catalog(skills), fork_runner=Runner(), agent_types=[AgentType(name="a")])

    started = await session.invoke("/alpha now")
    assert (started.skill_name, started.args, started.model) == ("alpha", "now", "fast")
    assert (started.allowed_tools, started.allowed_tools_mode) == (("Read", "Bash(git:*)"), "restrict")
    assert "Body of alpha." in str(started.content)
    assert started.base_path == str(skills / "alpha")
    forked = await session.invoke("sub", "it")
    assert (forked.output, forked.turns, forked.content) == ("did it", 1, None)
    assert list(forked.as_dict()) == ["skill_name", "output", "turns", "child_session_id", "message"]


STREAMS = "stdout_truncated stderr_truncated stdout_bytes stderr_bytes"
CALLS: Mapping[str, tuple[str, dict[str, object], str]] = {
    "load": ("skills.load", {"names": ["alpha", "beta"]}, "active_skills unloaded_skills notices"),
    "unload": ("skills.unload", {"names": ["alpha"]}, "active_skills unloaded_skills notices"),
    "text": (
        "skills.read",
        {"path": "guide.md"},
        "skill path encoding media_type text offset size truncated next_offset digest",
    ),
    "section": (
        "skills.read",
        {"path": "guide.md", "section": "one"},
        "skill path encoding media_type text sections offset size truncated next_offset digest",
    ),
    "binary": (
        "skills.read",
        {"path": "dot.bin", "encoding": "binary"},
        "skill path encoding media_type data_base64 offset size truncated next_offset digest",
    ),
    "script": ("skills.read", {"path": "scripts/show.sh"}, "skill path size digest interpreter usage"),
    "no script": ("skills.read", {"path": "scripts/none.xyz"}, "skill path size digest interpreter usage"),
    "run": (
        "skills.run_script",
        {"path": "scripts/show.sh", "args": ["x"]},
        f"path exit_code stdout stderr timed_out duration_ms {STREAMS} artifacts guarantees",
    ),
    "skill": (
        "skill",
        {"skill": "alpha"},
        "skill_name message base_path content allowed_tools allowed_tools_mode model notices",
    ),
    "skill without tools": (
        "skill",
        {"skill": "beta", "args": ""},
        "skill_name message base_path content allowed_tools allowed_tools_mode args",
    ),
}
TYPES: Mapping[str, type[LoadResult | ReadResult | RunResult | InvokeResult]] = {
    "skills.load": LoadResult,
    "skills.unload": LoadResult,
    "skills.read": ReadResult,
    "skills.run_script": RunResult,
    "skill": InvokeResult,
}


@pytest.mark.parametrize("case", CALLS)
async def test_the_json_of_a_call_is_that_of_its_value(skills: Path, case: str) -> None:
    tool, arguments, keys = CALLS[case]
    session = Session(Catalog(skills))
    await session.load("alpha")

    wire = result(await session.call(tool, arguments))

    assert list(wire) == keys.split()
    assert json.dumps(msgspec.convert(wire, TYPES[tool]).as_dict()) == json.dumps(wire)


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (LoadResult, load_result.RECEIPT_SCHEMA),
        (LoadedSkill, load_result.RECEIPT_SCHEMA["properties"]["active_skills"]["items"]),  # type: ignore[index]  # JSON
        (Notice, load_result.NOTICES_SCHEMA["items"]),
        (ReadResult, read.SPEC.output_schema),
        (RunResult, run_script.SPEC.output_schema),
        (RunArtifact, run_script.SPEC.output_schema["properties"]["artifacts"]["items"]),  # type: ignore[index]  # JSON
        (InvokeResult, skill_tool.RESULT_SCHEMA),
    ],
)
def test_a_value_has_the_fields_of_the_output_schema(
    kind: type[Struct], schema: Mapping[str, Mapping[str, object]]
) -> None:
    assert set(kind.__struct_fields__) == set(schema["properties"])


def test_without_an_event_loop_the_values_are_the_same(skills: Path) -> None:
    with SyncSession(Catalog(skills)) as session:
        assert session.load("alpha").active_skills[0].name == "alpha"
        assert session.run_script("scripts/show.sh", "x").stdout == "x\n"
        assert session.unload("alpha").unloaded_skills == ("alpha",)
        with pytest.raises(SkillNotActiveError):
            session.read("guide.md")
