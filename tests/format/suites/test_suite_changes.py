"""Changes between JSON values rebuild the second from the first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.format.suites.changes import ChangesDoNotFitError, apply, difference

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

KEYS = st.sampled_from(["a", "b", "c", "id"])
JSON: SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, "", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(JSON, JSON)
def test_the_changes_give_the_second_value_with_the_order_of_its_members(before: object, after: object) -> None:
    changes = json.loads(json.dumps(difference(before, after)))
    assert json.dumps(apply(changes, before)) == json.dumps(after)
    assert (changes == {}) == (json.dumps(before) == json.dumps(after))


def test_changes_that_were_made_for_other_data_are_refused() -> None:
    for changes in ({"set": [[["a", 3], 1]]}, {"unset": [["a"]]}, {"order": [[["b"], []]]}, {"set": 7}):
        with pytest.raises(ChangesDoNotFitError):
            apply(changes, {"c": []})
