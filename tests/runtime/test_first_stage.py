"""Before a skill is loaded an agent has its name, its description and its tags, and nothing else of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.runtime import Session
from tests.runtime.making import failure, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.mark.proves("runtime.disclosure.stage1")
async def test_at_start_an_agent_has_names_and_descriptions_and_no_other_text_of_a_skill(tmp_path: Path) -> None:
    files = {"references/guide.md": "Guide text.\n", "scripts/run.py": "print('script text')\n"}
    write_skill(
        tmp_path, "alpha", description="Sorts receipts.", body="Body text.\n", files=files, extra="tags: [money]\n"
    )
    write_skill(tmp_path, "beta", description="For another agent.", extra="scope:\n  agents: [reviewer]\n")
    catalog = Catalog(tmp_path)
    session = Session(catalog, expose_location=False)

    offered = session.instructions() + repr(session.tools())
    assert "alpha" in offered
    assert "Sorts receipts." in offered
    for hidden in ("Body text", "Guide text", "script text", "guide.md", "run.py", "beta", "another agent"):
        assert hidden not in offered
    assert [match.name for match in catalog.match("money")] == ["alpha"], "a tag finds a skill"
    for tool, arguments in (
        ("skills.read", {"skill": "alpha", "path": "references/guide.md"}),
        ("skills.run_script", {"skill": "alpha", "path": "scripts/run.py"}),
    ):
        assert failure(await session.call(tool, arguments))["code"] == "skill_not_active"
