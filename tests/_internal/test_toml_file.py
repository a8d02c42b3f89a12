"""Positions in TOML: every key that tomllib reads is found on its line, whatever strings hold."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.files.toml_file import TomlFile, TomlLines

_TEXT = '''\
# a comment with [[rule]]
top = 1
dotted.key = "x # no comment"   # [[rule]]

[audit]
required = true

[[rule]]
reason = """
[[rule]]
effect = 'no'
"""
list = [ # opens
  "a]",
  'b[',
]
[rule.match]
command = "x"
  [[rule]]
"quoted key" = { a = 1, b = ["]", "}"] }
last = \'\'\'
x = 1
\'\'\'
end = 2
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("dotted", "key"), 3),
        (("audit",), 5),
        (("audit", "required"), 6),
        (("rule", 0), 8),
        (("rule", 0, "reason"), 9),
        (("rule", 0, "list"), 13),
        (("rule", 0, "match"), 17),
        (("rule", 0, "match", "command"), 18),
        (("rule", 1), 19),
        (("rule", 1, "quoted key"), 20),
        (("rule", 1, "quoted key", "b"), 20),
        (("rule", 1, "end"), 24),
        (("rule", 2), 8),
        (("nothing",), 1),
        ((), 1),
    ],
    ids=str,
)
def test_a_key_stands_on_its_line(path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(_TEXT)
    assert TomlLines(_TEXT).of(*path) == line


_VALUES = st.sampled_from(
    [
        "1",
        '"a"',
        "'b'",
        '"""x\n"y"\n"""',
        "'''\n[z]\n'''",
        "[1,\n 2] # ]",
        '{ a = "}" }',
        "true",
        '"\\""',
        '""',
        "1979-05-27",
    ]
)


@given(st.lists(st.tuples(_VALUES, st.sampled_from(["\n", "\n\n", " # c\n", "\n[[t]]\n"])), max_size=8))
def test_each_of_many_keys_is_found(pieces: list[tuple[str, str]]) -> None:
    text, expected, table = "", {}, -1
    for number, (value, end) in enumerate(pieces):
        path = (f"k{number}",) if table < 0 else ("t", table, f"k{number}")
        expected[path] = text.count("\n") + 1
        text += f"k{number} = {value}{end}"
        table += end.endswith("]]\n")
    tomllib.loads(text)
    lines = TomlLines(text)
    assert {path: lines.of(*path) for path in expected} == expected


@given(st.text("[]\"'=\n.#{}a \\,", max_size=40))
def test_what_is_no_toml_does_not_hang(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert TomlLines(text).of("a") >= 1


@pytest.mark.parametrize("text", ["%s = 1", "[%s]", "[[%s]]", "x = { %s = 1 }", "s = 'a' # b\n%s = 1"])
def test_a_key_of_very_many_parts_is_refused_before_it_is_read(text: str) -> None:
    assert TomlFile("p", (text % ".".join("a" * 32)).encode()).content
    for name in (".".join("a" * 33), " . ".join(["'a'"] * 33)):
        with pytest.raises(ValueError, match=r"^p: a key has more than 32 parts \(at line \d\)"):
            TomlFile("p", (text % name).encode())


def test_dots_in_strings_comments_and_numbers_are_no_parts_of_keys() -> None:
    dots = "." * 100
    text = f"a = \"{dots}\" # {dots}\nb = '''\n{dots}\n'''\nc = [{'1.5, ' * 100}]\n'{dots}' = \"\"\"{dots}\"\"\"\n"
    assert len(TomlFile("p", text.encode()).content) == 4


def test_after_20_faults_one_sentence_says_that_there_are_more() -> None:
    file = TomlFile("p", b"a = 1\n" * 1)
    for _ in range(1000):
        file.fault("is wrong", "a")
    assert len(file.faults) == 21
    assert file.faults[-1] == "p: there are more faults"
