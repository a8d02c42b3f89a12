"""`Catalog.match`: what a task finds, in which order, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess import Catalog
from prowess.catalog import Match, Reason
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SKILLS = {
    "csv-report": "Summarise CSV files as a report with totals per column.",
    "pdf-forms": "Fill in the fields of PDF forms. Do not use for scanned invoices.",
    "log-triage": "Group the errors of a server log and find the first cause.",
    "release-notes": "Write release notes from the commits since the last tag.",
    "café-menu": "Design a menu for a café.",
    "天气": "查询城市的天气预报和空气质量",
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    root = tmp_path_factory.mktemp("skills")
    for name, description in _SKILLS.items():
        write_skill(root / name, description=description)
    return Catalog(root)


def found(matches: Sequence[Match]) -> list[str]:
    return [match.name for match in matches]


@pytest.mark.proves("catalog.match.misspelt")
@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("summarise the columns of sales.csv", "csv-report"),
        ("fill this form", "pdf-forms"),
        ("what caused these errors in the log?", "log-triage"),
        ("notes for the new release", "release-notes"),
        ("cafe menu", "café-menu"),
        ("CAFÉ", "café-menu"),
        ("今天北京天气怎么样", "天气"),
        ("realease ntoes", "release-notes"),
        ("pdf", "pdf-forms"),
        ("ein PDF-Formular ausfüllen", "pdf-forms"),
        ("remplir un formulaire PDF", "pdf-forms"),
    ],
)
def test_a_task_finds_the_skill_with_its_words(catalog: Catalog, task: str, first: str) -> None:
    assert found(catalog.match(task))[:1] == [first]


@pytest.mark.parametrize("word", ["todo", "comment", "os", "bin"])
def test_an_english_noun_that_is_a_function_word_elsewhere_is_matched(tmp_path: Path, word: str) -> None:
    write_skill(tmp_path / word, description="Handles them.")
    write_skill(tmp_path / "other", description="Does other things.")
    assert found(Catalog(tmp_path).match(word)) == [word]


@pytest.mark.proves("catalog.match.silent")
@pytest.mark.parametrize("task", ["", "   ", "???", "please help me with this", "bake bread", "\ud800", "x" * 100_000])
def test_a_task_without_a_fitting_skill_finds_none(catalog: Catalog, task: str) -> None:
    assert catalog.match(task) == ()


@pytest.mark.proves("catalog.match.silent")
def test_a_skill_with_little_evidence_only_follows_a_match_with_at_most_twice_as_much(catalog: Catalog) -> None:
    assert catalog.match("summarise the quarter", 1) == catalog.match("summarise the quarter") == ()
    assert found(catalog.match("summarise the quarter, group the cafés")) == ["café-menu", "csv-report", "log-triage"]
    assert found(catalog.match("summarise the quarter, design the menu of the café")) == ["café-menu"]


def test_a_word_of_another_language_with_the_same_beginning_is_matched(tmp_path: Path) -> None:
    for name, about in (("files", "Organize archives."), ("photos", "Develop photos."), ("orders", "Place orders.")):
        write_skill(tmp_path / name, description=about)
    (match,) = Catalog(tmp_path).match("organizzazione of archives")
    assert [reason.word for reason in match.reasons] == ["organizzazione", "archives"]


@pytest.mark.proves("catalog.match.reasons")
def test_scores_are_in_order_and_at_most_one(catalog: Catalog) -> None:
    matches = catalog.match("report errors of the log as csv")
    scores = [match.score for match in matches]
    assert sorted(found(matches)[:2]) == ["csv-report", "log-triage"]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@pytest.mark.proves("catalog.match.reasons")
def test_reasons_name_the_words_of_the_task_and_the_fields(catalog: Catalog) -> None:
    (match, *_) = catalog.match("Summarising my CSV totals")
    assert match.reasons == (
        Reason(word="Summarising", field="description"),
        Reason(word="CSV", field="name"),
        Reason(word="totals", field="description"),
    )
    assert match.location == catalog.get("csv-report").location


@pytest.mark.proves("catalog.match.named")
@pytest.mark.parametrize("task", ["/pdf-forms the csv report", "the csv report, with $pdf-forms.", "csv (/pdf-forms)"])
def test_a_named_skill_is_first(catalog: Catalog, task: str) -> None:
    first, second, *_ = catalog.match(task)
    assert (first.name, first.score, second.name) == ("pdf-forms", 1.0, "csv-report")
    assert found(catalog.match(task, 1)) == ["pdf-forms"]


@pytest.mark.parametrize("task", ["see docs/pdf-forms", "cost: 5$ pdf", "$HOME/csv-report"])
def test_a_path_or_a_variable_names_no_skill(catalog: Catalog, task: str) -> None:
    assert all(match.score < 1 for match in catalog.match(task))


@pytest.mark.proves("catalog.match.not-when")
def test_a_sentence_on_when_not_to_use_a_skill_does_not_raise_its_score(catalog: Catalog) -> None:
    assert catalog.match("scanned invoices") == ()
    alone = catalog.match("fill in the forms")[0].score
    assert catalog.match("fill in the forms of scanned invoices")[0].score <= alone


def test_only_entries_among_those_given_are_returned(catalog: Catalog) -> None:
    among = tuple(entry for entry in catalog.entries() if entry.name != "csv-report")
    assert "csv-report" not in found(catalog.match("csv report of errors", among=among))
    assert "csv-report" not in found(catalog.match("/csv-report", among=among))
    assert catalog.match("csv", among=()) == ()


def test_the_score_does_not_depend_on_the_entries_it_is_asked_of(catalog: Catalog) -> None:
    task = "csv report of errors"
    whole = {match.name: match.score for match in catalog.match(task)}
    for entry in catalog.entries():
        assert {match.name: match.score for match in catalog.match(task, among=[entry])}.items() <= whole.items()


def test_at_most_limit_skills_are_returned(catalog: Catalog) -> None:
    task = "csv report of errors, pdf forms"
    for limit in (-1, 0, 1, 2, 3, 100):
        assert len(catalog.match(task, limit)) == min(max(limit, 0), 2)
        assert catalog.match(task, limit) == catalog.match(task, 100)[: max(limit, 0)]


def test_equal_scores_are_sorted_by_name(tmp_path: Path) -> None:
    for name in ("b-zebra", "a-zebra", "c-zebra"):
        write_skill(tmp_path / name, description="Draws a zebra.")
    assert found(Catalog(tmp_path).match("zebra")) == ["a-zebra", "b-zebra", "c-zebra"]
    assert found(Catalog(tmp_path).match("zebra", 2)) == ["a-zebra", "b-zebra"]


def test_a_word_of_more_than_a_tenth_of_the_skills_brings_none_in_by_itself(tmp_path: Path) -> None:
    for number in range(120):
        about = "quartz crystals" if number < 20 else "granite rocks" if number < 30 else "opals"
        write_skill(tmp_path / f"s{number}", description=f"Cut {about} number{number}.")
    catalog = Catalog(tmp_path)
    assert catalog.match("quartz") == ()
    assert catalog.match("opals") == ()
    assert len(catalog.match("granite", 50)) == 10
    assert found(catalog.match("quartz number3"))[:1] == ["s3"]


def test_tags_and_when_to_use_are_matched(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", description="Does one thing.", extra="tags: [kubernetes, helm]\n")
    write_skill(tmp_path / "b", description="Does one thing.", extra="when_to_use: If a pod keeps restarting.\n")
    catalog = Catalog(tmp_path)
    assert [reason.field for reason in catalog.match("helm kubernetes")[0].reasons] == ["tags", "tags"]
    assert found(catalog.match("my pod restarts")) == ["b"]


def test_bodies_are_matched_only_on_request(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", description="Does one thing.", body="# Steps\nRun the fluxcapacitor.\n")
    write_skill(tmp_path / "b", description="Does another thing.", body="# When not to use\n\nA fluxcapacitor.\n")
    catalog = Catalog(tmp_path)
    assert catalog.match("fluxcapacitor") == ()
    (match,) = catalog.match("fluxcapacitor", bodies=True)
    assert (match.name, match.reasons) == ("a", (Reason(word="fluxcapacitor", field="body"),))


def test_an_unknown_word_is_not_compared_with_words_that_only_bodies_have(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", description="Handles volcanoes.", body="Measure eruptions and earthquakes.\n")
    catalog = Catalog(tmp_path)
    assert found(catalog.match("measure earthquakes", bodies=True)) == ["a"]
    assert found(catalog.match("volcanose", bodies=True)) == ["a"]
    assert catalog.match("measuer eartquakes", bodies=True) == ()


def test_changes_take_effect_after_a_refresh(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", description="Peels apples.")
    write_skill(tmp_path / "b", description="Peels bananas.")
    catalog = Catalog(tmp_path)
    assert found(catalog.match("apples")) == ["a"]
    write_skill(tmp_path / "a", description="Peels oranges.")
    write_skill(tmp_path / "c", description="Peels grapes.")
    (tmp_path / "b" / "SKILL.md").unlink()
    catalog.refresh()
    fresh = Catalog(tmp_path)
    for task in ("apples", "bananas", "oranges", "grapes", "peel", "peel oranges and grapes", "aples", "orangs"):
        assert [(one.name, one.score, one.reasons) for one in catalog.match(task)] == [
            (one.name, one.score, one.reasons) for one in fresh.match(task)
        ]
    assert found(catalog.match("oranges")) == ["a"]
    assert catalog.match("apples") == catalog.match("bananas") == ()


def test_a_body_counts_only_as_long_as_the_file_is_the_listed_one(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", description="Handles something.", body="Peel apples with a knife.\n")
    catalog = Catalog(tmp_path)
    assert found(catalog.match("peel apples with a knife", bodies=True)) == ["a"]
    catalog = Catalog(tmp_path)
    catalog.entries()
    write_skill(tmp_path / "a", description="Handles something.", body="Polish skates before winter comes.\n")
    assert catalog.match("polish skates before winter", bodies=True) == ()
    catalog.refresh()
    assert found(catalog.match("polish skates before winter", bodies=True)) == ["a"]
