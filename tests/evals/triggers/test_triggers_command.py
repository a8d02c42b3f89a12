"""`prowess eval triggers`: the estimate, several skills together, gates, and faults."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.ledger.caps import Spent
from prowess.evals.triggers.report import SkillTriggers, TriggerReport
from prowess.evals.triggers.rows import QueryRuns, count_rows, trigger_gates
from prowess.evals.triggers.trigger_set import TriggerQuery
from tests.evals.triggers.planted import make_triggered
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

SUMS = [("sum the rows of a csv file", True), ("put it all together", True), ("book a flight", False)]
BILLS = [("write a bill for Miller", True), ("sum the rows for a customer", True), ("sing", False)]


def triggers(folder: Path, *words: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [prowess(), "eval", "triggers", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    make_triggered(tmp_path, "sums", "Sums rows of csv files.", SUMS)
    make_triggered(tmp_path, "bills", "Writes bills. Use for customers.", BILLS)
    return tmp_path


@pytest.mark.proves("evals.trigger.result")
def test_an_estimate_has_the_rows_of_the_guide_and_writes_nothing(skills: Path) -> None:
    before = sorted(skills.rglob("*"))
    code, text, _ = triggers(skills, "sums", "--host", "match", "--json")
    found: dict[str, Any] = json.loads(text)
    assert (code, found["skill"], found["estimate"], found["complete"]) == (0, "sums", True, True)
    assert list(found["results"][0])[:6] == ["query", "should_trigger", "triggers", "runs", "trigger_rate", "pass"]
    assert [(row["triggers"], row["pass"]) for row in found["results"]] == [(1, True), (0, False), (0, True)]
    assert {row["split"] for row in found["results"]} == {"train", "validation"}
    assert (found["summary"]["passed"], found["summary"]["failed"]) == (2, 1)
    assert sorted(skills.rglob("*")) == before


def test_workers_for_an_estimate_are_refused_before_they_are_looked_for(skills: Path) -> None:
    code, _, notes = triggers(skills, "sums", "--host", "match", "--on", "tcp://127.0.0.1:1")
    assert (code, "leave --on out" in notes) == (2, True)


def test_the_text_tells_that_it_is_an_estimate_and_what_failed(skills: Path) -> None:
    code, text, notes = triggers(skills, "sums", "--host", "match")
    assert code == 0
    assert notes.startswith("an estimate: words alone chose the skills, and no model was asked\n")
    assert "sums: 2 of 3 requests as wanted\n" in text
    assert "  failed: should trigger, did in 0 of 1 run: put it all together\n" in text


def test_together_shows_who_answers_and_by_which_words(skills: Path) -> None:
    code, text, _ = triggers(skills, "sums", "bills", "--together", "--host", "match", "--json")
    found: dict[str, Any] = json.loads(text)
    assert code == 0
    assert [row["skill"] for row in found["skills"]] == ["sums", "bills"]
    assert found["matrix"][1] == {
        "skill": "bills", "requests": 2, "runs": 2, "answers": {"sums": 1, "bills": 1}, "nobody": 0,
    }  # fmt: skip
    (shadow,) = found["shadows"]
    assert (shadow["skill"], shadow["shadowed_by"], shadow["lost"], shadow["mutual"]) == ("bills", "sums", 1, False)
    assert set(shadow["words"]) == {"sums", "rows"}
    text = triggers(skills, "sums", "bills", "--together", "--host", "match")[1]
    assert "sums answers 1 of 2 requests for bills; words: " in text


def test_a_neighbour_takes_requests_and_has_no_rows(skills: Path) -> None:
    alone = json.loads(triggers(skills, "bills", "--host", "match", "--json")[1])
    beside = json.loads(triggers(skills, "bills", "--with", "sums", "--host", "match", "--json")[1])
    assert [row["query"] for row in beside["results"]] == [row["query"] for row in alone["results"]]
    assert "skills" not in beside


def test_gates_that_are_named_decide_about_the_exit(skills: Path) -> None:
    for rate, code, end in (("0.6", 0, "passed"), ("0.7", 1, "failed")):
        ended, text, _ = triggers(skills, "sums", "--host", "match", "--min-pass-rate", rate)
        assert ended == code
        assert f"gate min_pass_rate {rate}: 0.667, {end}\n" in text
    ended, text, _ = triggers(skills, "sums", "--host", "match", "--min-pass-rate", "0.7", "--json")
    assert (ended, [gate["passed"] for gate in json.loads(text)["gates"]]) == (1, [False])
    assert triggers(skills, "sums", "--host", "match", "--min-consistency", "0.9")[0] == 0


def test_a_rate_that_is_exactly_the_gate_holds(tmp_path: Path) -> None:
    wanted = [(f"sum the rows of table {number}", True) for number in range(14)]
    missed = [(f"paint a picture {number}", True) for number in range(11)]
    make_triggered(tmp_path, "sums", "Sums rows of csv files.", wanted + missed)
    for rate, code in (("0.56", 0), ("0.5601", 1)):
        assert triggers(tmp_path, "sums", "--host", "match", "--min-pass-rate", rate)[0] == code


def test_a_request_that_a_cap_left_without_a_result_is_no_pass() -> None:
    done, capped = (QueryRuns(TriggerQuery(query=text, should_trigger=True), 3) for text in ("sum", "add"))
    for runs, number in ((done, 2), (capped, 1)):
        for _ in range(number):
            runs.add("triggered")
    rows = (done.row("train", curtailed=True), capped.row("train", curtailed=False))
    assert [row.passed for row in rows] == [True, None]
    skill = SkillTriggers(skill="sums", description="Sums.", results=rows, summary=count_rows(rows))
    report = TriggerReport(
        complete=False, stopped="call_cap", estimate=False, model=None, host="prowess", seed=0, runs=3,
        consistency=None, spent=Spent(), skills=(skill,),
    )  # fmt: skip
    for rate, passed in ((0.5, True), (0.51, False)):
        (gate,) = trigger_gates(rows, min_pass_rate=rate, min_consistency=None)
        assert (gate.value, gate.passed) == (0.5, passed)
    never = QueryRuns(TriggerQuery(query="never run", should_trigger=True), 3).row("train", curtailed=False)
    (steady,) = trigger_gates((*rows, never), min_pass_rate=None, min_consistency=0.9)
    assert steady.passed
    failing = QueryRuns(TriggerQuery(query="fails", should_trigger=True), 1)
    failing.add("error")
    (unknown,) = trigger_gates((*rows, failing.row("train", curtailed=False)), min_pass_rate=None, min_consistency=0.9)
    assert (unknown.value, unknown.passed) == (None, False)
    assert not report.passed


def test_together_takes_a_folder_of_skills_and_installs_those_without_a_set_too(skills: Path) -> None:
    plain = make_triggered(skills, "totals", "Put it all together.", [])
    shutil.rmtree(f"{plain}/evals")
    make_triggered(skills / "sums-workspace" / "iteration-1" / "skill" / "with_skill", "sums", "A snapshot.", SUMS)
    code, text, errors = triggers(skills, ".", "--together", "--host", "match", "--json")
    found: dict[str, Any] = json.loads(text)
    assert (code, errors) == (0, "")
    assert [row["skill"] for row in found["skills"]] == ["bills", "sums"]
    sums = found["skills"][1]["results"]
    assert [row["triggers"] for row in sums] == [1, 0, 0]  # "put it all together" is for the third skill
    code, _, errors = triggers(skills, "sums-workspace", "--together", "--host", "match")
    assert (code, "sums-workspace has no skill; name skills, or a folder of skills" in errors) == (2, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("sums", "bills"), "name one skill, or add --together"),
        (("sums", "--together"), "--together needs at least two skills"),
        (("sums", "sums", "--together"), "two skills are called 'sums'"),
        (("sums", "--with", "sums"), "two skills are called 'sums'"),
        (("sums", "--with", "nowhere"), "--with nowhere: "),
        (("nowhere",), "nowhere is no skill: it has no SKILL.md; name a folder with one"),
        (("sums", "--set", "nowhere.json"), "nowhere.json cannot be read: No such file or directory"),
        (("sums", "bills", "--together", "--set", "x.json"), "--set names the set of one skill"),
    ],
)
def test_a_fault_is_one_sentence(skills: Path, words: tuple[str, ...], reason: str) -> None:
    code, text, errors = triggers(skills, *words, "--host", "match")
    assert (code, text, errors.count("\n")) == (2, "", 1)
    assert reason in errors
