"""The words of docstrings and comments stay within the limits of `tools.word_counts`."""

from __future__ import annotations

import pytest

from tools.word_counts import count, prose_of, prose_of_source

pytestmark = pytest.mark.unmeasured

_PRIVATE = '''
"""None where nothing is known. What stands here says what whoever asks may do, in that which lies below.

    Where = "nothing"::

Example:
    where where where
"""

x = 1  # noqa: E741 -- nobody says where
# `where` in code does not count.
'''


def test_the_source_is_written_in_plain_words() -> None:
    """`python -m tools.word_counts --places` prints the sentences to rewrite."""
    counts = count([text for texts in prose_of_source().values() for text in texts])
    assert counts.words > 40_000, "docstrings and comments were deleted, not rewritten"
    assert counts.faults() == []


def test_prose_is_counted_and_code_is_left_out() -> None:
    counts = count(list(prose_of(_PRIVATE)))
    hits = {name: round(rate * counts.words / 1000) for name, rate in counts.per_thousand.items() if rate}
    assert hits == {"where": 3, "what": 2, "say": 2, "nothing": 2, "stands": 4, "that which": 1}


def test_each_count_outside_its_limit_is_a_fault() -> None:
    faults = count(list(prose_of(_PRIVATE))).faults()
    for word in ("where", "what", "say", "nothing", "stands", "that which", "if"):
        assert any(fault.startswith(f"'{word}'") for fault in faults), word


def test_plain_text_has_no_faults() -> None:
    assert count(["Return the matched files, or None if no file matches."] * 3).faults() == []
