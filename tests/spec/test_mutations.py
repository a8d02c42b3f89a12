"""The receipts are about the ids that were drawn, fit the code as it is, and can tell a good test from a weak one."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.spec import receipt_record
from tests.spec.manifest import requirements
from tests.spec.mutation_receipts import SURVIVED, Run, judged, receipts, run_tests
from tests.spec.mutations import BESIDE, DRAWN, PACKAGE, SEED, Mutation, drawn, mutations
from tests.spec.proofs import read_proofs
from tests.spec.receipt_record import CAUGHT, PAGE, ROOT, due, page, record, recorded

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unmeasured

MUTATIONS = mutations()
RUN_HERE = 3  # the others take minutes: `make receipts`


def test_the_seed_and_nobody_else_chooses_the_requirements() -> None:
    assert (SEED, DRAWN) == (1, 30)
    assert [mutation.id for mutation in MUTATIONS] == drawn()


def test_a_further_milestone_adds_requirements_and_changes_none_that_were_drawn() -> None:
    stands, runtime = drawn(frozenset({"stands"})), drawn(frozenset({"runtime"}))
    assert (len(stands), len(runtime)) == (DRAWN, DRAWN)
    assert drawn(frozenset({"runtime", "stands"})) == stands + runtime
    fewer = [item.id for item in requirements() if item.level == "must" and item.due == "safety"]
    assert len(fewer) < DRAWN
    assert sorted(drawn(frozenset({"safety"}))) == sorted(fewer)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.id)
def test_a_mutation_fits_the_code_and_changes_what_it_does(mutation: Mutation) -> None:
    assert mutation.file.startswith((f"{PACKAGE}/", *BESIDE))
    source = (ROOT / mutation.file).read_text(encoding="utf-8")
    assert mutation.applied(source) != source
    assert not mutation.file.endswith(".py") or ast.dump(ast.parse(mutation.applied(source))) != ast.dump(
        ast.parse(source)
    )


def test_each_test_declares_the_requirement_that_is_broken() -> None:
    tests_of = read_proofs(ROOT).tests_of()
    assert [mutation.id for mutation in MUTATIONS if mutation.test not in tests_of[mutation.id]] == []


def test_a_text_that_is_not_there_exactly_once_is_refused() -> None:
    mutation = MUTATIONS[0]
    for source in ("", mutation.before * 2):
        with pytest.raises(ValueError, match="not once"):
            mutation.applied(source)


def test_each_mutation_was_run_as_it_is_now_and_caught() -> None:
    runs = recorded()
    assert [mutation.id for mutation in due(runs, MUTATIONS)] == [], (
        "run `python -m tests.spec.mutation_receipts --due`"
    )
    assert {name: run.outcome for name, run in runs.items() if run.outcome != CAUGHT} == {}


def test_the_page_is_that_of_the_recorded_runs() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded(), MUTATIONS), "run `python -m tests.spec.receipt_record`"


def test_a_mutation_without_a_run_or_changed_after_it_is_due_and_not_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(receipt_record, "RECORD", tmp_path / "receipts.json")
    monkeypatch.setattr(receipt_record, "PAGE", tmp_path / "receipts.md")
    one, other = MUTATIONS[:2]
    record({one.id: CAUGHT}, [one, other])
    runs = recorded()
    assert list(runs) == [one.id]
    assert runs[one.id].date.count("-") == 2
    assert runs[one.id].version.startswith("0.")
    assert due(runs, [one, other]) == [other]
    assert due(runs, [replace(one, after="other text")]) == [replace(one, after="other text")]
    assert due(runs, [replace(one, file="src/prowess/moved.py")]) == []
    text = (tmp_path / "receipts.md").read_text()
    assert ("1 of 2 were caught" in text, text.count("| not run |")) == (True, 1)


def test_the_first_mutations_are_caught_and_one_that_changes_nothing_survives() -> None:
    nothing = replace(MUTATIONS[0], id="nothing", after=MUTATIONS[0].before)
    found = receipts([*MUTATIONS[:RUN_HERE], nothing])
    assert [(receipt.mutation.id, receipt.outcome) for receipt in found] == [
        *((mutation.id, CAUGHT) for mutation in MUTATIONS[:RUN_HERE]),
        ("nothing", SURVIVED),
    ]


def test_what_lies_beside_the_package_is_broken_in_a_tree_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = []

    def run(_tests: object, package: Path, _place: Path, *, tree: Path = ROOT) -> Run:
        trees.append((tree, (tree / "formal" / "Names.dfy").read_text(encoding="utf-8")))
        assert (package / "prowess").is_dir()
        return _run(0, passed=1) if tree == ROOT else _run(1, "assert 1 == 2")

    monkeypatch.setattr("tests.spec.mutation_receipts.run_tests", run)
    monkeypatch.setattr(Run, "passes", lambda *_: True)
    mutation = replace(
        MUTATIONS[0], file="formal/Names.dfy", before="const MAX_NAME_LENGTH := 64", after="const MAX_NAME_LENGTH := 65"
    )
    (found,) = receipts([mutation])
    assert found.outcome == CAUGHT
    (as_it_is, before), (copy, after) = trees
    assert (as_it_is == ROOT, copy == ROOT) == (True, False)
    assert ("LENGTH := 64" in before, "LENGTH := 65" in after) == (True, True)
    assert "LENGTH := 64" in (ROOT / "formal" / "Names.dfy").read_text(encoding="utf-8")


def test_a_test_that_does_not_pass_as_it_is_gives_no_receipt() -> None:
    (found,) = receipts([replace(MUTATIONS[0], test="tests/test_diagnostics.py::test_that_is_not_there")])
    assert found.outcome.startswith("the test does not pass as it is: ")


def test_a_run_that_imported_another_copy_is_not_believed(tmp_path: Path) -> None:
    run = run_tests([MUTATIONS[0].test], tmp_path / "empty", tmp_path / "run")
    assert (run.exit_code, run.passed) == (-1, ())
    assert judged(run) != SURVIVED


def _run(exit_code: int, *failures: str, passed: int = 0, errors: int = 0, skipped: int = 0) -> Run:
    return Run(
        exit_code=exit_code,
        passed=("x",) * passed,
        skipped=("x",) * skipped,
        failures=failures,
        errors=errors,
        output="the end",
    )


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (_run(0, passed=2), SURVIVED),
        (_run(1, "assert 1 == 2", passed=1), CAUGHT),
        (_run(1, "AssertionError"), CAUGHT),
        (_run(1, "Failed: DID NOT RAISE <class 'ValueError'>"), CAUGHT),
        (_run(1, "KeyError: 'x'"), "no assertion failed: KeyError: 'x'"),
        (_run(1, "assert 1 == 2", errors=1), "no assertion failed: assert 1 == 2"),
        (_run(2, errors=1), "no assertion failed: the end"),
        (_run(0, skipped=1), "no assertion failed: it was skipped"),
    ],
)
def test_only_a_failed_assertion_counts(run: Run, outcome: str) -> None:
    assert judged(run) == outcome
