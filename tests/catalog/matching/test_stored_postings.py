"""Postings in the index: the same answers without scanning, and none that are out of date."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog
from prowess._internal.files import file_mark
from prowess.catalog.matching import postings as postings_module
from prowess.cli.dispatch import run
from prowess.store.index_faults import BusyIndexError, UnusableIndexError
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_TEXT = """
csv report table column total chart log error trace cause server pdf form field print release note commit tag deploy
cluster pod image photo résumé 天气预报 translate letter café review contract clause naïve test coverage
"""
_WORDS = _TEXT.split()
_TASKS = (
    "totals of a csv table",
    "deploymnet of a clutser",
    "天气怎么样",
    "cafe reviews and résumés",
    "/skill-7 the log",
    "nothing fits here whatsoever zzz",
    "report",
    "error error server trace cause column chart print",
)


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been left alone for more than two seconds."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    draw = random.Random(3)
    for number in range(120):
        words = " ".join(draw.sample(_WORDS, 6))
        body = f"# Do it\n\n{' '.join(draw.sample(_WORDS, 9))}\n"
        write_skill(tmp_path / f"skill-{number}", description=f"Handle {words} number{number}.", body=body)
    assert run(["index", "--root", str(tmp_path), "--match", "--bodies"]) == 0
    return tmp_path


def _answers(catalog: Catalog, *, bodies: bool = False) -> list[object]:
    return [
        [(match.location, match.score, match.reasons) for match in catalog.match(task, 7, bodies=bodies)]
        for task in _TASKS
    ]


@pytest.mark.parametrize("bodies", [False, True])
def test_answers_are_the_same_and_no_skill_is_read_for_them(
    root: Path, *, bodies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _answers(Catalog(root, index=False), bodies=bodies)
    assert sum(map(bool, expected)) >= 4
    monkeypatch.setattr(postings_module, "terms", None)  # nothing is tokenised
    assert [_answers_of_a_new_catalog(root, task, bodies=bodies) for task in _TASKS] == expected


def _answers_of_a_new_catalog(root: Path, task: str, *, bodies: bool) -> object:
    catalog = Catalog(root)
    found = [(match.location, match.score, match.reasons) for match in catalog.match(task, 7, bodies=bodies)]
    assert catalog.last_scan is None
    return found


def test_a_process_that_asks_often_reads_the_skills_once(root: Path) -> None:
    catalog = Catalog(root)
    answers = [[(match.name, match.score) for match in catalog.match("totals of a csv table")] for _ in range(5)]
    assert answers == answers[:1] * 5
    assert catalog.last_scan is not None


def test_after_a_change_the_answer_is_that_of_the_disk(root: Path) -> None:
    write_skill(root / "skill-3", description="Sharpen skates.")
    write_skill(root / "added", description="Polish skates.")
    (root / "skill-4" / "SKILL.md").unlink()
    expected = _answers(Catalog(root, index=False))
    assert _answers(Catalog(root)) == expected
    assert [match.name for match in Catalog(root).match("skates")] == ["added", "skill-3"]
    assert _answers(Catalog(root)) == expected


def test_an_edit_of_a_skill_in_the_answer_is_noticed(root: Path) -> None:
    (match, *_) = Catalog(root).match("number5")
    assert match.name == "skill-5"
    path = root / "skill-5" / "SKILL.md"
    path.write_text(path.read_text().replace("number5", "number6"))
    assert [one.name for one in Catalog(root).match("number5")] == []


@pytest.mark.parametrize("extra", ["scope:\n  agents: [reviewer]\n", ""])
def test_no_postings_are_kept_if_others_see_other_skills(
    tmp_path: Path, extra: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write_skill(tmp_path / "a", description="Peel apples.", extra=extra)
    write_skill(tmp_path / "b", description="Peel pears.")
    assert run(["index", "--root", str(tmp_path), "--match"]) == 0
    assert ("words are not kept, because a skill is held back or has a scope" in capfd.readouterr().out) is bool(extra)
    seen = [match.name for match in Catalog(tmp_path, agent="reviewer").match("apples")]
    assert seen == ["a"]
    assert [match.name for match in Catalog(tmp_path).match("apples")] == ([] if extra else ["a"])


def test_patterns_of_names_hide_skills_from_stored_postings_too(root: Path) -> None:
    (match, *_) = Catalog(root).match("number5")
    hiding = Catalog(root, disabled=[match.name])
    assert match.name not in [one.name for one in hiding.match("number5", 50)]
    assert _answers(hiding) == _answers(Catalog(root, disabled=[match.name], index=False))


def test_damaged_postings_are_not_used(root: Path) -> None:
    catalog = Catalog(root)
    expected = _answers(Catalog(root, index=False))
    catalog.entries()
    assert catalog.index is not None
    file = catalog.index.file
    for kind in ("mword", "mgroup", "mknown", "mskill", "mhead"):
        rows = dict.fromkeys(file.extra_rows(kind), b"z no data")
        file.replace_extra({kind: rows})
        assert _answers(Catalog(root)) == expected, kind


def test_postings_of_two_states_of_the_file_are_not_mixed(root: Path) -> None:
    index = Catalog(root).index
    assert index is not None
    assert index.file.extra_rows("mhead")
    state = index.file.state
    assert index.file.extra_rows("mword", at=state)
    path = root / "skill-5" / "SKILL.md"
    path.write_text(path.read_text().replace("number5", "number6"))
    Catalog(root).entries()  # as another process: writes the changed row, and drops the postings
    with pytest.raises(BusyIndexError):
        index.file.extra_rows("mword", at=state)


def test_a_catalog_without_an_index_cannot_keep_postings(root: Path) -> None:
    with pytest.raises(UnusableIndexError):
        Catalog(root, index=False).rankings.store(bodies=False)
