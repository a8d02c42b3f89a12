"""Redaction of secrets in long texts of words with hyphens, which a skill can print."""

from __future__ import annotations

import pytest

from prowess._internal.text.secret_patterns import REDACTED, redacted


@pytest.mark.parametrize("text", ["eyJ-" * 60_000, "sk-" * 80_000 + "T3BlbkFJ", "a-" * 120_000])
def test_a_text_of_many_hyphens_is_read_once(text: str) -> None:
    """The time for each of these was in proportion to the square of its length, or long: half a minute and more."""
    assert redacted(text) == text


def test_tokens_and_named_values_are_still_hidden() -> None:
    token = "eyJ" + "a" * 10 + ".eyJ" + "b" * 10 + "." + "c" * 10
    assert redacted(f"({token}) my-api-key=hunter22") == f"({REDACTED}) my-api-key={REDACTED}"
