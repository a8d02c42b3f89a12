"""The corpora of the benchmarks: generated skills have the statistics of public ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from benchmarks import corpora
from benchmarks.corpora import CorpusMissingError, public_corpus, write_corpus
from prowess import Catalog
from tools.corpus_statistics import PERCENTS, Statistics, read_statistics, statistics_of
from tools.public_skills import LIST, pinned, skill_directories

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unmeasured

COUNT = 1000
POINTS = 6.0  # percent of the skills that a share may differ by
BULK = [number for number, percent in enumerate(PERCENTS) if 20 <= percent <= 90]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    write_corpus(str(root), COUNT)
    return root


@pytest.fixture
def public_skills() -> Path:
    if not corpora.public_skills().is_dir():
        pytest.skip(
            "the public skills are not on this machine: python -m tools.public_skills build .cache/public-skills"
        )
    return corpora.public_skills()


@pytest.fixture(scope="module")
def generated(corpus: Path) -> Statistics:
    return statistics_of(sorted(corpus.iterdir()))


def test_generated_skills_have_the_features_of_public_skills_as_often(generated: Statistics) -> None:
    public = read_statistics()
    names = public.shares.keys() | generated.shares.keys()
    differing = {
        name: (generated.shares.get(name, 0.0), public.shares.get(name, 0.0))
        for name in names
        if abs(generated.shares.get(name, 0.0) - public.shares.get(name, 0.0)) > POINTS
    }
    assert differing == {}


@pytest.mark.parametrize("name", sorted(read_statistics().quantiles))
def test_generated_skills_have_the_lengths_and_counts_of_public_skills(generated: Statistics, name: str) -> None:
    ours, public = generated.quantiles[name], read_statistics().quantiles[name]
    for number in BULK:
        assert ours[number] == pytest.approx(public[number], rel=0.25, abs=2), f"{PERCENTS[number]} % of {name}"


def test_every_generated_skill_is_listed(corpus: Path) -> None:
    assert len(Catalog(str(corpus)).entries()) == COUNT


def test_plain_generated_skills_cause_no_warning(tmp_path: Path) -> None:
    write_corpus(str(tmp_path), 200, files=False, plain=True)
    catalog = Catalog(str(tmp_path))
    assert len(catalog.entries()) == 200
    assert catalog.diagnostics == ()


def test_the_same_seed_writes_the_same_skills(corpus: Path, tmp_path: Path) -> None:
    write_corpus(str(tmp_path), 5)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (corpus / path.relative_to(tmp_path)).read_bytes()


def test_the_statistics_are_those_of_all_pinned_public_skills() -> None:
    assert read_statistics().skills == sum(len(source.skills) for source in pinned(LIST))


def test_the_statistics_are_measured_from_public_skills(public_skills: Path) -> None:
    measured = statistics_of(skill_directories(public_skills, pinned()))
    stated = read_statistics()
    assert measured.quantiles == {name: list(values) for name, values in stated.quantiles.items()}
    assert {name: measured.shares[name] for name in stated.shares} == stated.shares


def test_public_skills_are_copied_flat_each_with_its_folder_name(public_skills: Path, tmp_path: Path) -> None:
    assert public_corpus(str(tmp_path), 20, public_skills) == 20
    assert len([name for name in os.listdir(tmp_path) if (tmp_path / name / "SKILL.md").is_file()]) > 15


def test_absent_public_skills_are_reported_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match=r"run python -m tools\.public_skills build"):
        public_corpus(str(tmp_path / "new"), 20, tmp_path / "absent")
