"""The pairs by which matching is judged are well-formed, drawn as stated, and name skills of the public corpus."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from benchmarks import corpora
from benchmarks.matching_pairs import SKILLS, Half, Pair, folder_of, halves, read_pairs
from prowess import Catalog
from tools.public_skills import pinned

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unmeasured

HALVES: tuple[Half, ...] = ("tuning", "held-out")
PAIRS = [pair for half in HALVES for pair in read_pairs(half)]
FURTHER = read_pairs("further")


def test_there_are_enough_pairs_of_each_kind() -> None:
    count = Counter(pair.kind for pair in PAIRS)
    others = sum(count[kind] for kind in ("paraphrase", "typo", "symptom", "language"))
    assert count["own words"] + others >= 160
    assert others * 3 >= count["own words"] + others
    assert count["none"] >= 45


def test_no_request_is_written_twice() -> None:
    assert [
        task for task, number in Counter(pair.task.lower() for pair in (*PAIRS, *FURTHER)).items() if number > 1
    ] == []


@pytest.mark.parametrize("pair", [*PAIRS, *FURTHER], ids=lambda pair: pair.task)
def test_a_pair_names_its_right_skills_unless_no_skill_serves_it(pair: Pair) -> None:
    assert pair.task.strip() == pair.task != ""
    assert bool(pair.right) == (pair.kind != "none")
    assert sorted(set(pair.right)) == pair.right


@pytest.mark.parametrize("half", HALVES)
def test_the_halves_are_those_of_the_stated_draw(half: Half) -> None:
    assert read_pairs(half) == halves(PAIRS)[half]


def test_all_right_skills_are_pinned() -> None:
    paths = {f"{source.folder}/{path}" for source in pinned() for path in source.skills}
    assert {path for pair in (*PAIRS, *FURTHER) for path in pair.right} - paths == set()


@pytest.mark.parametrize("further", [False, True])
def test_all_right_skills_are_listed_in_the_corpus(tmp_path: Path, *, further: bool) -> None:
    if not corpora.public_skills().is_dir():
        pytest.skip(
            "the public skills are not on this machine: python -m tools.public_skills build .cache/public-skills"
        )
    before, pairs = (SKILLS, FURTHER) if further else (0, PAIRS)
    assert corpora.public_corpus(str(tmp_path), SKILLS, after=before) > SKILLS / 2
    listed = {os.path.basename(entry.root_dir) for entry in Catalog(str(tmp_path)).entries()}
    right = {path for pair in pairs for path in pair.right}
    assert {path for path in right if folder_of(path) not in listed} == set()
    for path in right:
        copied = (tmp_path / folder_of(path) / "SKILL.md").read_bytes()
        assert copied == (corpora.public_skills() / path / "SKILL.md").read_bytes()
