from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime.activation.substitution import Replacement, Values, substituted, words

WHERE = Values(skill_dir="/skills/a", session_id="s-1")


def _with(args: str | None, *declared: str, **defaults: str) -> Values:
    names = dict.fromkeys(declared) | defaults
    return Values(skill_dir="/skills/a", session_id="s-1", args=args, declared=names)


@pytest.mark.proves("runtime.activate.substitution")
def test_a_value_is_never_expanded_again() -> None:
    values = _with("$2 ${SKILL_DIR} $ARGUMENTS", "first")
    assert substituted("<$1> <$2> <$first> [$ARGUMENTS]", values) == (
        "<$2> <${SKILL_DIR}> <$2> [$2 ${SKILL_DIR} $ARGUMENTS]"
    )


@pytest.mark.proves("runtime.activate.substitution.rest")
@pytest.mark.parametrize(
    "text",
    [
        "echo $USER ${HOME} $(date) $? $# $@ $$",
        r"costs \$ARGUMENTS and \$1 and \${SKILL_DIR}",
        "$0 ${1} ${ARGUMENTS} $ARGUMENTS_LIST $arguments $SKILL_DIR $SESSION_ID ${skill_dir}",
        "$01 $$1 $4 $1000000 ${unknown} $unknown {1} %1",
        "$firstly ${first",
    ],
)
def test_shell_variables_escaped_dollars_and_unknown_placeholders_stay(text: str) -> None:
    assert substituted(text, _with("a b c", "first")) == text


@pytest.mark.proves("runtime.activate.substitution.rest")
def test_the_brace_after_a_placeholder_is_text() -> None:
    assert substituted("{$ARGUMENTS} ${$1}", _with("x")) == "{x} ${x}"


def test_arguments_are_replaced_only_where_there_are_some() -> None:
    assert substituted("$ARGUMENTS $1 in ${SKILL_DIR} of ${SESSION_ID}", WHERE) == "$ARGUMENTS $1 in /skills/a of s-1"
    assert substituted("[$ARGUMENTS] [$1]", _with("")) == "[] [$1]"


def test_a_declared_name_is_the_word_at_its_position() -> None:
    values = _with("42 main", "issue", "branch", "missing", "issue-kind")
    assert substituted("$issue/${branch} $missing $issue2", values) == "42/main $missing $issue2"
    assert substituted("$issue ${branch}", _with("", "issue", branch="main $issue")) == "$issue main $issue"
    assert substituted("$issue ${branch}", _with(None, "issue", branch="main")) == "$issue ${branch}"


@pytest.mark.parametrize(
    ("args", "split"),
    [
        ('a "b c" d', ("a", "b c", "d")),
        (r"C:\temp\x 'it is'", (r"C:\temp\x", "it is")),
        ("it's # fine", ("it's", "#", "fine")),
        ("  ", ()),
        ("''", ("",)),
    ],
)
def test_words_are_split_at_white_space_and_quotes_hold_them_together(args: str, split: tuple[str, ...]) -> None:
    assert words(args) == split


def test_a_replacement_takes_its_place_as_it_is() -> None:
    body = "$1 !`x` $1 !`x`"
    outputs = (Replacement(start=3, end=7, text="$1 one"), Replacement(start=11, end=15, text="two"))
    assert substituted(body, _with("v"), outputs) == "v $1 one v two"


_PLACEHOLDERS = {
    "$ARGUMENTS": "{args}",
    "$1": "{one}",
    "$who": "{one}",
    "${SKILL_DIR}": "{dir}",
    "${SESSION_ID}": "{id}",
}
_LITERALS = st.text(st.characters(exclude_characters="$\\"), max_size=12)
_VALUES = st.lists(
    st.sampled_from(["$1", "$ARGUMENTS", "${SKILL_DIR}", "$who", "${SESSION_ID}", "x", "\\", "}"]), min_size=1
).map("".join)


@given(st.lists(st.tuples(_LITERALS, st.sampled_from(sorted(_PLACEHOLDERS)))), _LITERALS, _VALUES, _VALUES, _VALUES)
@pytest.mark.proves("runtime.activate.substitution")
def test_a_body_is_its_literals_and_the_values_between_them(
    pieces: list[tuple[str, str]], tail: str, args: str, directory: str, session_id: str
) -> None:
    values = Values(skill_dir=directory, session_id=session_id, args=args, declared={"who": None})
    texts = {"{args}": args, "{one}": args, "{dir}": directory, "{id}": session_id}
    # A letter, digit or underscore after `$ARGUMENTS` makes another variable of it, so a border stands between.
    body = "".join(f"{literal}{placeholder}|" for literal, placeholder in pieces) + tail
    expected = "".join(f"{literal}{texts[_PLACEHOLDERS[placeholder]]}|" for literal, placeholder in pieces) + tail
    assert substituted(body, values) == expected


@given(st.lists(st.sampled_from([*"aA1_{}\\$`! \n", "ARGUMENTS", "SKILL_DIR", "é", "HOME"])).map("".join))
@pytest.mark.proves("runtime.activate.substitution.rest")
def test_without_arguments_nothing_but_the_two_places_changes(body: str) -> None:
    values = Values(skill_dir="${SKILL_DIR}", session_id="${SESSION_ID}")
    assert substituted(body, values) == body
