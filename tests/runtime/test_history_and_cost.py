from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.runtime.disclosure.model_texts import estimate_tokens
from tests.runtime.making import result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.mark.proves("client.context.protect")
async def test_bodies_of_unloaded_skills_are_dropped_from_a_new_history(catalog: Catalog) -> None:
    session = Session(catalog, exposure="skill")
    alpha = await session.call("skill", {"skill": "alpha"})
    gamma = await session.call("skill", {"skill": "gamma"})
    messages: list[object] = [
        {"role": "user", "content": "Body of gamma. <skill> stays"},
        {"role": "tool", "content": [{"type": "text", "text": json.dumps(alpha.as_dict())}]},
        {"role": "tool", "content": result(gamma)["content"] + "after"},
        ("a tuple", 7, None, b"bytes"),
    ]
    before = copy.deepcopy(messages)
    assert session.protected_messages(messages) == (1, 2)
    assert session.without_unloaded(messages) == [before[0], before[1], before[2], ["a tuple", 7, None, b"bytes"]]

    await session.unload(["gamma"])
    shorter = session.without_unloaded(messages)
    assert messages == before
    assert shorter[:2] == before[:2]
    dropped = "[The instructions of skill gamma are left out: it is no longer loaded.]"
    assert shorter[2] == {"role": "tool", "content": f"{dropped}\nafter"}

    await session.unload(["alpha"])
    kept = json.loads(session.without_unloaded(messages)[1]["content"][0]["text"])  # type: ignore[index]  # as built above
    assert kept["result"]["content"] == "[The instructions of skill alpha are left out: it is no longer loaded.]\n"
    assert session.protected_messages(messages) == ()


async def test_a_history_without_an_end_is_left_alone(session: Session) -> None:
    deep: object = '<skill_content name="x">\n</skill_content>'
    for _ in range(40):
        deep = [deep]
    assert session.without_unloaded([deep]) == [deep]


@pytest.mark.proves("runtime.prompt.measured", "client.catalog.size")
async def test_the_cost_of_every_stage_is_told(session: Session) -> None:
    cost = session.cost()
    assert list(cost.sections) == ["base", "available", "active"]
    assert (cost.stage2, cost.stage3, cost.skills) == (0, 0, {})
    assert set(cost.tools) >= {"skills.load", "skills.read"}
    assert cost.total == cost.stage1 == sum(cost.sections.values()) + sum(cost.tools.values())

    await session.load(["alpha"])
    loaded = session.cost()
    body = "# Alpha\n\nRead [the guide](references/guide.md).\n"
    assert loaded.skills == {"alpha": estimate_tokens(body)}
    assert (loaded.stage1, loaded.stage2, loaded.stage3) == (cost.stage1, estimate_tokens(body), 0)
    with_texts = session.cost(navigation=True, tool_system=True)
    assert with_texts.stage1 > loaded.stage1 + 500


@pytest.mark.proves("runtime.disclosure.stage3", "client.activation.resources-on-demand")
async def test_of_100_kilobytes_of_references_a_session_holds_the_section_that_was_read(tmp_path: Path) -> None:
    sections = "".join(f"## Part {number}\n\n{'word ' * 200}{number}\n\n" for number in range(100))
    body = "Do it.\n" + "step\n" * 400
    write_skill(tmp_path / "skills", "a", body=body, files={"references/big.md": sections})
    session = Session(Catalog(tmp_path / "skills"))
    await session.load(["a"])
    assert "word word" not in session.instructions()
    before = session.cost()
    assert before.stage3 == 0

    done = await session.call("skills.read", {"path": "references/big.md", "section": "part-7"})

    text = result(done)["text"]
    assert text.startswith("## Part 7\n")
    assert "Part 8" not in text
    after = session.cost()
    assert after.stage1 + after.stage2 == before.stage1 + before.stage2
    # The section, and the outline with a hundred titles; nothing of the other ninety-nine sections.
    assert estimate_tokens(text) <= after.stage3 <= estimate_tokens(text) + 2000
    assert len(sections) > 100_000


@pytest.mark.proves("runtime.disclosure.script-tokens")
async def test_a_script_of_1000_lines_adds_its_output_alone(tmp_path: Path) -> None:
    script = "x = 1  # MARKER\n" * 1000 + "print('done')\n"
    write_skill(tmp_path / "skills", "a", files={"scripts/long.py": script})
    session = Session(Catalog(tmp_path / "skills"))
    if "skills.run_script" not in [spec.name for spec in session.tools()]:
        pytest.skip("no sandbox can start here")
    await session.load(["a"])
    run = await session.call("skills.run_script", {"path": "scripts/long.py"})
    described = await session.call("skills.read", {"path": "scripts/long.py"})
    assert result(run)["stdout"] == "done\n"
    assert "MARKER" not in json.dumps([run.as_dict(), described.as_dict(), session.instructions()])
    assert session.cost().stage3 < 1200
