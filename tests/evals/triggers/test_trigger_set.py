"""Trigger sets: which files are read, their faults with the place, advice, and the split that is kept."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.triggers.split import SPLIT_FILE, keep_split, read_split, split_queries
from prowess.evals.triggers.trigger_set import TriggerQuery, read_trigger_set
from prowess.format.suites.suite import SuiteError
from tests.evals.triggers.planted import make_triggered

if TYPE_CHECKING:
    from pathlib import Path

WANTED = [(f"Sum the rows of file {number}", True) for number in range(10)]
OTHERS = [(f"Sum up the talk {number}", False) for number in range(10)]


def skill(folder: Path, queries: list[tuple[str, bool]]) -> str:
    return make_triggered(folder, "sums", "Sums rows of files. Use for totals.", queries)


@pytest.mark.proves("evals.trigger.shape")
def test_a_set_is_a_list_of_queries_in_the_folder_of_evals(tmp_path: Path) -> None:
    found = read_trigger_set(skill(tmp_path, WANTED + OTHERS))
    assert (found.skill, len(found.queries), found.unused) == ("sums", 20, 0)
    assert found.queries[0] == TriggerQuery(query="Sum the rows of file 0", should_trigger=True)
    assert found.queries[-1].should_trigger is False


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '[{"query": "a", "should_trigger": true},\n {"query": "b"}]',
            r":2: \[1\].should_trigger must be",
        ),
        ('[{"query": "", "should_trigger": true}]', r":1: \[0\].query must be a text"),
        ('[{"query": "a", "should_trigger": true}, {"query": "a", "should_trigger": true}]', "is there twice"),
        ('[{"query": "a", "should_trigger": 1}]', "must be true or false"),
        ("[", "is not JSON"),
        ("{}", "is no suite"),
        ('{"evals": [{"id": 1, "prompt": "a", "expected_output": "b"}]}', "does not tell for any request"),
    ],
)
@pytest.mark.proves("evals.trigger.shape")
def test_a_fault_of_a_set_has_its_place(tmp_path: Path, text: str, reason: str) -> None:
    directory = skill(tmp_path, WANTED)
    path = tmp_path / "set.json"
    path.write_text(text)
    with pytest.raises((SuiteError, InvalidArgumentsError), match=reason) as caught:
        read_trigger_set(directory, str(path))
    assert "set.json" in str(caught.value)


def test_other_forms_are_read_if_they_tell_which_skill_is_expected(tmp_path: Path) -> None:
    directory = skill(tmp_path, WANTED)
    path = tmp_path / "questions.json"
    listed = [
        {"question": "Sum this", "expected_skill": "sums", "ground_truth": "3"},
        {"question": "Sing this", "expected_skill": None, "ground_truth": ""},
        {"question": "Sell this", "expected_skill": "sales", "ground_truth": ""},
        {"question": "Say this", "ground_truth": ""},
    ]
    path.write_text(json.dumps(listed))
    found = read_trigger_set(directory, str(path))
    assert [query.should_trigger for query in found.queries] == [True, False, False]
    assert found.unused == 1


def test_a_skill_needs_one_set(tmp_path: Path) -> None:
    directory = skill(tmp_path, WANTED)
    with pytest.raises(InvalidArgumentsError, match=r"no SKILL\.md"):
        read_trigger_set(str(tmp_path))
    (tmp_path / "sums" / "evals" / "more.json").write_text(json.dumps([{"query": "a", "should_trigger": True}]))
    with pytest.raises(InvalidArgumentsError, match=r"several trigger sets \(more\.json, triggers\.json\)"):
        read_trigger_set(directory)
    assert len(read_trigger_set(directory, os.path.join(directory, "evals", "more.json")).queries) == 1
    for name in ("more.json", "triggers.json"):
        os.remove(os.path.join(directory, "evals", name))
    with pytest.raises(InvalidArgumentsError, match=r"no trigger set; write .*triggers\.json"):
        read_trigger_set(directory)


@pytest.mark.proves("evals.trigger.size")
def test_a_small_or_easy_set_draws_advice(tmp_path: Path) -> None:
    def advice(name: str, queries: list[tuple[str, bool]]) -> tuple[str, ...]:
        return read_trigger_set(skill(tmp_path / name, queries)).advice()

    assert advice("whole", WANTED + OTHERS) == ()
    (small,) = advice("small", WANTED[:4] + OTHERS[:4])
    assert small == "8 requests tell little; about 20 are usual"
    (uneven,) = advice("uneven", WANTED + OTHERS[:7])
    assert uneven.startswith("10 requests for the skill and 7 not for it; 8 to 10 of each kind")
    far = [(f"Book a flight to town {number}", False) for number in range(10)]
    (easy,) = advice("easy", WANTED + far)
    assert easy.endswith("add near misses, which are the hard ones")


def queries(of_wanted: int, of_others: int) -> list[TriggerQuery]:
    kinds = [*((True, number) for number in range(of_wanted)), *((False, number) for number in range(of_others))]
    return [TriggerQuery(query=f"{wanted} {number}", should_trigger=wanted) for wanted, number in kinds]


@pytest.mark.proves("evals.trigger.split")
def test_three_fifths_of_each_kind_are_for_training() -> None:
    listed = queries(10, 5)
    split = split_queries(listed, seed=3)
    assert sum(query.startswith("True") for query in split.train) == 6
    assert sum(query.startswith("False") for query in split.train) == 3
    assert sorted(split.train + split.validation) == sorted(query.query for query in listed)
    assert split_queries(listed[::-1], seed=3) == split
    assert split_queries(listed, seed=4).train != split.train
    assert split_queries(queries(1, 1)).validation == ()


@pytest.mark.proves("evals.trigger.split")
def test_a_kept_split_is_completed_and_never_changed(tmp_path: Path) -> None:
    first = split_queries(queries(10, 10), seed=3)
    assert read_split(str(tmp_path)) is None
    keep_split(str(tmp_path), first)
    kept = read_split(str(tmp_path))
    assert kept == first
    assert split_queries(queries(10, 10), seed=9, kept=kept) == first
    more = split_queries(queries(15, 10), seed=9, kept=kept)
    assert set(first.train) <= set(more.train)
    assert set(first.validation) <= set(more.validation)
    assert sum(query.startswith("True") for query in more.train) == 9
    fewer = split_queries(queries(5, 10), kept=kept)
    assert set(fewer.train) <= set(first.train)
    (tmp_path / SPLIT_FILE).write_text("[]")
    with pytest.raises(InvalidArgumentsError, match="is not a kept split"):
        read_split(str(tmp_path))


def test_a_request_that_no_model_can_get_is_refused(tmp_path: Path) -> None:
    skill = make_triggered(tmp_path, "sums", "Sums rows.", [("half \ud800", True)])
    with pytest.raises(InvalidArgumentsError, match="has half of a surrogate pair; write the whole character"):
        read_trigger_set(skill)


def test_an_empty_path_is_told(tmp_path: Path) -> None:
    del tmp_path
    with pytest.raises(InvalidArgumentsError, match=r"^the path is empty; name a folder with SKILL\.md$"):
        read_trigger_set("")
