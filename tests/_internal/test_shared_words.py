"""Words that tell texts apart."""

from __future__ import annotations

from prowess._internal.text.shared_words import scores, words


def test_words_are_folded_and_common_ones_left_out() -> None:
    assert words("The REGIONS of \uff23\uff33\uff36 is gas") == ["region", "csv", "gas"]


def test_a_rare_word_counts_more_and_repeating_one_gains_little() -> None:
    common, rare, repeated, other = scores("rows of a table", ["table", "rows table", "table " * 50, "nothing"])
    assert rare > common > other == 0
    assert repeated == 3 * common


def test_the_same_words_in_another_order_rate_alike() -> None:
    assert scores("b a c", ["a b c", "a"]) == scores("c b a", ["c a b", "a"])
