"""Arguments in bodies: how they are split, which placeholders take them, and what stays as it is written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime.activation.substitution import MAX_INSERTED, Replacement, Substitutions, Values, substituted, words

WHERE = Values(skill_dir="/skills/a", session_id="s-1")


def _with(args: str | None, *declared: str, **defaults: str) -> Values:
    names = dict.fromkeys(declared) | defaults
    return Values(skill_dir="/skills/a", session_id="s-1", args=args, declared=names)


def _text(body: str, args: str | None, *declared: str, **defaults: str) -> str:
    return substituted(body, _with(args, *declared, **defaults)).text


@pytest.mark.proves("runtime.activate.substitution")
def test_a_value_is_never_expanded_again() -> None:
    args = "$1 ${SKILL_DIR} $ARGUMENTS"
    assert _text("<$0> <$1> <$first> [$ARGUMENTS]", args, "first") == (
        "<$1> <${SKILL_DIR}> <$1> [$1 ${SKILL_DIR} $ARGUMENTS]"
    )


@pytest.mark.proves("runtime.activate.arguments.zero")
def test_arguments_count_from_zero_and_from_one_if_the_session_asks_for_it() -> None:
    body = "[$0] [$1] [$ARGUMENTS[0]] [$ARGUMENTS[1]]"
    assert _text(body, "a b") == "[a] [b] [a] [b]"
    old = Values(skill_dir=".", session_id="s", args="a b", first_argument=1)
    assert substituted("[$0] [$1] [$2] [$ARGUMENTS[1]] $ARGUMENTS[0]", old).text == "[$0] [a] [b] [a] $ARGUMENTS[0]"


@pytest.mark.proves("runtime.activate.arguments.zero")
def test_a_placeholder_without_its_word_stays_whole() -> None:
    assert _text("$0 $2 $ARGUMENTS[2] $ARGUMENTS[12] $10 $00 $01", "a b") == (
        "a $2 $ARGUMENTS[2] $ARGUMENTS[12] $10 $00 $01"
    ), "$10 is the eleventh word and never the second one with a 0 behind it"
    ten_thousand = " ".join(f"w{number}" for number in range(10_000))
    assert _text("$10 $9999 $10000 $ARGUMENTS[9999]", ten_thousand) == "w10 w9999 $10000 w9999"
    assert _text("$ARGUMENTS[x] $ARGUMENTS[0 $ARGUMENTS[-1]", "a") == "a[x] a[0 a[-1]"
    assert _text(f"$ARGUMENTS[{'9' * 5000}] $0", "a") == f"$ARGUMENTS[{'9' * 5000}] a"


@pytest.mark.proves("runtime.activate.arguments.money")
@pytest.mark.parametrize(
    "text",
    [
        "$1,000 and $1,000,000 and $0,123",
        "$1.50 $0.10 $1.5M",
        "US$1 A$1 x$0 _$1 9$1 ESC\u00c9$1",
        "$B$2 $A$1:$C$1 ='[1]Returns Analysis'!$B$2",
        "$1M $1st $1_000 $0x $1\u00e9",
        "$$0 $$$1 $$ARGUMENTS",
        "$01 $00 $1000000 $1234567",
    ],
)
def test_amounts_cells_and_words_keep_their_dollar(text: str) -> None:
    assert _text(f"$0\n{text}", "a b c") == f"a\n{text}"


@pytest.mark.proves("runtime.activate.arguments.money")
def test_a_placeholder_before_a_comma_a_full_stop_or_another_script_is_one() -> None:
    assert _text('$0, $1. $0,$1 $1.md ($0) "$1" `$0`/$1 $0-$1 $1,00', "a b") == (
        'a, b. a,b b.md (a) "b" `a`/b a-b b,00'
    )
    assert _text("\u8ab2\u984c$0\u3092$1\u3067", "a b") == "\u8ab2\u984ca\u3092b\u3067"


@pytest.mark.proves("runtime.activate.arguments.money", "runtime.activate.substitution.rest")
def test_one_backslash_gives_the_bare_placeholder_and_before_another_dollar_it_stays() -> None:
    assert _text(r"\$1 \$1.00 \$12 \$ARGUMENTS \$ARGUMENTS[0] \$who \${who} $0", "a b", "who") == (
        "$1 $1.00 $12 $ARGUMENTS $ARGUMENTS[0] $who ${who} a"
    )
    assert _text(r"\$HOME \$(date) \${SKILL_DIR} \$ \$$ $0", "a") == r"\$HOME \$(date) \${SKILL_DIR} \$ \$$ a"
    assert _text(r"\\$0 \\\$0 \\${SKILL_DIR}", "a") == r"\\a \\\a \\/skills/a", "as Claude Code: only a single one"


@pytest.mark.proves("runtime.activate.substitution.rest")
@pytest.mark.parametrize(
    "text",
    [
        "echo $USER ${HOME} $(date) $? $# $@ $$",
        r"costs \$HOME and \${SKILL_DIR}",
        "${1} ${ARGUMENTS} $ARGUMENTS_LIST $arguments $SKILL_DIR $SESSION_ID ${skill_dir} ${CLAUDE_PROJECT_DIR}",
        "$4 ${unknown} $unknown {1} %1",
        "$firstly ${first",
    ],
)
def test_shell_variables_and_unknown_placeholders_stay(text: str) -> None:
    assert _text(f"$0 {text}", "a b c", "first") == f"a {text}"


@pytest.mark.proves("runtime.activate.substitution.rest")
def test_the_brace_after_a_placeholder_is_text() -> None:
    assert _text("{$ARGUMENTS} ${$0}", "x") == "{x} ${x}"


def test_arguments_are_replaced_only_where_there_are_some() -> None:
    assert substituted("$ARGUMENTS $1 in ${SKILL_DIR} of ${SESSION_ID}", WHERE).text == (
        "$ARGUMENTS $1 in /skills/a of s-1"
    )
    assert _text("[$ARGUMENTS] [$1]", "") == "[] [$1]"


def test_the_spellings_of_claude_code_for_directory_and_session_are_known() -> None:
    assert substituted("${CLAUDE_SKILL_DIR}/x of ${CLAUDE_SESSION_ID}", WHERE).text == "/skills/a/x of s-1"


def test_a_declared_name_is_the_word_at_its_position() -> None:
    declared = ("issue", "branch", "missing", "issue-kind")
    assert _text("$issue/${branch} $missing $issue2", "42 main", *declared) == "42/main $missing $issue2"
    assert _text("$issue ${branch}", "", "issue", branch="main $issue") == "$issue main $issue"
    assert _text("$issue ${branch}", None, "issue", branch="main") == "$issue ${branch}"


@pytest.mark.proves("runtime.activate.arguments.appended")
def test_arguments_that_no_placeholder_takes_follow_the_body() -> None:
    assert _text("Do it.\n", "a 'b c' $0") == "Do it.\n\nARGUMENTS: a 'b c' $0\n"
    for body in ("Costs $1,000.", "See ${SKILL_DIR}.", r"Pay \$1.", "Only $3.", "Only $ARGUMENTS[3].", ""):
        assert _text(body, "a b").endswith("\n\nARGUMENTS: a b\n")
    assert _text("$branch", "a", "first", branch="main") == "main\n\nARGUMENTS: a\n", "a default is no argument"
    for body in ("$0", "$ARGUMENTS", "$ARGUMENTS[0]", "$first"):
        assert "ARGUMENTS:" not in _text(body, "a", "first")
    for args in (None, "", "  \n"):
        assert _text("Do it.\n", args) == "Do it.\n"
    assert _text("```\n$ARGUMENTS\n```\n", "a\nb") == "```\na\nb\n```\n", "in code as well, as Claude Code does"


def test_the_result_states_what_was_replaced() -> None:
    done = substituted("$0 $0 $who ${SKILL_DIR} $5 $5 \\$1", _with("a", "who"))
    assert done.substitutions == Substitutions(
        replaced={"$0": 2, "$who": 1, "${SKILL_DIR}": 1}, unfilled=("$5",), appended=False
    )
    assert substituted("x", _with("a")).substitutions.as_dict() == {"replaced": {}, "unfilled": [], "appended": True}
    assert substituted("$0 $5", WHERE).substitutions == Substitutions(), "without arguments they are no placeholders"


@pytest.mark.proves("runtime.activate.arguments.quotes")
@pytest.mark.parametrize(
    ("args", "split"),
    [
        ('a "b c" d', ("a", "b c", "d")),
        (r"C:\temp\x 'it is'", (r"C:\temp\x", "it is")),
        (r'"C:\temp\" x', ("C:\\temp\\", "x")),
        ("it's # fine", ("it's", "#", "fine")),
        ("don't \"stop now\" y'all", ("don't", "stop now", "y'all")),
        ("'don't stop' now", ("don't stop", "now")),
        ("'tis the dog's bone", ("'tis", "the", "dog's", "bone")),
        ('5" screen', ('5"', "screen")),
        ('--title="a b"', ('--title="a', 'b"')),
        ('"red shoes", "blue hat"', ("red shoes,", "blue hat")),
        ('"my dir"/x.txt', ("my dir/x.txt",)),
        ("\"say 'hi'\" 'a \"b\"'", ("say 'hi'", 'a "b"')),
        ("""'it'"'"'s' 'a'b'""", ("it's", "a'b")),
        ("\"open 'too", ('"open', "'too")),
        ('x "open it', ("x", '"open', "it")),
        ("a\u3000b\nc\td", ("a", "b", "c", "d")),
        ("  ", ()),
        ("''", ("",)),
        ("'", ("'",)),
        ("`a b` $(c d) && e", ("`a", "b`", "$(c", "d)", "&&", "e")),
    ],
)
def test_words_are_split_at_white_space_and_quotes_hold_them_together(args: str, split: tuple[str, ...]) -> None:
    assert words(args) == split


@pytest.mark.proves("runtime.activate.arguments.quotes")
@given(st.text(st.sampled_from("a \n'\"\\$,")))
def test_no_arguments_are_refused_and_none_is_lost(args: str) -> None:
    kept = "".join(words(args))
    assert set(kept) <= set(args)
    assert [char for char in kept if char not in " \n'\""] == [char for char in args if char not in " \n'\""]


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_many_quotes_take_time_in_proportion() -> None:
    began = time.perf_counter()
    for args in ("'a " * 50_000, '"' * 50_001, "'" * 50_001, "''a " * 50_000):
        words(args)
    assert time.perf_counter() - began < 10


def test_a_replacement_takes_its_place_as_it_is() -> None:
    body = "$0 !`x` $0 !`x $1`"
    outputs = (Replacement(start=3, end=7, text="$1 one"), Replacement(start=11, end=18, text="two"))
    done = substituted(body, _with("v w"), outputs)
    assert done.text == "v $1 one v two"
    assert dict(done.substitutions.replaced) == {"$0": 2, "$1": 1}, "what a command takes counts"


_PLACEHOLDERS = {
    "$ARGUMENTS": "{args}",
    "$0": "{one}",
    "$ARGUMENTS[0]": "{one}",
    "$who": "{one}",
    "${SKILL_DIR}": "{dir}",
    "${SESSION_ID}": "{id}",
}
_LITERALS = st.text(st.characters(exclude_characters="$\\"), max_size=12).map(lambda text: f"{text}:")
_VALUES = st.lists(
    st.sampled_from(["$0", "$ARGUMENTS", "${SKILL_DIR}", "$who", "${SESSION_ID}", "x", "\\", "}"]), min_size=1
).map("".join)


@given(st.lists(st.tuples(_LITERALS, st.sampled_from(sorted(_PLACEHOLDERS)))), _LITERALS, _VALUES, _VALUES, _VALUES)
@pytest.mark.proves("runtime.activate.substitution")
def test_a_body_is_its_literals_and_the_values_between_them(
    pieces: list[tuple[str, str]], tail: str, args: str, directory: str, session_id: str
) -> None:
    values = Values(skill_dir=directory, session_id=session_id, args=args, declared={"who": None})
    texts = {"{args}": args, "{one}": args, "{dir}": directory, "{id}": session_id}
    # A letter beside a placeholder makes another variable of it, so a border stands on each side.
    body = "$0:" + "".join(f"{literal}{placeholder}|" for literal, placeholder in pieces) + tail
    expected = "".join(f"{literal}{texts[_PLACEHOLDERS[placeholder]]}|" for literal, placeholder in pieces) + tail
    assert substituted(body, values).text == f"{args}:{expected}"


@given(st.lists(st.sampled_from([*"aA1_{}\\$`! \n", "ARGUMENTS", "SKILL_DIR", "é", "HOME"])).map("".join))
@pytest.mark.proves("runtime.activate.substitution.rest")
def test_without_arguments_nothing_but_the_two_places_changes(body: str) -> None:
    values = Values(skill_dir="${SKILL_DIR}", session_id="${SESSION_ID}")
    assert substituted(body, values).text == body


def test_arguments_cannot_make_a_body_grow_without_limit() -> None:
    found = substituted("$ARGUMENTS\n" * 20_000 + "$0 ${SKILL_DIR}", _with("x" * 10_000))
    assert found.text.count("x" * 10_000) == 100
    assert len(found.text) < MAX_INSERTED + 20_000 * len("$ARGUMENTS\n") + 100
    assert found.substitutions.replaced == {"$ARGUMENTS": 100}
    assert found.substitutions.unfilled == ("$ARGUMENTS", "$0", "${SKILL_DIR}")
