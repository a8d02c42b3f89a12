"""A list of skills in 1,024 bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from prowess.runtime import Session, SyncSession
from prowess.runtime.disclosure.exposure import COMPACT, MOST_BYTES
from prowess.runtime.disclosure.skill_list import ListedSkill, fit_best, text_of
from tests.runtime.making import write_skill

EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"


def _section(text: str) -> str:
    return text[text.index("<available_skills>") : text.index("</available_skills>") + len("</available_skills>\n")]


@pytest.mark.parametrize("number", [1, 40, 2000])
@pytest.mark.parametrize("description", ["Does it.", "\u4e2d\U0001f600&<" * 250])
def test_any_number_of_skills_fits_and_what_is_left_out_is_counted(number: int, description: str) -> None:
    listed = [ListedSkill(name=f"skill-{place}", description=description, location="/s") for place in range(number)]
    found = fit_best(listed[: COMPACT.most], number, COMPACT.size, MOST_BYTES)
    section = text_of(found, COMPACT.render, MOST_BYTES)
    assert len(section.encode()) <= MOST_BYTES
    assert section.count("<skill>") == len(found.shown) >= 1
    assert (f"{number - len(found.shown)} more are not shown" in section) == (number > len(found.shown))


def test_a_name_that_fills_everything_leaves_only_the_count() -> None:
    found = fit_best([ListedSkill(name="n" * 5000, description="")], 1, COMPACT.size, MOST_BYTES)
    section = text_of(found, COMPACT.render, MOST_BYTES)
    assert (len(section.encode()) <= MOST_BYTES, found.shown) == (True, ())
    assert "1 more are not shown" in section


@pytest.mark.proves("runtime.disclosure.stage1.budget")
def test_a_session_of_hundreds_of_skills_lists_the_best_matches_and_finds_the_others_by_a_phrase(
    tmp_path: Path,
) -> None:
    for number in range(300):
        write_skill(tmp_path, f"tool-{number}", description=f"Does thing number{number} of a long list of things. " * 9)
    write_skill(tmp_path, "invoice-check", description="Checks the totals of invoices.")
    write_skill(tmp_path, "tide-table", description="Says when the water is high.")
    with SyncSession(Catalog(tmp_path)) as session:
        text = session.instructions(compact="check this invoice")
        section = _section(text)
        assert len(section.encode()) <= 1024
        assert section.index("<name>invoice-check</name>") < section.index("</skill>")
        shown = section.count("<name>")
        assert f"{302 - shown} more are not shown; skills.load with a few words of the task" in section
        with pytest.raises(SkillNotFoundError, match="did you mean 'tide-table'"):
            session.load(["when is high water"])
        assert "skills.list" in [spec.name for spec in session.tools(compact="check this invoice")]


@pytest.mark.parametrize("exposure", ["skill", "files"])
def test_what_has_no_such_list_refuses_it(exposure: str) -> None:
    session = Session(Catalog(EXAMPLES), exposure=exposure)  # type: ignore[arg-type]  # a parameter of the test
    with pytest.raises(InvalidArgumentsError, match="a compact list needs exposure 'tools'"):
        session.instructions(compact="a task")
