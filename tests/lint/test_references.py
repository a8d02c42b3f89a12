from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from prowess.diagnostics import Severity
from prowess.format import parse_document
from prowess.lint import LINT_RULES, RULES, lint_skill
from prowess.lint.skill_files import SkillFiles
from prowess.rule_engine import Selection
from tests.lint.case import body

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.diagnostics import Diagnostic


def test_links_out_of_the_skill_are_one_finding_of_a_file_that_names_them(tmp_path: Path) -> None:
    skill = tmp_path / "pdf-tables"
    (skill / "references").mkdir(parents=True)
    links = " ".join(f"[x](../../{name}.md#part)" for name in "abcdefa")
    (skill / "references" / "r.md").write_text(links)
    (skill / "SKILL.md").write_text(f"---\nname: pdf-tables\n{body('Read `references/r.md`.')}")
    (found,) = [one for one in lint_skill(skill) if one.rule == "reference.deadLink"]
    assert found.message == (
        "../../a.md leads out of the skill; put the file into the skill; other such links: ../../b.md, ../../c.md, "
        "../../d.md and 2 more"
    )


def test_deep_references_are_one_finding_that_counts_them(tmp_path: Path) -> None:
    skill = tmp_path / "pdf-tables"
    for name in ("a", "b", "c", "d", "e"):
        (skill / "references" / name).mkdir(parents=True)
        (skill / "references" / name / "x.md").write_text("x")
    text = "Read references/a/x.md, references/b/x.md, references/c/x.md and `references/a/x.md`."
    (skill / "SKILL.md").write_text(f"---\nname: pdf-tables\n{body(text)}")
    assert [one.message for one in lint_skill(skill) if one.rule == "reference.depth"] == [
        "references/d is a directory, and 1 more are; move its files to references/",
        "references/a/x.md is in a directory below references/, and 2 more are; move the files to references/",
    ]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "a"
    for name in ("references/FORMATS.md", "references/Größe.md", "scripts/deep/er/run.py", "notes.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")
    return root


def advice(skill: Path, body: str, **options: object) -> list[Diagnostic]:
    (skill / "SKILL.md").write_text(
        f"---\nname: a\ndescription: Writes d. Use when asked for d.\n---\n{body}\n", encoding="utf-8"
    )
    found = lint_skill(skill, **options)  # type: ignore[arg-type]  # options are those of lint_skill, named in each test
    return [one for one in found if one.rule in {"reference.missing", "reference.case", "reference.depth"}]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("references/VAT.md", "references/VAT.md does not exist; did you mean references/FORMATS.md?"),
        ("references/FORMAT.md", "references/FORMAT.md does not exist; did you mean references/FORMATS.md?"),
        ("docs/notes.md", "docs/notes.md does not exist; did you mean notes.md?"),
        ("zzzzzz", "zzzzzz does not exist"),
        ("notes.md/x", "notes.md/x does not exist"),
    ],
)
@pytest.mark.proves("format.reference.missing", "format.reference.root")
def test_a_missing_file_is_named_with_the_one_that_may_be_meant(skill: Path, target: str, says: str) -> None:
    (found,) = advice(skill, f"See [x]({target}).")
    assert (found.rule, found.family, found.severity, found.skill) == ("reference.missing", "lint", "warning", "a")
    assert found.message.startswith(says)
    assert (found.location.line, found.location.column) == (5, 9)


@pytest.mark.proves("format.reference.root")
def test_a_link_inside_a_reference_file_leads_from_the_root_of_the_skill(skill: Path) -> None:
    for name in ("references/start.md", "references/more.md", "references/references/more.md"):
        (skill / name).parent.mkdir(exist_ok=True)
        (skill / name).write_text("x", encoding="utf-8")
    (skill / "references" / "start.md").write_text("[more](references/more.md)", encoding="utf-8")
    body = "See [start](references/start.md).\n"
    (skill / "SKILL.md").write_text(f"---\nname: a\ndescription: d\n---\n{body}", encoding="utf-8")
    chained = [one.message.partition(" is reached")[0] for one in lint_skill(skill) if one.rule == "reference.chain"]
    assert chained == ["references/more.md"]


@pytest.mark.proves("format.reference.case")
def test_a_file_in_another_case_is_found_with_the_right_spelling(skill: Path) -> None:
    (found,) = advice(skill, "See [x](References/formats.md#top).")
    assert found.rule == "reference.case"
    assert found.message == "References/formats.md is spelled references/FORMATS.md on disk"
    assert found.fix is not None
    assert found.fix.edits[0].text == "references/FORMATS.md#top"
    (encoded,) = advice(skill, "See [x](references/gr%C3%B6%C3%9Fe.md).")
    assert encoded.fix is not None
    assert encoded.fix.edits[0].text == "references/Gr%C3%B6%C3%9Fe.md"
    (elsewhere,) = advice(skill, "See [x][y].\n\n[y]: references/formats.md")
    assert elsewhere.fix is None


@pytest.mark.parametrize(("target", "missing"), [("LINK", 0), ("MON/WED", 0), ("LICENSE", 1), ("Makefile", 1)])
def test_words_in_capitals_in_place_of_a_target_are_no_file(skill: Path, target: str, missing: int) -> None:
    assert len(advice(skill, f"Put it into [x]({target}).")) == missing


def test_what_is_there_draws_no_advice(skill: Path) -> None:
    (skill / "link").symlink_to(skill.parent)
    assert (
        advice(skill, "[a](notes.md) [b](./references/) [c](scripts/../notes.md) [d](link/out/of/it) [e](link)") == []
    )


def test_a_link_out_of_the_skill_is_not_looked_at(skill: Path) -> None:
    assert advice(skill, "[a](../../etc/hosts) [b](/etc/hosts)") == []


def test_a_document_without_a_directory_gets_no_advice_on_files() -> None:
    assert lint_skill(parse_document("---\nname: a\ndescription: Writes d. Use when asked.\n---\n[x](y.md)")) == []


def test_advice_follows_profile_and_selection(skill: Path) -> None:
    assert advice(skill, "[x](y.md)", profile="skills-ref") == []
    selection = Selection(select=("reference",))
    assert [found.severity for found in advice(skill, "[x](y.md)", profile="skills-ref", selection=selection)] == [
        Severity.WARNING
    ]
    assert advice(skill, "[x](y.md)", selection=Selection(ignore=("lint",))) == []


def test_advice_is_sorted_and_suggestions_are_bounded(skill: Path) -> None:
    found = advice(skill, "[x](references/FORMAT.md) [y](Notes.md) " + "[z](references/FORMAT.md) " * 30)
    assert [one.location.column for one in found] == sorted(one.location.column for one in found)
    assert sum("did you mean" in one.message for one in found) == 20
    assert len(advice(skill, "[x](no.md) [y](Notes.md) " * 300)) == 200


@pytest.mark.proves("format.reference.forms")
def test_links_images_and_bare_paths_are_references_to_files_of_the_skill(tmp_path: Path) -> None:
    for path in ("scripts/run.py", "references/api.md", "assets/logo.png"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("x", encoding="utf-8")
    body = (
        "[a](references/gone.md) ![i](assets/gone.png)\n`references/none.md` and scripts/none.sh, assets/none.svg.\n"
        "```sh\npython scripts/nope.py --x\n```\n"
        "[a](references/api.md) ![i](assets/logo.png) references/api.md `scripts/run.py` ./assets/logo.png\n"
        "scripts/<name>.py scripts/*.py references/{topic}.md other/scripts/x.py ~/scripts/x.py ${DIR}/assets/x.png\n"
    )
    (tmp_path / "SKILL.md").write_text(
        f"---\nname: a\ndescription: Writes d. Use when asked for d.\n---\n{body}", encoding="utf-8"
    )
    found = [one for one in lint_skill(tmp_path) if one.rule.startswith("reference.missing")]
    places = {(one.message.partition(" ")[0], str(one.severity), one.location.line) for one in found}
    assert places == {
        ("references/gone.md", "warning", 5),
        ("assets/gone.png", "warning", 5),
        ("references/none.md", "info", 6),
        ("scripts/none.sh", "info", 6),
        ("assets/none.svg", "info", 6),
        ("scripts/nope.py", "info", 8),
    }


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_many_bare_paths_cost_little(skill: Path) -> None:
    body = "".join(f"scripts/zz{number}.py\n" for number in range(20_000)) + "scripts/" * 50_000
    (skill / "SKILL.md").write_text(
        f"---\nname: a\ndescription: Writes d. Use when asked for d.\n---\n{body}\n", encoding="utf-8"
    )
    began = time.process_time()
    lint_skill(skill, selection=Selection(select=("reference",)))
    assert time.process_time() - began < 3


def test_a_directory_that_cannot_be_read_holds_nothing(tmp_path: Path) -> None:
    files = SkillFiles(str(tmp_path / "gone"))
    assert files.look_for("x").kind == "missing"
    assert files.suggest("x") is None
    assert files.look_for("../x").kind == "missing"


def test_a_huge_directory_is_listed_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"f{number}").write_text("x")
    monkeypatch.setattr("prowess.lint.skill_files._MAX_LISTED", 3)
    assert SkillFiles(str(tmp_path)).suggest("f4.") != "f4"


def test_every_rule_is_among_those_that_a_user_may_name_and_has_a_page() -> None:
    for rule in LINT_RULES:
        assert RULES[rule.meta.id] is rule.meta
        page = type(rule).__doc__ or ""
        for section in ("What it does:", "Why it matters:", "Example:", "Instead:"):
            assert section in page


def _cpu_seconds(skill: Path, body: str) -> float:
    began = time.process_time()
    assert advice(skill, body)
    return time.process_time() - began


@pytest.mark.unmeasured
def test_names_that_are_made_to_be_alike_cost_little(skill: Path) -> None:
    for number in range(2000):
        (skill / "references" / f"{'ba' * 60}{number}q.md").touch()
    links = "".join(f"[x](references/{'ab' * 60}{number}.md)\n" for number in range(200))
    assert _cpu_seconds(skill, links) < 2


def test_many_missing_links_into_a_large_directory_cost_little(skill: Path) -> None:
    for number in range(8000):
        (skill / "references" / f"{number}").touch()
    links = "".join(f"[x](references/zz{number}.md)\n" for number in range(8000))
    assert _cpu_seconds(skill, links) < 3


def test_when_the_comparing_is_used_up_the_same_name_elsewhere_is_still_found(skill: Path) -> None:
    files = SkillFiles(str(skill))
    files._work = 0
    assert files.suggest("docs/notes.md") == "notes.md"
    assert files.suggest("references/FORMAT.md") is None


def test_of_two_spellings_the_first_is_named(skill: Path) -> None:
    (skill / "references" / "formats.md").touch()
    assert SkillFiles(str(skill)).look_for("references/Formats.md").path == "references/FORMATS.md"
