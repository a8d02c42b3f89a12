"""What a docstring says about parameters, in three styles, and that other text is left alone."""

from __future__ import annotations

import pytest

from prowess.tools.functions.docstrings import parse_docstring

GOOGLE = """Search the files.

    Follows no links.

    Args:
        pattern: What to
            look for.
        path (str, optional): Where to look: a directory.
        *names, **more: Others.

    Returns:
        path: not a parameter.

    Raises:
        ValueError: never.
    """

NUMPY = """Search the files.

    Follows no links.

    Parameters
    ----------
    pattern : str
        What to
        look for.
    path : str, optional
        Where to look: a directory.
    *names, **more
        Others.

    Returns
    -------
    path : str
        Not a parameter.
    """

REST = """Search the files.

    Follows no links.

    :param pattern: What to
        look for.
    :param str path: Where to look: a directory.
    :param names: Others.
    :keyword more: Others.
    :returns: something
    :raises ValueError: never.
    """


@pytest.mark.parametrize("source", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_three_styles_say_the_same(source: str) -> None:
    found = parse_docstring(source)
    assert found.text == "Search the files.\n\nFollows no links."
    assert found.parameters == {
        "pattern": "What to look for.",
        "path": "Where to look: a directory.",
        "names": "Others.",
        "more": "Others.",
    }


@pytest.mark.parametrize("source", [None, "", "   \n  "])
def test_no_docstring_says_nothing(source: str | None) -> None:
    found = parse_docstring(source)
    assert (found.text, found.parameters) == ("", {})


def test_text_that_only_looks_like_a_section_stays() -> None:
    source = "Sum.\n\nNote well: it rounds.\n\nTotal\n--\n:not a field\nArgs: none"
    assert parse_docstring(source).text == source


def test_text_after_a_section_is_kept_and_an_empty_section_is_none() -> None:
    found = parse_docstring("One.\n\nArgs:\nTwo.\n\nParameters\n----------")
    assert (found.text, found.parameters) == ("One.\n\nTwo.", {})


def test_an_entry_of_several_paragraphs_is_one_line() -> None:
    found = parse_docstring("One.\n\nArgs:\n    a: First.\n\n        Second: more.\n    b: Last.\n")
    assert found.parameters == {"a": "First. Second: more.", "b": "Last."}
