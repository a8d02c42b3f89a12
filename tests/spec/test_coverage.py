"""The manifest and the tests, compared in both directions; and the comparison, compared with what it must find."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spec.manifest import LEVELS, MILESTONES, Requirement, reached_milestones, requirements
from tests.spec.proofs import compare, read_proofs, read_source

if TYPE_CHECKING:
    from tests.spec.proofs import Reading

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).parents[2]


def test_tests_and_manifest_agree() -> None:
    disagreements = compare(requirements(), read_proofs(ROOT), reached_milestones())
    if disagreements:
        pytest.fail(f"{len(disagreements)} disagreements\n" + "\n".join(disagreements), pytrace=False)


def test_every_requirement_is_well_formed() -> None:
    known = requirements()
    assert len(known) > 700
    assert [identity for identity, count in Counter(item.id for item in known).items() if count > 1] == []
    for item in known:
        assert item.level in LEVELS, item.id
        assert item.due in MILESTONES, item.id
        assert item.id.split(".")[0] == item.file, item.id
        assert item.sources or item.decision, item.id
        assert item.text.endswith("."), item.id


def test_only_known_milestones_are_reached() -> None:
    assert reached_milestones() <= set(MILESTONES)


def _requirement(identity: str, *, level: str = "must", due: str = "stands") -> Requirement:
    return Requirement(
        id=identity, level=level, text="It holds.", sources=(), room="format", due=due, decision=None, file="a"
    )


def _disagreements(source: str, *known: Requirement) -> list[str]:
    return compare(known, read_source(source, "tests/test_x.py"), frozenset({"stands"}))


def _read(source: str) -> Reading:
    return read_source(source, "tests/test_x.py")


def test_an_id_that_is_not_in_the_manifest_is_found() -> None:
    source = '@pytest.mark.proves("a.no")\ndef test_it(): ...\n'
    assert _disagreements(source) == ["tests/test_x.py::test_it names a.no, which is not in the manifest"]


def test_a_must_that_is_due_and_unproved_is_found() -> None:
    source = '@pytest.mark.proves("a.one")\ndef test_it(): ...\n'
    assert _disagreements(source, _requirement("a.one"), _requirement("a.two")) == [
        "no test proves a.two (format): It holds."
    ]


def test_what_is_not_due_or_no_must_may_stay_open() -> None:
    assert _disagreements("", _requirement("a.one", level="should"), _requirement("a.two", due="evals")) == []


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.proves("1", "2", "3", "4", "5", "6")\ndef test_it(): ...\n',
        '@pytest.mark.proves("1", "2", "3")\n@pytest.mark.proves("4", "5", "6")\nasync def test_it(): ...\n',
        'CASES = [pytest.param(1, marks=pytest.mark.proves("1", "2", "3", "4", "5", "6"))]\n',
    ],
    ids=["one mark", "two marks", "a parameter"],
)
def test_six_ids_on_one_test_are_found(source: str) -> None:
    (fault,) = _read(source).faults
    assert "claims 6 ids" in fault


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ('@pytest.mark.proves("a")\ndef test_it(): ...\n', "tests/test_x.py::test_it"),
        ('@pytest.mark.anyio\n@pytest.mark.proves("a")\nasync def test_it(): ...\n', "tests/test_x.py::test_it"),
        ('class TestIt:\n  @pytest.mark.proves("a")\n  def test_it(self): ...\n', "tests/test_x.py::TestIt::test_it"),
        ('pytestmark = [pytest.mark.anyio, pytest.mark.proves("a")]\n', "tests/test_x.py"),
        (
            '@pytest.mark.parametrize("x", [pytest.param(1, marks=[pytest.mark.proves("a")])])\ndef test_it(x): ...\n',
            "tests/test_x.py::test_it",
        ),
    ],
    ids=["function", "coroutine", "method", "file", "parameter"],
)
def test_every_writing_of_the_mark_counts(source: str, test: str) -> None:
    reading = _read(source)
    assert reading.faults == ()
    assert reading.tests_of() == {"a": [test]}


def test_ids_that_are_not_literal_are_found() -> None:
    assert len(_read("@pytest.mark.proves(*IDS)\ndef test_it(): ...\n").faults) == 1
    assert len(_read("@pytest.mark.proves()\ndef test_it(): ...\n").faults) == 1


def test_a_mark_on_what_is_no_test_is_found() -> None:
    (fault,) = _read('@pytest.mark.proves("a")\ndef make_it(): ...\n').faults
    assert "is no test" in fault


def test_a_test_that_is_always_skipped_proves_nothing() -> None:
    assert _read('@pytest.mark.skip(reason="later")\n@pytest.mark.proves("a")\ndef test_it(): ...\n').proofs == ()
