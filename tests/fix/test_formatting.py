from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.fix import formatting
from prowess.fix.formatting import Formatted, format_source
from prowess.format import parse_document
from tests.conformance.format_cases import lay_out, parameters

if TYPE_CHECKING:
    from pathlib import Path


def formatted(text: str) -> str:
    result = format_source(text.encode())
    assert result.reason is None
    return result.data.decode()


def test_layout_is_even_and_everything_else_is_the_authors() -> None:
    text = (
        "\ufeff---  \r\n# first\r\nname:   'a'   # why\r\ndescription: >-\r\n     One\r\n     two\r\n\r\n"
        "metadata:\r\n    version: 1.0\r\n    on: 007\r\n    day: 2026-01-02\r\n    no: ~\r\n"
        'license: "MIT"\r\ntags:\r\n- x\r\n-   y\r\nmap: {a: 1}\r\nempty:\r\n---\r\n\r\n Body  \r\n\r\n\r\n'
    )
    assert formatted(text) == (
        "---\n# first\nname: 'a'     # why\ndescription: >-\n  One\n  two\n\n"
        "metadata:\n  version: 1.0\n  on: 007\n  day: 2026-01-02\n  no: ~\n"
        'license: "MIT"\ntags:\n  - x\n  - y\nmap: {a: 1}\nempty:\n---\n\n Body  \n'
    )


@pytest.mark.parametrize("text", ["---\n---\n", "---\n# nothing\n---\nBody\n", "---\nname: a\n---\n"])
def test_what_is_even_stays(text: str) -> None:
    assert formatted(text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name: a\n", "frontmatter.missing"),
        ("---\nname: a: b\n---\n", "frontmatter.syntax"),
        ("---\nname: a\nname: b\n---\n", "frontmatter.duplicateKey"),
        ("\n---\nname: a\n---\n", "frontmatter.notFirst"),
        ("---\nname: &a b\n---\n", "frontmatter.syntax"),
        ("---\nname: a\n---\n\0", "encoding.nul"),
    ],
)
def test_what_is_wrong_is_left_as_it_is(text: str, reason: str) -> None:
    result = format_source(text.encode())
    assert result.data == text.encode()
    assert reason in str(result.reason)


def test_a_line_end_of_yaml_that_is_none_for_us_is_not_normalised() -> None:
    text = "---\nname: a\ndescription: x\u2028allowed-tools: Bash\n---\n"
    result = format_source(text.encode())
    assert parse_document(result.data).mapping() == parse_document(text).mapping()
    if result.reason is None:
        assert "\u2028" in result.data.decode()


def test_a_library_that_changes_a_value_or_fails_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"---\nname:  a # c\n---\n"
    for wrong in ("name: b # c\n", "name: 'a' # c\n", "name: a\n", "- a\n"):
        monkeypatch.setattr(formatting, "_round_trip", lambda _, wrong=wrong: wrong)
        assert format_source(text) == Formatted(data=text, reason="formatting it would change values or comments")

    def fails(_: str) -> str:
        raise AssertionError

    monkeypatch.setattr(formatting, "_round_trip", fails)
    assert format_source(text).reason is not None

    def missing(_: str) -> str:
        raise ModuleNotFoundError

    monkeypatch.setattr(formatting, "_round_trip", missing)
    with pytest.raises(ImportError):
        format_source(text)


def promise_is_kept(data: bytes) -> None:
    result = format_source(data)
    before, after = parse_document(data), parse_document(result.data)
    assert list(before.mapping().items()) == list(after.mapping().items())
    assert before.body.rstrip("\n") == after.body.rstrip("\n")
    if result.reason is not None:
        assert result.data == data
        return
    assert b"\r" not in result.data
    assert result.data.endswith(b"\n")
    assert format_source(result.data) == Formatted(data=result.data)


_SCALARS = st.sampled_from(
    [
        "x", "1.0", "on", "~", "null", "007", "0x1F", "1_000", "2026-01-02", "12:30", "'it''s'", '"a\\tb"', "a # b",
        "a#b", "", "é\u2028x", "|\n  a\n   b\n", ">\n  f\n\n  g\n", "|-\n  k", ">+\n  k\n\n", "[a,  b ,c]", "{a:  1}",
        "\n  k:   v # c\n  # d", "\n- a\n-   b", "\n    - a: 1\n      b: 2", "a\n  b", '"long \\\n  fold"', "- x", "!x",
        "\U0001f600", "%a", "@a", "=", "<<", "\\",
    ]
)  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from(["name", "b", "c c", "'q'", "1", "é", "#"]), _SCALARS), max_size=6),
    st.sampled_from([":", ":  ", ": "]),
    st.sampled_from(["", "Body", "\n\nBody  \n\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_formatting_changes_no_value_and_is_done_once(
    entries: list[tuple[str, str]], colon: str, body: str, line_break: str
) -> None:
    text = "---\n" + "".join(f"{key}{colon}{' ' * (colon == ':')}{value}\n" for key, value in entries) + f"---\n{body}"
    promise_is_kept(text.replace("\n", line_break).encode())


@pytest.mark.parametrize("case", parameters("files"))
def test_the_cases_of_conformance_keep_their_values(case: dict[str, Any], tmp_path: Path) -> None:
    for path in lay_out(case, tmp_path).glob("[Ss][Kk][Ii][Ll][Ll].md"):
        if path.is_file() and not path.is_symlink():
            promise_is_kept(path.read_bytes())
