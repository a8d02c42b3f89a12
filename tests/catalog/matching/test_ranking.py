"""Leaving out what cannot be among the best matches does not change them."""

from __future__ import annotations

import random

import pytest

from prowess.catalog.matching import ranking
from prowess.catalog.matching.postings import Postings
from prowess.catalog.matching.ranking import Asked, best
from prowess.catalog.matching.trigrams import edits, most_alike


@pytest.mark.parametrize("seed", range(8))
def test_the_best_items_are_those_of_a_complete_ranking(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_MANY", 5)
    monkeypatch.setattr(ranking, "_FEW", 10)
    draw = random.Random(seed)
    words = [f"word{number:02}" for number in range(40)]
    chances = [1 / (1 + number) for number in range(40)]
    texts = [" ".join(draw.choices(words, chances, k=8)) for _ in range(300)]
    postings = Postings[int](lambda item: [("description", texts[item])])
    postings.follow(range(300))
    for _ in range(30):
        asked = Asked(" ".join(draw.choices(words, k=5)), postings)
        among = frozenset(draw.sample(range(300), 40)) if draw.random() < 0.5 else None
        whole = asked.evidence()
        if among is not None:
            whole = {number: value for number, value in whole.items() if number in among}
        for limit in (1, 5, 50):
            found = best(asked.evidence(limit, among), limit, lambda number: (str(number),))
            expected = best(whole, limit, lambda number: (str(number),))
            assert [number for number, _ in found] == [number for number, _ in expected]
            assert [value for _, value in found] == pytest.approx([value for _, value in expected])


@pytest.mark.parametrize(
    ("word", "other", "changes"),
    [
        ("form", "form", 0),
        ("form", "from", 1),
        ("deploymnet", "deployment", 1),
        ("kubernets", "kubernetes", 1),
        ("abc", "xyz", 3),
        ("ca", "abc", 3),
        ("résumé", "resume", 2),
        ("a", "abcdef", 5),
    ],
)
def test_edits_are_counted_with_exchanged_neighbours_as_one(word: str, other: str, changes: int) -> None:
    assert edits(word, other) == edits(other, word) == changes


def test_the_most_alike_words_come_first_and_different_ones_not_at_all() -> None:
    known = ["deploy", "deployment", "development", "employment", "zebra"]
    assert [word for word, _ in most_alike("deploymnet", known)][:1] == ["deployment"]
    assert most_alike("quartz", known) == []
    assert [word for word, _ in most_alike("kube", ["kubernetes", "cube"])] == ["kubernetes"]
    assert [word for word, _ in most_alike("organizzazione", ["organic", "organize", "organ"])] == ["organize"]
