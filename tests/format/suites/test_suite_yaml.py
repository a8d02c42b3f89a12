"""YAML is read as typed data, and data written as YAML reads back the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.format.suites.suite import UnreadableTextError
from prowess.format.suites.yaml_text import YamlText, yaml_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "a\nb",
        "a\n\nb\n",
        " a\nb",
        "a \nb",
        "yes",
        "null",
        "1",
        "- a",
        "a: b",
        "#",
        "~",
        "a\n",
        "\n",
        "1e5",
        "a b ",
        "0x1F",
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(TEXTS, JSON, max_size=3))
def test_written_data_reads_back_the_same(data: dict[str, object]) -> None:
    assert json.dumps(YamlText.parse(yaml_of(data)).value) == json.dumps(data)


def test_scalars_have_the_types_of_the_core_schema() -> None:
    read = YamlText.parse("a: 1\nb: 1.5\nc: yes\nd: 'true'\ne: true\nf:\ng: ~\nh: 007\ni: 1e400\n").value
    assert read == {"a": 1, "b": 1.5, "c": "yes", "d": "true", "e": True, "f": None, "g": None, "h": 7, "i": "1e400"}


def test_what_hides_data_is_refused_with_its_place() -> None:
    for text in ("a: &x 1\nb: *x\n", "a: !!python/name:os.system x\n", "a: [\n"):
        with pytest.raises(UnreadableTextError) as caught:
            YamlText.parse(text)
        assert caught.value.offset >= 0
