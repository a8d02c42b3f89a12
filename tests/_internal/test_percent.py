from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.format.rules.body_rules import percent_decoded, percent_encoded


def test_decoding_happens_once_and_takes_only_hexadecimal_pairs() -> None:
    assert percent_decoded("a%20b%2Fc%252e%zz%") == "a b/c%2e%zz%"
    assert percent_decoded("%C3%A9%FF") == "é\ufffd"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decoding_undoes_encoding(path: str) -> None:
    encoded = percent_encoded(path)
    assert encoded.isascii()
    assert percent_decoded(encoded) == path
