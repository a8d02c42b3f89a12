"""Redaction of secrets in long texts of words with hyphens, which a skill can print."""

from __future__ import annotations

import pytest

from prowess._internal.text.secret_patterns import REDACTED, redacted, redacted_words


@pytest.mark.parametrize("text", ["eyJ-" * 60_000, "sk-" * 80_000 + "T3BlbkFJ", "a-" * 120_000, "token-" * 40_000])
def test_a_text_of_many_hyphens_is_read_once(text: str) -> None:
    """The time for each of these was in proportion to the square of its length, or long: half a minute and more."""
    assert redacted(text) == text


def test_tokens_and_named_values_are_still_hidden() -> None:
    token = "eyJ" + "a" * 10 + ".eyJ" + "b" * 10 + "." + "c" * 10
    assert redacted(f"({token}) my-api-key=hunter22") == f"({REDACTED}) my-api-key={REDACTED}"


@pytest.mark.parametrize(
    "text",
    [
        "AUTHORIZATION: Basic {}",
        "Authorization: Bearer {}",
        "authorization={}",
        "HTTP_AUTHORIZATION=Basic {}",
        "Proxy-Authorization: Digest username=ann, response={}",
        '{{"headers": {{"Authorization": "Basic {}"}}}}',
        "Set-Cookie: session={}; HttpOnly",
        "SECRET_KEY={}",
        "SECRET_KEY_BASE: {}",
        "DJANGO_SECRET_KEY = '{}'",
        "PASSWORD1={}",
        "db_password_2={}",
        "DB_PASS={}",
        "MYSQL_PWD={}",
        "secretKey: {}",
        "TOKEN_PROD={}",
        'PASSWORD="first {}"',
        '{{\\"password\\": \\"{}\\"}}',
        "postgresql://ann:{}@db/x",
    ],
)
def test_a_value_that_its_name_marks_as_secret_is_hidden(text: str) -> None:
    shown = redacted(f"before\n{text.format('hunter22')}\nafter")
    assert "hunter22" not in shown
    assert shown.startswith("before\n")
    assert shown.endswith("\nafter")
    assert REDACTED in shown


@pytest.mark.parametrize("flag", ["--password", "--secret-key", "--api-key2", "-token"])
def test_the_word_after_an_option_is_hidden(flag: str) -> None:
    assert redacted_words(["run", flag, "hunter22", "on"]) == ["run", flag, REDACTED, "on"]


@pytest.mark.parametrize(
    "text", ["tokens: 1500", "PWD=/home/ann", "PASS: 12 tests", "the secret is kept", "author: ann", "key=value1"]
)
def test_other_texts_stay(text: str) -> None:
    assert redacted(text) == text
